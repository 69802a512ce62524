// Needs: target_units; reductions
//
// Reduces rows that no two index rows select: a lane reduces a target unit with a unit of updates and stores the result.

fn chosen(source: SourceRow, n: u32, batch: u32) -> SourceRow {
    return source;
}

fn load(at: u32, unit: u32, source: SourceRow) -> Unit {
    return reduced(target_units[target_place(unit, source)], updates[at]);
}
