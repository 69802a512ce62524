
// A value of Q4_K: blocks of two f16, eight pairs of 6 bits in 12 bytes, and 256 values of 4 bits.
fn lane(i: u32) -> Lane {
    let row = params_row(i / sizes.units);
    if !row.is_good {
        return 0.0;
    }
    let block = (row.at * (sizes.units / 256u) + i % sizes.units / 256u) * 144u;
    let value = i % 256u;
    let pair = value / 32u;
    let scales = block + 4u;
    var scale = byte(scales + pair) & 63u;
    var least = byte(scales + pair + 4u) & 63u;
    if pair >= 4u {
        scale = (byte(scales + pair + 4u) & 15u) | ((byte(scales + pair - 4u) >> 6u) << 4u);
        least = (byte(scales + pair + 4u) >> 4u) | ((byte(scales + pair) >> 6u) << 4u);
    }
    let bits = (byte(scales + 12u + value / 64u * 32u + value % 32u) >> (pair % 2u * 4u)) & 15u;
    let factors = unpack2x16float(params[block / 4u]);
    return factors.x * f32(scale) * f32(bits) - factors.y * f32(least);
}

fn byte(at: u32) -> u32 {
    return (params[at / 4u] >> (at % 4u * 8u)) & 0xffu;
}
