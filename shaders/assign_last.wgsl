// Needs: target_units; last_rows
//
// Assigns an update only if its index row is the last to select the row.

fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return last_of_row(source, n, batch);
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return updates[at];
}
