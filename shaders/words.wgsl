// Needs: common
//
// Units of 4 bytes.
alias Unit = u32;

fn absent_unit(unit: u32) -> Unit {
    return fill_word(unit);
}
