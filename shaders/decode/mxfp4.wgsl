// Needs: decoded
//
// Blocks of 17 bytes with 32 values: an exponent, then 16 bytes, whose low halves are the first 16 values. A half is a
// sign, and three bits that select 0, 1, 2, 3, 4, 6, 8 or 12. A value is this number times 2^(exponent - 128), not -0.

// A value, put together as bits: a driver may flush a subnormal product.
fn value(half: u32, exponent: u32) -> u32 {
    let number = (0xc8643210u >> (half % 8u * 4u)) & 15u;
    let normal = min(bitcast<u32>(f32(number)) + ((exponent - 128u) << 23u), 0x7f800000u);
    let is_normal = number >= 4u >> min(exponent, 2u);
    let bits = select(number << ((21u + exponent) % 32u), normal, is_normal);
    return select(bits, bits | 0x80000000u, half > 8u);
}

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 8u * 17u;
    let halves = bytes_of((word_at(block + 1u + group % 4u * 4u) >> (group & 4u)) & 0x0f0f0f0fu);
    let exponent = byte_at(block);
    let first = vec2<u32>(value(halves.x, exponent), value(halves.y, exponent));
    return vec4<u32>(first, value(halves.z, exponent), value(halves.w, exponent));
}
