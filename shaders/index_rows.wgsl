// Needs: common; element_dims
//
// Finds the row of an index row of depth 1 or 2. Dims and params rows are at most 2^31.

// The words of an index row, each value in one or two; words that hold several values are taken apart.
fn words_of(index_row: u32) -> vec4<u32> {
    if INDEX_WORDS == 0u {
        let at = gather.indices_start + index_row * DEPTH;
        var values = vec4<u32>(index_word(at));
        if DEPTH == 2u {
            values.y = index_word(at + 1u);
        }
        return values;
    }
    let at = gather.indices_start + index_row * (DEPTH * INDEX_WORDS);
    var words = vec4<u32>(indices[at]);
    if DEPTH * INDEX_WORDS >= 2u {
        words.y = indices[at + 1u];
    }
    if DEPTH * INDEX_WORDS == 4u {
        words.z = indices[at + 2u];
        words.w = indices[at + 3u];
    }
    return words;
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
    var row = row_of(words_of(index_row));
    if ELEMENTS == 1u {
        row = row_at(row, offset);
    }
    // A bad row is not held: NO_ROW less first_row is above all rows.
    let held_row = row - gather.first_row.x;
    let held = held_row < gather.held_rows.x;
    let params_row = output_row.block * gather.held_rows.x - gather.window_first_row.x + select(0u, held_row, held);
    let written = params_row < gather.window_rows;
    return SourceRow(index_row, output_row.outer == 0u, written, row < NO_ROW, held, params_row);
}
