// Needs: common
//
// The winners that winners.wgsl found: for each row of each batch the number of the last index row that selects it, plus 1.

@group(0) @binding(15) var<storage, read> winners_found: array<u32>;

// The source row, which is held only if its index row is the last that selects it, and if the dispatch writes it.
fn last_of_row(source: SourceRow) -> SourceRow {
    var found = source;
    let is_here = source.held & source.written;
    let at = select(0u, gather.general.winners_start + source.batch_row, is_here);
    found.held = is_here & (winners_found[at] == source.n + 1u);
    return found;
}
