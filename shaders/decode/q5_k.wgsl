// Needs: decode/k_scales
//
// Blocks of 176 bytes with 256 values, in 8 parts: 16 bytes of scales; 32 bytes, of which bit P is the fifth bit of the
// values of part P; then 32 bytes for each two parts, whose low halves are the first one's values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 64u * 176u;
    let part = group / 8u % 8u;
    let at = group % 8u * 4u;
    let low = (word_at(block + 48u + part / 2u * 32u + at) >> (part % 2u * 4u)) & 0x0f0f0f0fu;
    let high = (word_at(block + 16u + at) >> part) & 0x01010101u;
    let scale = scale_and_least(block, part);
    return bitcast<vec4<u32>>(vec4<f32>(bytes_of(low | (high << 4u))) * scale.x - scale.y);
}
