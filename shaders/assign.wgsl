// Needs: target_units
//
// Assigns, if no two index rows select one row, or all share one update.

fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return source;
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return updates[at];
}
