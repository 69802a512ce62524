// Needs: updates
//
// The units of a scatter's target, each of which one lane stores. A repeated unit is stored twice, as in a gather.

@group(0) @binding(12) var<storage, read_write> target_units: array<Unit>;

fn store(at: u32, unit: u32, source: SourceRow, value: Unit, absent: Unit, repeats: bool) {
    if source.held {
        target_units[target_place(unit, source)] = value;
    }
}
