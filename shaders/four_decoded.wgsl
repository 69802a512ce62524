// Needs: decode
//
// Units of 16 bytes of the output: a group of four decoded values.
alias Unit = vec4<u32>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0];
}

// A unit of the row that starts at `row`; unit 0 of the first row if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    return decoded(select(0u, row, held), select(0u, unit, held));
}
