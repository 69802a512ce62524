// Needs: decode/k_scales
//
// Blocks of 144 bytes with 256 values, in 8 parts: 16 bytes with scales, then 32 bytes for each two parts, whose low
// halves are the first part's values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 64u * 36u;
    let part = group / 8u % 8u;
    let values = (word_after(row, block + 4u + part / 2u * 8u + group % 8u) >> (part % 2u * 4u)) & 0x0f0f0f0fu;
    let scale = scale_and_least(row, block, part);
    return bitcast<vec4<u32>>(vec4<f32>(bytes_of(values)) * scale.x - scale.y);
}
