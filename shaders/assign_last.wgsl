// Needs: target_units; last_rows
//
// Assigns, of the last index row that selects a row.

fn chosen(source: SourceRow) -> SourceRow {
    return last_of_row(source);
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return updates[at];
}
