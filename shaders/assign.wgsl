// Needs: target_units
//
// Assigns, of rows that no two index rows select, or that one update serves.

fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return source;
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return updates[at];
}
