// Needs: decoded
//
// The block starts with a scale for the scales, one for the minima, and 12 bytes with a 6-bit scale and minimum for
// each of 8 parts.

// A part's scale and minimum. Its block starts `words` words after byte `row`.
fn scale_and_least(row: u32, words: u32, part: u32) -> vec2<f32> {
    let scales = word_after(row, words);
    let low = byte_after(row + part % 4u, words + 1u);
    let high = byte_after(row + part % 4u, words + 2u);
    let both = byte_after(row + part % 4u, words + 3u);
    let is_first = part < 4u;
    let scale = select((both & 15u) | ((low & 0xc0u) >> 2u), low & 63u, is_first);
    let least = select((both >> 4u) | ((high & 0xc0u) >> 2u), high & 63u, is_first);
    return vec2<f32>(half_of(scales) * f32(scale), half_of(scales >> 16u) * f32(least));
}
