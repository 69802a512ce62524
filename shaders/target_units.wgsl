// Needs: updates
//
// The units of a scatter's target: one lane stores each. A repeated unit is stored twice, as in a gather.

@group(0) @binding(12) var<storage, read_write> target_units: array<Unit>;

fn store(at: u32, unit: u32, source: SourceRow, value: Unit, absent: Unit, repeats: bool) {
    if source.held {
        target_units[target_place(unit, source)] = value;
    }
}

// Stores a lane's four rows, without a branch for each. For a row that is not held, the lane stores a held row's unit once
// more, in that unit's own place.
fn store_four(at: vec4<u32>, repeats: vec3<bool>, unit: u32, a: SourceRow, b: SourceRow, c: SourceRow, d: SourceRow,
    of_a: Unit, of_b: Unit, of_c: Unit, of_d: Unit) {
    if !(a.held | b.held | c.held | d.held) {
        return;
    }
    var place = target_place(unit, d);
    var value = of_d;
    place = select(place, target_place(unit, c), c.held);
    value = select(value, of_c, c.held);
    place = select(place, target_place(unit, b), b.held);
    value = select(value, of_b, b.held);
    place = select(place, target_place(unit, a), a.held);
    value = select(value, of_a, a.held);
    target_units[place] = value;
    target_units[select(place, target_place(unit, b), b.held)] = select(value, of_b, b.held);
    target_units[select(place, target_place(unit, c), c.held)] = select(value, of_c, c.held);
    target_units[select(place, target_place(unit, d), d.held)] = select(value, of_d, d.held);
}
