// Needs: target_units; last_rows
//
// Assigns only if the index row is the last to select its row.

fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return last_of_row(source, n, batch);
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return updates[at];
}
