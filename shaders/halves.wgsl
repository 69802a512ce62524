// Needs: index_rows or general; one_decoded; to_f16 or to_bf16
//
// Decoded slices of any number of halves, which start at any of them. Units are values. A lane writes an output word: two halves,
// of one slice or of two.

@group(0) @binding(3) var<storage, read_write> output: array<u32>;

fn copy_halves(workgroup: vec3<u32>, local: u32) -> BadRows {
    let word = gather.output_start / 2u + number_of(workgroup) * WORKGROUP_SIZE + local;
    var value = 0u;
    var written = 0u;
    var bad = BadRows();
    // The low half first: it is shifted down when the high one comes.
    for (var half = 0u; half < 2u; half++) {
        value >>= 16u;
        written >>= 16u;
        let after = word * 2u + half - gather.output_start;
        let row = after / gather.output_stride;
        let unit = after - row * gather.output_stride;
        // The half before the first one wraps, and is in no row.
        if (row < gather.rows) & (unit < gather.units) {
            let source = source_row_of(output_row_of(row));
            if source.written {
                bad = with_row(bad, source, (unit == 0u) & !source.in_range);
                let start = gather.params_start + source.params_row * gather.params_stride;
                let found = rounded(load_unit(start, unit, source.held));
                let high = 0xffff0000u;
                value |= select(select(absent_unit(unit), 0u, source.in_range), found, source.held) & high;
                written |= high;
            }
        }
    }
    if written == ALL_BITS {
        output[word] = value;
    } else if written != 0u {
        output[word] = value | (output[word] & ~written);
    }
    return bad;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn halves(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_halves(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn halves_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_halves(workgroup, local));
}
