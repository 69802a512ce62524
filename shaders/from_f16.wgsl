// Needs: to_f16
//
// The f32 of the half float in a word's low half, as bits. A NaN keeps its payload.

fn widened(bits: u32) -> u32 {
    let magnitude = bits & 0x7fffu;
    // A half's exponent bias is 112 less; an all-ones exponent stays all ones.
    let normal = (magnitude << 13u) + select(0x38000000u, 0x70000000u, magnitude >= 0x7c00u);
    // Subnormal halves are multiples of 2^-24, and normal as f32s.
    let subnormal = bitcast<u32>(f32(magnitude) * 0x1p-24f);
    return select(normal, subnormal, magnitude < 0x400u) | ((bits & 0x8000u) << 16u);
}
