// Needs: nothing
//
// The nearest half float of an f32, both as bits; the half in the high half of a word. A NaN becomes 0x7e00. No step overflows or
// rounds, but for round().

fn rounded(bits: u32) -> u32 {
    let magnitude = bits & 0x7fffffffu;
    // All from 2^16 on is an infinity.
    let finite = min(magnitude, 0x47800000u);
    // Subnormal halves have the exponent of the least normal one, 2^-14.
    let exponent = max(finite & 0x7f800000u, 0x38800000u);
    // Counted in steps between halves, up to 2^11 of them. round() takes ties to the even one.
    let steps = round(bitcast<f32>(finite) * bitcast<f32>(0x84000000u - exponent));
    // A sum with 2^23 holds a whole number in its low bits. The exponent's bias is 112 more than a half's, and 2^-14 counts as 0.
    let half = (bitcast<u32>(steps + 0x1p23f) << 16u) + (exponent << 3u) + 0x3c000000u;
    return select(half | (bits & 0x80000000u), 0x7e000000u, magnitude > 0x7f800000u);
}
