// Needs: decoded
//
// Blocks of 18 bytes with 32 values: a scale, then 16 bytes, whose low halves are the first 16 values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 8u * 18u;
    let values = (word_at(block + 2u + group % 4u * 4u) >> (group & 4u)) & 0x0f0f0f0fu;
    return scaled(vec4<f32>(bytes_of(values)) - 8.0, half_of(word_at(block)));
}
