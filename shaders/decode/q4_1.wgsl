// Needs: decoded
//
// Blocks of 20 bytes with 32 values: a scale, a minimum, then 16 bytes, whose low halves are the first 16 values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 8u * 5u;
    let values = (word_after(row, block + 1u + group % 4u) >> (group & 4u)) & 0x0f0f0f0fu;
    let scales = word_after(row, block);
    return bitcast<vec4<u32>>(vec4<f32>(bytes_of(values)) * half_of(scales) + half_of(scales >> 16u));
}
