// Needs: decode
//
// A unit is 4 output bytes: one decoded value in a group of four.
alias Unit = u32;
alias Floats = f32;

// 1 if a slice may have several rows of the last dim, each with its own scales.
override HAS_ROWS: u32 = 0u;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0].x;
}

// A unit in the row that starts at `row`; unit 0 in the first row if the row is not held.
fn load_unit(row: u32, unit: u32, held: bool) -> Unit {
    var start = row;
    var at = unit;
    if HAS_ROWS == 1u {
        start += unit / gather.last_dim * gather.last_dim_stride;
        at = unit % gather.last_dim;
    }
    let group = decoded(select(0u, start, held), select(0u, at / 4u, held));
    let pair = select(group.xy, group.zw, (at & 2u) != 0u);
    return select(pair.x, pair.y, (at & 1u) != 0u);
}
