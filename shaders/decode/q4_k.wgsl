// Needs: decoded
//
// Blocks of 144 bytes with 256 values, in 8 parts: a scale, a scale of minima, 12 bytes with a scale and a minimum of
// 6 bits for each part, then 32 bytes for each two parts, whose low halves are the first one's values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 64u * 144u;
    let scales = word_at(block);
    let part = group / 8u % 8u;
    let low = word_at(block + 4u + part % 4u);
    let high = word_at(block + 8u + part % 4u);
    let both = byte_at(block + 12u + part % 4u);
    let is_first = part < 4u;
    let scale = select((both & 15u) | ((low & 0xc0u) >> 2u), low & 63u, is_first);
    let least = select((both >> 4u) | ((high & 0xc0u) >> 2u), high & 63u, is_first);
    let values = (word_at(block + 16u + part / 2u * 32u + group % 8u * 4u) >> (part % 2u * 4u)) & 0x0f0f0f0fu;
    let products = vec4<f32>(bytes_of(values)) * (half_of(scales) * f32(scale));
    return bitcast<vec4<u32>>(products - half_of(scales >> 16u) * f32(least));
}
