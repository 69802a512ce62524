// Units of 16 bytes. A fill, if there is one, repeats itself in each of them.
alias Unit = vec4<u32>;

fn absent_unit(unit: u32) -> Unit {
    return gather.fill[0];
}
