// Needs: common
//
// Finds the row of an index row of depth 1 or 2, read word by word. Dims and params rows are at most 2^31.

fn source_row_of(output_row: OutputRow) -> SourceRow {
    let index_row = index_row_of(output_row);
    let at = gather.indices_start + index_row * (DEPTH * INDEX_WORDS);
    var words = vec4<u32>(indices[at]);
    if DEPTH * INDEX_WORDS >= 2u {
        words.y = indices[at + 1u];
    }
    if DEPTH * INDEX_WORDS == 4u {
        words.z = indices[at + 2u];
        words.w = indices[at + 3u];
    }
    let row = row_of(words);
    // A bad row is not held: NO_ROW less first_row is above all rows.
    let held_row = row - gather.first_row.x;
    let held = held_row < gather.held_rows.x;
    let params_row = output_row.block * gather.held_rows.x - gather.window_first_row.x + select(0u, held_row, held);
    let written = params_row < gather.window_rows;
    return SourceRow(index_row, output_row.outer == 0u, written, row < NO_ROW, held, params_row);
}
