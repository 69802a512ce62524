// Needs: common
//
// Finds rows for a lane of packed.wgsl. Its index rows have one value or two, and start with a vector of words.

@group(0) @binding(2) var<storage, read> indices_vec4: array<vec4<u32>>;

// The row that a vector's first words select.
fn row_of_first(words: vec4<u32>) -> u32 {
    return row_of(words, vec4<u32>(0u));
}

// The rows that four consecutive index rows select.
fn rows_of_four(index_row: u32) -> vec4<u32> {
    let at = (gather.indices_start + index_row * (DEPTH * INDEX_WORDS)) / 4u;
    let a = indices_vec4[at];
    if DEPTH * INDEX_WORDS == 1u {
        return vec4<u32>(row_of_first(a.xxxx), row_of_first(a.yyyy), row_of_first(a.zzzz), row_of_first(a.wwww));
    }
    let b = indices_vec4[at + 1u];
    if DEPTH * INDEX_WORDS == 2u {
        return vec4<u32>(row_of_first(a), row_of_first(a.zwzw), row_of_first(b), row_of_first(b.zwzw));
    }
    let c = indices_vec4[at + 2u];
    return vec4<u32>(row_of_first(a), row_of_first(b), row_of_first(c), row_of_first(indices_vec4[at + 3u]));
}
