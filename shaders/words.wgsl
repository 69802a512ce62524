// Needs: common
//
// Units of 4 bytes.
alias Unit = u32;
alias Floats = f32;

@group(0) @binding(1) var<storage, read> params: array<Unit>;

fn absent_unit(unit: u32) -> Unit {
    return fill_word(unit);
}

// A unit from the row that starts at unit `row`; params' unit 0 if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    return params[select(0u, row + unit, held)];
}
