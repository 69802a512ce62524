// Needs: decode/iq4_numbers
//
// A block has 136 bytes and 256 values, in 8 parts of 32. It starts with its scale, a half float. Each part has a 6-bit
// scale: 2 bytes hold all high 2 bits, and 4 bytes the low 4 bits. Then each part has 16 bytes. Their low 4 bits select
// numbers for its first 16 values, and their high 4 bits for the others.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 64u * 34u;
    let part = group / 8u % 8u;
    let halves = word_after(row, block + 2u + part * 4u + group % 4u) >> (group & 4u);
    let scales = word_after(row, block);
    let low = (word_after(row, block + 1u) >> (part * 4u)) & 15u;
    let high = (scales >> (16u + part * 2u)) & 3u;
    return scaled(numbers(halves), half_of(scales) * (f32(low | (high << 4u)) - 32.0));
}
