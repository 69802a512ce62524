// Needs: common
//
// Units of 4 bytes, as signed integers, because atomics compare by type. A scatter has no fill.
alias Unit = i32;

fn absent_unit(unit: u32) -> Unit {
    return Unit();
}
