// Needs: decoded
//
// Blocks of 84 bytes with 256 values, in 16 parts: a byte with a scale and a minimum for each part; 64 bytes, each with
// four values that are 32 apart; then a scale for the scales and one for the minima.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 64u * 21u;
    let at = group / 32u % 2u * 8u + group % 8u;
    let values = (word_after(row, block + 4u + at) >> (group / 8u % 4u * 2u)) & 0x03030303u;
    let of_part = byte_at(row + block * 4u + group / 4u % 16u);
    let scales = word_after(row, block + 20u);
    let scale = half_of(scales) * f32(of_part & 15u);
    return bitcast<vec4<u32>>(vec4<f32>(bytes_of(values)) * scale - half_of(scales >> 16u) * f32(of_part >> 4u));
}
