// Needs: decode/iq4_numbers
//
// A block has 136 bytes and 256 values, in 8 parts of 32. It starts with a half float, the scale of the block. Each
// part has a scale of 6 bits: 2 bytes have the high 2 bits of all 8, and 4 bytes the low 4 bits. Then each part has
// 16 bytes. Their low 4 bits select the numbers of its first 16 values, and their high 4 bits those of the others.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let block = group / 64u * 34u;
    let part = group / 8u % 8u;
    let halves = word_after(row, block + 2u + part * 4u + group % 4u) >> (group & 4u);
    let scales = word_after(row, block);
    let low = (word_after(row, block + 1u) >> (part * 4u)) & 15u;
    let high = (scales >> (16u + part * 2u)) & 3u;
    return scaled(numbers(halves), half_of(scales) * (f32(low | (high << 4u)) - 32.0));
}
