// Needs: updates
//
// The units of a scatter's target, each of which one lane stores.

@group(0) @binding(12) var<storage, read_write> target_units: array<Unit>;

fn store(at: u32, unit: u32, source: SourceRow, value: Unit, absent: Unit, repeats: bool) {
    if source.held && !repeats {
        target_units[target_place(unit, source)] = value;
    }
}
