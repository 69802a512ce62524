// Needs: decode/k_scales
//
// Blocks of 176 bytes with 256 values, in 8 parts: 16 bytes with scales; 32 bytes, whose bits P are the fifth bits for
// part P; then 32 bytes for each two parts, whose low halves are the first part's values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 64u * 44u;
    let part = group / 8u % 8u;
    let low = (word_after(row, block + 12u + part / 2u * 8u + group % 8u) >> (part % 2u * 4u)) & 0x0f0f0f0fu;
    let high = (word_after(row, block + 4u + group % 8u) >> part) & 0x01010101u;
    let scale = scale_and_least(row, block, part);
    return bitcast<vec4<u32>>(vec4<f32>(bytes_of(low | (high << 4u))) * scale.x - scale.y);
}
