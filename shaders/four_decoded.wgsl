// Needs: decode
//
// A unit is 16 output bytes: a group of four decoded values.
alias Unit = vec4<u32>;
alias Floats = vec4<f32>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0];
}

// A unit in the row that starts at `row`; unit 0 in the first row if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    return decoded(select(0u, row, held), select(0u, unit, held));
}
