// Needs: decoded
//
// Blocks of 18 bytes with 32 values: a scale, then 16 bytes, whose low halves select the first 16 values.

// One of 16 numbers, plus 128.
fn number(at: u32) -> u32 {
    let first = select(0x3f2d1801u, 0x766a5d4fu, (at & 4u) != 0u);
    let second = select(0xa6998d81u, 0xf1d9c5b5u, (at & 4u) != 0u);
    return (select(first, second, at >= 8u) >> (at % 4u * 8u)) & 0xffu;
}

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 8u * 18u;
    let at = bytes_of((word_at(block + 2u + group % 4u * 4u) >> (group & 4u)) & 0x0f0f0f0fu);
    let numbers = vec4<u32>(number(at.x), number(at.y), number(at.z), number(at.w));
    return scaled(vec4<f32>(numbers) - 128.0, half_of(word_at(block)));
}
