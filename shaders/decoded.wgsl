// Needs: common
//
// Params are bytes, in blocks at any byte. A file in decode/ defines decoded(row, group), which returns the bits of
// four f32: the row starts at byte `row`, and a group is four values. Params starts and strides count bytes, too; in
// decode/block_quantized.wgsl, `row` and strides count rows of the last dim.

@group(0) @binding(1) var<storage, read> params: array<u32>;

// The four bytes from `byte` on. Past the binding, where no value is, its last word repeats.
fn word_at(byte: u32) -> u32 {
    return word_after(byte, 0u);
}

// The four bytes `words` words after a byte. If blocks are whole words, all of a row's words begin at the same bit.
fn word_after(byte: u32, words: u32) -> u32 {
    let at = byte / 4u + words;
    let start = byte % 4u * 8u;
    let last = arrayLength(&params) - 1u;
    let low = params[min(at, last)];
    let high = params[min(at + 1u, last)];
    return (low >> start) | ((high << 1u) << (31u - start));
}

fn byte_at(byte: u32) -> u32 {
    return byte_after(byte, 0u);
}

// The byte `words` words after another.
fn byte_after(byte: u32, words: u32) -> u32 {
    return (params[byte / 4u + words] >> (byte % 4u * 8u)) & 0xffu;
}

// A half float as the bits of an f32. Subnormals are exact, and a NaN keeps its payload.
fn half_bits(bits: u32) -> u32 {
    let magnitude = (bits & 0x7fffu) << 13u;
    // A half's exponent bias is 112 less; an all-ones exponent stays all ones.
    let normal = magnitude + select(0x38000000u, 0x70000000u, magnitude >= 0x0f800000u);
    // 2^-14 plus the subnormal is a normal number, whose low bits are the subnormal's.
    let subnormal = bitcast<u32>(bitcast<f32>(magnitude + 0x38800000u) - 0x1p-14f);
    return select(normal, subnormal, magnitude < 0x00800000u) | ((bits & 0x8000u) << 16u);
}

fn bytes_of(word: u32) -> vec4<u32> {
    return (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
}

fn signed_bytes(word: u32) -> vec4<i32> {
    return vec4<i32>(vec4<u32>(word) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn half_of(word: u32) -> f32 {
    return bitcast<f32>(half_bits(word & 0xffffu));
}

fn scaled(values: vec4<f32>, scale: f32) -> vec4<u32> {
    return bitcast<vec4<u32>>(values * scale);
}
