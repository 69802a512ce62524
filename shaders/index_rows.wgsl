// Needs: common
//
// Finds the row of an index row of depth 1 or 2, read word by word. Dims and params rows are at most 2^31.

fn source_row_of(place: Place) -> SourceRow {
    let index_row = index_row_of(place);
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
    // For BAD too, held_row is not below held_rows.
    let held_row = row - gather.first_row.x;
    let held = held_row < gather.held_rows.x;
    let params_row = place.block * gather.held_rows.x - gather.window_first_row.x + select(0u, held_row, held);
    return SourceRow(index_row, place.outer == 0u, params_row < gather.window_rows, row < BAD, held, params_row);
}
