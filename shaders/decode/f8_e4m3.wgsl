// Needs: decoded
//
// Bytes: a sign, 4 exponent bits, 3 mantissa bits. There is no infinity, and one NaN for each sign.

fn value(byte: u32) -> u32 {
    let magnitude = byte & 0x7fu;
    // The exponent bias is 120 less than an f32's.
    let normal = select((magnitude << 20u) + 0x3c000000u, 0x7fc00000u, magnitude == 0x7fu);
    let subnormal = bitcast<u32>(f32(magnitude) * 0x1p-9f);
    return select(normal, subnormal, magnitude < 8u) | ((byte & 0x80u) << 24u);
}

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let bytes = bytes_of(word_at(row + group * 4u));
    return vec4<u32>(value(bytes.x), value(bytes.y), value(bytes.z), value(bytes.w));
}
