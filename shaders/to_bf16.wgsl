// Needs: nothing
//
// The nearest f32 whose low half is 0, both as bits: its high half is the bf16. A NaN becomes 0x7fc0.

fn rounded(bits: u32) -> u32 {
    let half = (bits + 0x7fffu + ((bits >> 16u) & 1u)) & 0xffff0000u;
    return select(half, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u);
}
