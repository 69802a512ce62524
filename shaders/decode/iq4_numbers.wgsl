// Needs: decoded
//
// The 16 numbers, -127 to 113, of which 4 bits of a block of IQ4_NL or IQ4_XS select one.

// Number `at` of the 16, with 128 added, so that it is a byte without a sign.
fn number(at: u32) -> u32 {
    let first = select(0x3f2d1801u, 0x766a5d4fu, (at & 4u) != 0u);
    let second = select(0xa6998d81u, 0xf1d9c5b5u, (at & 4u) != 0u);
    return (select(first, second, at >= 8u) >> (at % 4u * 8u)) & 0xffu;
}

// Four numbers: those that the low 4 bits of each byte of a word select.
fn numbers(word: u32) -> vec4<f32> {
    let at = bytes_of(word & 0x0f0f0f0fu);
    return vec4<f32>(vec4<u32>(number(at.x), number(at.y), number(at.z), number(at.w))) - 128.0;
}
