// Needs: decoded
//
// A byte for each value; at the end of the row its scale and its bias, an f32 each.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let end = row + gather.last_dim;
    let scale = word_at(end);
    let bias = bitcast<f32>(word_at(end + 4u));
    // q * scale is rounded before the bias is added, also by compilers that fuse products and sums. A word holds the
    // product of q and the 24 bits of the scale. The high and the low part of that word become f32s exactly, and their
    // sum rounds once. The product of this sum and `unit`, a power of two, is exact. A scale that is below 2^-103, an
    // infinity or a NaN is multiplied by q as it is.
    let exponent = (scale >> 23u) & 0xffu;
    let is_whole = (exponent < 24u) | (exponent == 0xffu);
    let bits = select((scale & 0x7fffffu) | 0x800000u, 1u, is_whole);
    let unit = select((scale & 0xff800000u) - (23u << 23u), scale, is_whole);
    let products = bytes_of(word_at(row + group * 4u)) * bits;
    let rounded = vec4<f32>(products >> vec4<u32>(8u)) * 256.0 + vec4<f32>(products & vec4<u32>(0xffu));
    return bitcast<vec4<u32>>(rounded * bitcast<f32>(unit) + bias);
}
