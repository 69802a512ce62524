
// Four words by the four u8 indices of a word.
fn lane(i: u32) -> Lane {
    let word = indices[i];
    let index = (vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);
    let is_good = index < vec4(sizes.dims.x);
    let row = select(vec4(0u), index, is_good);
    return select(vec4(0u), vec4(params[row.x], params[row.y], params[row.z], params[row.w]), is_good);
}
