// Needs: common
//
// Units of 16 bytes. The fill repeats itself in each.
alias Unit = vec4<u32>;
alias Floats = vec4<f32>;

@group(0) @binding(1) var<storage, read> params: array<Unit>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0];
}

// A unit from the row that starts at unit `row`; params' unit 0 if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    return params[select(0u, row + unit, held)];
}
