// Needs: decoded
//
// A byte for each value; the row ends with its scale and its bias, an f32 each.

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let end = row + gather.last_dim;
    let values = bytes_of(word_at(row + group * 4u));
    // The product rounds before the bias is added: `zero` keeps a compiler from fusing the two.
    let products = scaled(vec4<f32>(values), bitcast<f32>(word_at(end))) | vec4<u32>(gather.quantized.zero);
    return bitcast<vec4<u32>>(bitcast<vec4<f32>>(products) + bitcast<f32>(word_at(end + 4u)));
}
