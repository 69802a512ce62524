// Needs: decoded
//
// The high bytes of IEEE half floats.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let halves = bytes_of(word_at(row + group * 4u)) << vec4<u32>(8u);
    return vec4<u32>(half_bits(halves.x), half_bits(halves.y), half_bits(halves.z), half_bits(halves.w));
}
