// Needs: general
//
// The mask of bad rows: a byte for each index row, 1 if a value of the row is out of range, else 0. The policy for bad
// indices does not count. A lane owns a word of the mask, and so checks four index rows. The uniform's rows are index
// rows here, and output_start is the first word of the mask; fields that do not concern index values are 0.

@group(0) @binding(9) var<storage, read_write> mask: array<u32>;

fn is_bad(row: u32) -> bool {
    let dims = gather.dims;
    var found = false;
    var word = gather.indices_start + row * gather.general.index_depth * index_words();
    for (var k = 0u; k < gather.general.index_depth; k++) {
        let dim = pair(k, dims);
        found = found || !less(from_front(index_value(word), dim), dim);
        word += index_words();
    }
    return found;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn out_of_range(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = number_of(workgroup) * WORKGROUP_SIZE + local;
    if word >= (gather.rows + 3u) / 4u {
        return;
    }
    let rows = min(gather.rows - word * 4u, 4u);
    var bytes = 0u;
    for (var k = 0u; k < rows; k++) {
        bytes |= select(0u, 1u, is_bad(word * 4u + k)) << (8u * k);
    }
    if rows < 4u {
        // The bytes that pad the last word keep their values.
        bytes |= mask[gather.output_start + word] & (ALL_BITS << (8u * rows));
    }
    mask[gather.output_start + word] = bytes;
}
