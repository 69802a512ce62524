// Needs: decode/iq4_numbers
//
// Blocks of 18 bytes with 32 values: a scale, then 16 bytes, whose low halves select the first 16 values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 8u * 18u;
    let halves = word_at(block + 2u + group % 4u * 4u) >> (group & 4u);
    return scaled(numbers(halves), half_of(word_at(block)));
}
