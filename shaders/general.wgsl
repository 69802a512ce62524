// Needs: common; element_dims
//
// Finds the row that an index row selects: any depth, dims and rows up to 63 bits, and gather_elements.

// `beyond` if an index selects the entry at its remainder modulo the dim.
const REMAINDER: u32 = 1u;

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// Half words' products give the high word of two words' product.
fn multiply(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = (a.x & 0xffffu) * (b.x & 0xffffu);
    let middle_0 = (a.x & 0xffffu) * (b.x >> 16u);
    let middle_1 = (a.x >> 16u) * (b.x & 0xffffu);
    let carry = (low >> 16u) + (middle_0 & 0xffffu) + (middle_1 & 0xffffu);
    let high = (a.x >> 16u) * (b.x >> 16u) + (middle_0 >> 16u) + (middle_1 >> 16u) + (carry >> 16u);
    return vec2<u32>(a.x * b.x, high + a.x * b.y + a.y * b.x);
}

// a modulo b, bit by bit, from a's highest on. Compilers unroll loops with 32 turns.
fn remainder(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    var bits = a;
    var left = vec2<u32>(0u);
    for (var turn = 0u; turn < 64u; turn++) {
        left = add(left, left) + vec2<u32>(bits.y >> 31u, 0u);
        left = select(subtract(left, b), left, less(left, b));
        bits = add(bits, bits);
    }
    return left;
}

// The value, with the dim added if it is below zero and counts from the end.
fn from_front(value: vec2<u32>, dim: vec2<u32>) -> vec2<u32> {
    return add(value, select(vec2<u32>(0u), dim, (value.y & gather.from_end) != 0u));
}

fn source_row_of(whole_row: OutputRow) -> SourceRow {
    var output_row = whole_row;
    var offset = 0u;
    if gather.general.element_dims[0].x > 0u {
        let element = element_row(output_row.n);
        offset = element.offset;
        output_row = with_element(output_row, element);
    }
    let dims = gather.dims;
    var in_range = true;
    var row = vec2<u32>(0u);
    let index_row = index_row_of(output_row);
    for (var k = 0u; k < gather.general.index_depth; k++) {
        let dim = pair(k, dims);
        var at = index_value(gather.indices_start + (index_row * gather.general.index_depth + k) * index_words());
        if gather.beyond == REMAINDER {
            let is_negative = (at.y & gather.sign) != 0u;
            // The complement of a negative number is -1 less the number.
            let left = remainder(select(at, ~at, is_negative), dim);
            at = select(left, subtract(dim, add(left, vec2<u32>(1u, 0u))), is_negative);
        } else {
            at = from_front(at, dim);
        }
        let nearest = select(subtract(dim, vec2<u32>(1u, 0u)), vec2<u32>(0u), (at.y & gather.sign) != 0u);
        at = select(at, nearest, gather.beyond == NEAREST && !less(at, dim));
        in_range = in_range && less(at, dim);
        row = add(multiply(row, dim), at);
    }
    if gather.general.element_dims[0].x > 0u {
        row = vec2<u32>(row.x * gather.general.index_stride + offset, 0u);
    }
    let held_row = subtract(row, gather.first_row);
    let held = in_range && less(held_row, gather.held_rows);
    let block_row = subtract(multiply(vec2<u32>(output_row.block, 0u), gather.held_rows), gather.window_first_row);
    let params_row = add(block_row, select(vec2<u32>(0u), held_row, held));
    let written = params_row.y == 0u && params_row.x < gather.window_rows;
    return SourceRow(index_row, output_row.outer == 0u, written, in_range, held, params_row.x, held_row.x);
}
