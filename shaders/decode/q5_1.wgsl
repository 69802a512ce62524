// Needs: decoded
//
// Blocks of 24 bytes with 32 values: a scale, a minimum, 32 fifth bits, then 16 bytes, whose low halves are the first
// 16 values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 8u * 6u;
    let low = (word_after(row, block + 2u + group % 4u) >> (group & 4u)) & 0x0f0f0f0fu;
    // Four bits, moved to one byte each.
    let high = (((word_after(row, block + 1u) >> (group % 8u * 4u)) & 15u) * 0x00204081u) & 0x01010101u;
    let scales = word_after(row, block);
    return bitcast<vec4<u32>>(vec4<f32>(bytes_of(low | (high << 4u))) * half_of(scales) + half_of(scales >> 16u));
}
