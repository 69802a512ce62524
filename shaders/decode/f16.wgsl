// Needs: decoded
//
// IEEE half floats.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let low = word_at(row + group * 8u);
    let high = word_at(row + group * 8u + 4u);
    let first = vec2<u32>(half_bits(low & 0xffffu), half_bits(low >> 16u));
    return vec4<u32>(first, half_bits(high & 0xffffu), half_bits(high >> 16u));
}
