// Needs: common
//
// The winners that winners.wgsl found: for each row in each batch, the number of the last index row that selects it, plus 1.

@group(0) @binding(15) var<storage, read> winners_found: array<u32>;

// The source row for output row n in a batch, held only if the dispatch writes it and its index row is the last to select it.
fn last_of_row(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    var found = source;
    let is_here = source.held & source.written;
    let batch_row = batch * gather.held_rows.x + source.held_row;
    let at = select(0u, gather.general.winners_start + batch_row, is_here);
    found.held = is_here & (winners_found[at] == n + 1u);
    return found;
}
