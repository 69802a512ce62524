// Needs: decoded
//
// In IQ4_NL and IQ4_XS, 4 bits select one of 16 numbers: -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53,
// 69, 89 and 113. A polynomial comes within 0.449 of each; a device's rounding adds less than 0.001.

// The four numbers that a word's bytes select by their low 4 bits.
fn numbers(word: u32) -> vec4<f32> {
    let x = vec4<f32>(bytes_of(word & 0x0f0f0f0fu)) - 7.5;
    return round(-4.301 + x * (11.52 + x * (-0.1372 + x * (0.07867 + x * 0.001586))));
}
