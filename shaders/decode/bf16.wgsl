// Needs: decoded
//
// The high halves of f32s.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let low = word_at(row + group * 8u);
    let high = word_at(row + group * 8u + 4u);
    return vec4<u32>(low << 16u, low & 0xffff0000u, high << 16u, high & 0xffff0000u);
}
