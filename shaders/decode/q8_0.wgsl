// Needs: decoded
//
// Blocks of 34 bytes with 32 values: a scale, then a signed byte for each value.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 8u * 34u;
    return scaled(vec4<f32>(signed_bytes(word_at(block + 2u + group % 8u * 4u))), half_of(word_at(block)));
}
