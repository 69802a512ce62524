// Needs: index_rows or general; one_decoded; to_f16 or to_bf16
//
// Decoded slices of any number of halves, which start at any of them. Units are values. A lane writes an output word: two halves,
// of one slice or of two.

@group(0) @binding(3) var<storage, read_write> output: array<u32>;

// A half of a lane's word, in the high half: its bits, and a mask of them, 0 if the dispatch does not write the half.
struct Half {
    bits: u32,
    written: u32,
    bad_rows: BadRows,
}

// The half `at` of the output.
fn half_at(at: u32) -> Half {
    let after = at - gather.output_start;
    let row = after / gather.output_stride;
    let unit = after - row * gather.output_stride;
    if (at < gather.output_start) | (row >= gather.rows) | (unit >= gather.units) {
        return Half();
    }
    let source = source_row_of(output_row_of(row));
    let bad_rows = with_row(BadRows(), source, (unit == 0u) & source.written & !source.in_range);
    if !source.written {
        return Half(0u, 0u, bad_rows);
    }
    let value = load_unit(gather.params_start + source.params_row * gather.params_stride, unit, source.held);
    let absent = select(absent_unit(unit), 0u, source.in_range);
    let bits = select(absent, rounded(value), source.held);
    return Half(bits & 0xffff0000u, 0xffff0000u, bad_rows);
}

fn copy_halves(workgroup: vec3<u32>, local: u32) -> BadRows {
    let word = gather.output_start / 2u + number_of(workgroup) * WORKGROUP_SIZE + local;
    let output_end = gather.output_start + (gather.rows - 1u) * gather.output_stride + gather.units;
    if (gather.rows == 0u) | (word >= (output_end + 1u) / 2u) {
        return BadRows();
    }
    let low = half_at(word * 2u);
    let high = half_at(word * 2u + 1u);
    let value = (low.bits >> 16u) | high.bits;
    let written = (low.written >> 16u) | high.written;
    if written == ALL_BITS {
        output[word] = value;
    } else if written != 0u {
        output[word] = value | (output[word] & ~written);
    }
    let count = low.bad_rows.count + high.bad_rows.count;
    return BadRows(count, max(low.bad_rows.first_complement, high.bad_rows.first_complement));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn halves(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_halves(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn halves_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_halves(workgroup, local));
}
