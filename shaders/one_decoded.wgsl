// Needs: decode
//
// Units of 4 bytes of the output: a decoded value, of a group of four.
alias Unit = u32;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0].x;
}

// A unit of the row that starts at byte `row`; unit 0 of byte 0 if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    let group = decoded(select(0u, row, held), select(0u, unit / 4u, held));
    let pair = select(group.xy, group.zw, (unit & 2u) != 0u);
    return select(pair.x, pair.y, (unit & 1u) != 0u);
}
