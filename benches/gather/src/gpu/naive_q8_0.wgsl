
// A value of Q8_0: blocks of an f16 and 32 values of 8 bits.
fn lane(i: u32) -> Lane {
    let row = params_row(i / sizes.units);
    if !row.is_good {
        return 0.0;
    }
    let value = i % sizes.units;
    let block = (row.at * (sizes.units / 32u) + value / 32u) * 34u;
    let scale = unpack2x16float(byte(block) | (byte(block + 1u) << 8u)).x;
    return scale * f32(extractBits(i32(byte(block + 2u + value % 32u)), 0u, 8u));
}

fn byte(at: u32) -> u32 {
    return (params[at / 4u] >> (at % 4u * 8u)) & 0xffu;
}
