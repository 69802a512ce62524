// Needs: common; to_f16 or to_bf16
//
// Rounds f32s to halves. A lane writes one word of halves.

@group(0) @binding(3) var<storage, read_write> output: array<u32>;
@group(0) @binding(27) var<storage, read> singles: array<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn narrow(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = gather.output_start / 2u + number_of(workgroup) * WORKGROUP_SIZE + local;
    // The half before the first one wraps, and is beyond all.
    let low = word * 2u - gather.output_start;
    let high = low + 1u;
    let halves = gather.rows * gather.units;
    let has_low = low < halves;
    let has_high = high < halves;
    if !(has_low | has_high) {
        return;
    }
    let of_low = rounded(singles[select(0u, low, has_low)]) >> 16u;
    let of_high = rounded(singles[select(0u, high, has_high)]) & 0xffff0000u;
    if has_low & has_high {
        output[word] = of_low | of_high;
    } else {
        let kept = select(0xffffu, 0xffff0000u, has_low);
        output[word] = (output[word] & kept) | select(of_high, of_low & 0xffffu, has_low);
    }
}
