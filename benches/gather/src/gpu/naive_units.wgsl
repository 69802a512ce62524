
// A slice of whole units.
fn lane(i: u32) -> Lane {
    let row = params_row(row_of(i));
    if !row.is_good {
        return Lane();
    }
    return params[row.at * sizes.units + place_of(i)];
}
