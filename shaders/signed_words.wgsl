// Needs: common
//
// Units of 4 bytes, as signed integers: atomics compare by their type. A scatter has no fill.
alias Unit = i32;

fn absent_unit(unit: u32) -> Unit {
    return Unit();
}
