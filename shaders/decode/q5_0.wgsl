// Needs: decoded
//
// Blocks of 22 bytes with 32 values: a scale, 32 fifth bits, then 16 bytes, whose low halves are the first 16 values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 8u * 22u;
    let low = (word_after(block + 2u, 1u + group % 4u) >> (group & 4u)) & 0x0f0f0f0fu;
    // Four bits, moved to one byte each.
    let high = (((word_at(block + 2u) >> (group % 8u * 4u)) & 15u) * 0x00204081u) & 0x01010101u;
    return scaled(vec4<f32>(bytes_of(low | (high << 4u))) - 16.0, half_of(word_at(block)));
}
