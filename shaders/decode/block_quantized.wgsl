// Needs: decoded
//
// BITS bits for each value, the first in a byte's low bits, in blocks of BLOCK_LEN values. The blocks' scales and zero
// points have their own bindings. In each binding, `row` counts rows of the last dim.
override BITS: u32 = 4u;
override BLOCK_LEN: u32 = 32u;

@group(0) @binding(10) var<storage, read> scales: array<u32>;
// The scales once more if all blocks share one zero point.
@group(0) @binding(11) var<storage, read> zero_points: array<u32>;

fn decoded(row: u32, group: u32) -> vec4<u32> {
    let numbers = gather.quantized;
    let blocks = (gather.last_dim + BLOCK_LEN - 1u) / BLOCK_LEN;
    let block = group / (BLOCK_LEN / 4u);
    let scale_at = numbers.scales_start + (row * blocks + block) * numbers.scale_bytes;
    let scale = scale_of(scales[scale_at / 4u] >> (scale_at % 4u * 8u));
    let zero_at = numbers.zero_points_start + row * ((blocks * BITS + 7u) / 8u) + block * BITS / 8u;
    let zero_word = zero_points[zero_at / 4u] >> (zero_at % 4u * 8u + block * BITS % 8u);
    let own_zero = (zero_word & ((1u << BITS) - 1u)) ^ numbers.flipped;
    let zero = select(numbers.zero_point, own_zero, numbers.zero_point == NONE);
    let word = word_at(numbers.params_start + row * (gather.last_dim * BITS / 8u) + group * BITS / 2u);
    let values = (vec4<u32>(word) >> (vec4<u32>(0u, 1u, 2u, 3u) * BITS)) & vec4<u32>((1u << BITS) - 1u);
    return scaled(vec4<f32>(values ^ vec4<u32>(numbers.flipped)) - f32(zero), scale);
}

// The scale in a word's low bits, as an f32.
fn scale_of(word: u32) -> f32 {
    let half = select(half_bits(word & 0xffffu), word << 16u, gather.quantized.are_scales_bf16 == 1u);
    return bitcast<f32>(select(half, word, gather.quantized.scale_bytes == 4u));
}
