// Needs: decoded
//
// The 16 numbers of which 4 bits of a block of IQ4_NL or IQ4_XS select one: -127, -104, -83, -65, -49, -35, -22, -10, 1, 13,
// 25, 38, 53, 69, 89 and 113. A polynomial gives each of them to within 0.449; the rounding of a device adds less than 0.001.

// Four numbers: those that the low 4 bits of each byte of a word select.
fn numbers(word: u32) -> vec4<f32> {
    let x = vec4<f32>(bytes_of(word & 0x0f0f0f0fu)) - 7.5;
    return round(-4.301 + x * (11.52 + x * (-0.1372 + x * (0.07867 + x * 0.001586))));
}
