// Needs: decode/iq4_numbers
//
// Blocks of 136 bytes with 256 values, in 8 parts: a scale; 2 bytes with the high 2 bits and 4 bytes with the low 4
// bits of a scale for each part; then 16 bytes for each part, whose low halves select its first 16 values.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = row + group / 64u * 136u;
    let part = group / 8u % 8u;
    let halves = word_at(block + 8u + part * 16u + group % 4u * 4u) >> (group & 4u);
    let scales = word_at(block);
    let low = (word_at(block + 4u) >> (part * 4u)) & 15u;
    let high = (scales >> (16u + part * 2u)) & 3u;
    return scaled(numbers(halves), half_of(scales) * (f32(low | (high << 4u)) - 32.0));
}
