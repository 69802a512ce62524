// Needs: common
//
// Finds rows for a lane of packed.wgsl. Index values have 8 or 16 bits, so a word holds several. The first index row starts a
// word.

// The rows that four consecutive index rows select.
fn rows_of_four(index_row: u32) -> vec4<u32> {
    let bits_log2 = gather.general.index_bits_log2;
    let first = (gather.indices_start + index_row) >> (5u - bits_log2);
    // Four 8-bit values are one word, four 16-bit values two.
    let words = vec4<u32>(vec2<u32>(indices[first]), vec2<u32>(indices[first + bits_log2 - 3u]));
    let starts = (vec4<u32>(0u, 1u, 2u, 3u) << vec4<u32>(bits_log2)) & vec4<u32>(31u);
    let others = 32u - (1u << bits_log2);
    let values = (words >> starts) & vec4<u32>(ALL_BITS >> others);
    let sign = vec4<u32>(gather.sign >> others);
    let signed = (values ^ sign) - sign;
    return vec4<u32>(
        row_of(signed.xxxx, vec4<u32>(0u)), row_of(signed.yyyy, vec4<u32>(0u)),
        row_of(signed.zzzz, vec4<u32>(0u)), row_of(signed.wwww, vec4<u32>(0u)),
    );
}
