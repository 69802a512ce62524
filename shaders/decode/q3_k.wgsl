// Needs: decoded
//
// Blocks of 110 bytes with 256 values: 32 bytes, each with the third bits for eight values that are 32 apart; 64 bytes,
// each with the low bits for four values that are 32 apart; 16 scales, each for 16 values, their low 4 bits in 8 bytes
// and their high 2 bits in 4; then a scale for these.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 64u * 110u;
    let low = (word_after(block, 8u + group / 32u % 2u * 8u + group % 8u) >> (group / 8u % 4u * 2u)) & 0x03030303u;
    let high = (word_after(block, group % 8u) >> (group / 8u % 8u)) & 0x01010101u;
    let part = group / 4u % 16u;
    let scale_low = (byte_at(block + 96u + part % 8u) >> (part / 8u * 4u)) & 15u;
    let scale_high = (byte_at(block + 104u + part % 4u) >> (part / 4u * 2u)) & 3u;
    let scale = f32(scale_low | (scale_high << 4u)) - 32.0;
    return scaled(vec4<f32>(bytes_of(low | (high << 2u))) - 4.0, half_of(word_after(block, 27u)) * scale);
}
