// Needs: decoded
//
// Half a byte for each value, the first in a byte's low half; the row ends with its scale and its bias, a half float
// each.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let values = (vec4<u32>(word_at(row + group * 2u)) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(0xfu);
    let scales = word_at(row + gather.last_dim / 2u);
    return bitcast<vec4<u32>>(vec4<f32>(values) * half_of(scales) + half_of(scales >> 16u));
}
