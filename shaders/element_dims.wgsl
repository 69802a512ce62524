// Needs: common
//
// In gather_elements, a block's output rows are laid out in element dims.

struct ElementRow {
    // element_offset(n) of the formula.
    offset: u32,
    index_row: u32,
    // Not 0 if an output row before n has this index row too.
    repeats: u32,
}

// Element dim k, by selects as in `pair`.
fn element_dim(k: u32) -> vec4<u32> {
    let dims = gather.general.element_dims;
    let of_01 = select(dims[0], dims[1], (k & 1u) != 0u);
    let of_23 = select(dims[2], dims[3], (k & 1u) != 0u);
    let of_45 = select(dims[4], dims[5], (k & 1u) != 0u);
    let of_67 = select(dims[6], dims[7], (k & 1u) != 0u);
    return select(select(of_01, of_23, (k & 2u) != 0u), select(of_45, of_67, (k & 2u) != 0u), (k & 4u) != 0u);
}

// Output row n in a block of gather_elements.
fn element_row(n: u32) -> ElementRow {
    var outer_rows = n;
    var found = ElementRow();
    for (var k = 0u; k < 8u; k++) {
        let dim = element_dim(k);
        if dim.x == 0u {
            break;
        }
        let next = outer_rows / dim.x;
        let coordinate = outer_rows - next * dim.x;
        found.offset += coordinate * dim.y;
        found.index_row += coordinate * dim.z;
        found.repeats |= coordinate * dim.w;
        outer_rows = next;
    }
    return found;
}

// The output row by whose number its index row is found.
fn with_element(output_row: OutputRow, element: ElementRow) -> OutputRow {
    var found = output_row;
    found.n = element.index_row;
    // An index row counts once, as for outer coordinates.
    found.outer |= element.repeats;
    return found;
}

// A block's row at an element offset, if the index selects `entry`; NO_ROW for none.
fn row_at(entry: u32, offset: u32) -> u32 {
    return select(NO_ROW, entry * gather.general.index_stride + offset, entry < NO_ROW);
}
