// Needs: common
//
// Units of 16 bytes, in each of which the fill repeats itself.
alias Unit = vec4<u32>;
alias Floats = vec4<f32>;

@group(0) @binding(1) var<storage, read> params: array<Unit>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0];
}

// A unit of the row that starts at unit `row`; unit 0 of params if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    return params[select(0u, row + unit, held)];
}

fn least_word(unit: Unit) -> u32 {
    return min(min(unit.x, unit.y), min(unit.z, unit.w));
}

fn greatest_word(unit: Unit) -> u32 {
    return max(max(unit.x, unit.y), max(unit.z, unit.w));
}
