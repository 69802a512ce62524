// Needs: common
//
// Units of 16 bytes, in each of which the fill repeats itself.
alias Unit = vec4<u32>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0];
}
