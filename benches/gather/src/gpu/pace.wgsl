// Steps that depend on one another, so that they take as many cycles each time.
@group(0) @binding(0) var<storage, read_write> target_words: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) lane: u32) {
    var value = lane;
    for (var step = 0u; step < 4096u; step++) {
        value = (value * 0x9e3779b1u) ^ (value >> 15u);
    }
    target_words[lane & 3u] = value;
}
