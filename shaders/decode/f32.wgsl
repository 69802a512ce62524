// Needs: decoded
//
// Plain f32s, which are rounded to halves.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let at = row + group * 16u;
    return vec4<u32>(word_at(at), word_after(at, 1u), word_after(at, 2u), word_after(at, 3u));
}
