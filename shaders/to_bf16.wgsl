// Needs: nothing
//
// The nearest high half of an f32, both as bits. A NaN becomes 0x7fc0.

fn rounded(bits: u32) -> u32 {
    let half = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
    return select(half, 0x7fc0u, (bits & 0x7fffffffu) > 0x7f800000u);
}
