// Needs: common; element_dims
//
// Finds the row of an index row, with dims and params rows of at most 2^31.

// The row that an index row of any depth and type selects: each value is extended to two words.
fn row_of_values(index_row: u32) -> u32 {
    let dims = gather.dims;
    var row = 0u;
    var in_range = true;
    for (var k = 0u; k < gather.general.index_depth; k++) {
        let value = index_value(gather.indices_start + (index_row * gather.general.index_depth + k) * index_words());
        let dim = pair(k, dims).x;
        let entry = entry_of(value.x, value.y, dim);
        in_range = in_range && entry < dim;
        row = row * dim + entry;
    }
    return select(NO_ROW, row, in_range);
}

// The row that an index row selects.
fn selected_row(index_row: u32) -> u32 {
    if DEPTH == 0u {
        return row_of_values(index_row);
    }
    if INDEX_WORDS == 0u {
        return row_of(vec4<u32>(index_word(gather.indices_start + index_row)), vec4<u32>(0u));
    }
    let at = gather.indices_start + index_row * (DEPTH * INDEX_WORDS);
    var words = vec4<u32>(indices[at]);
    var others = vec4<u32>(0u);
    if DEPTH * INDEX_WORDS >= 2u {
        words.y = indices[at + 1u];
    }
    if DEPTH * INDEX_WORDS >= 3u {
        words.z = indices[at + 2u];
    }
    if DEPTH * INDEX_WORDS >= 4u {
        words.w = indices[at + 3u];
    }
    if DEPTH * INDEX_WORDS >= 6u {
        others = vec4<u32>(indices[at + 4u], indices[at + 5u], 0u, 0u);
    }
    if DEPTH * INDEX_WORDS == 8u {
        others.z = indices[at + 6u];
        others.w = indices[at + 7u];
    }
    return row_of(words, others);
}

fn source_row_of(whole_row: OutputRow) -> SourceRow {
    var output_row = whole_row;
    var offset = 0u;
    if ELEMENTS == 1u {
        let element = element_row(output_row.n);
        offset = element.offset;
        output_row = with_element(output_row, element);
    }
    let index_row = index_row_of(output_row);
    var row = selected_row(index_row);
    if ELEMENTS == 1u {
        row = row_at(row, offset);
    }
    // A bad row is not held: NO_ROW less first_row is above all rows.
    let held_row = row - gather.first_row.x;
    let held = held_row < gather.held_rows.x;
    let params_row = output_row.block * gather.held_rows.x - gather.window_first_row.x + select(0u, held_row, held);
    let written = params_row < gather.window_rows;
    return SourceRow(index_row, output_row.outer == 0u, written, row < NO_ROW, held, params_row, held_row);
}
