// Needs: decode; to_f16 or to_bf16
//
// A unit is 8 output bytes: a group of four decoded values, as halves.
alias Unit = vec2<u32>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0].xy;
}

// A unit in the row that starts at `row`; unit 0 in the first row if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    let bits = decoded(select(0u, row, held), select(0u, unit, held));
    return vec2<u32>((rounded(bits.x) >> 16u) | rounded(bits.y), (rounded(bits.z) >> 16u) | rounded(bits.w));
}
