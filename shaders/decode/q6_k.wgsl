// Needs: decoded
//
// Blocks of 210 bytes with 256 values, in two 128-value halves: the low 4 bits for all values, their high 2 bits, a
// signed scale for each 16 values, and a scale for these. A byte holds the low bits for two values that are 64 apart,
// or the high bits for four values that are 32 apart.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 64u * 210u;
    let side = group / 32u % 2u;
    let part = group / 8u % 4u;
    let low = (word_after(block, side * 16u + part % 2u * 8u + group % 8u) >> ((part & 2u) * 2u)) & 0x0f0f0f0fu;
    let high = (word_after(block, 32u + side * 8u + group % 8u) >> (part * 2u)) & 0x03030303u;
    let scale = signed_bytes(byte_at(block + 192u + side * 8u + part * 2u + group / 4u % 2u)).x;
    return scaled(vec4<f32>(bytes_of(low | (high << 4u))) - 32.0, half_of(word_after(block, 52u)) * f32(scale));
}
