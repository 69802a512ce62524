// Needs: index_rows or general
//
// Slices of any size; units are bytes. A lane writes one word of the output, with bytes of up to four slices.

@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

// Four bytes of two words, from byte `start` of `low` on.
fn funnel(low: u32, high: u32, start: u32) -> u32 {
    return (low >> (start * 8u)) | ((high << 1u) << (31u - start * 8u));
}

// `count` bytes of an output row, from byte `start` of its slice on; the first is the lowest byte.
fn slice_bytes(source: SourceRow, start: u32, count: u32) -> u32 {
    let at = select(0u, gather.params_start + source.params_row * gather.params_stride + start, source.held);
    // The second word is loaded only if some of the bytes lie in it.
    let more = select(0u, 1u, source.held && at % 4u + count > 4u);
    let value = funnel(params[at / 4u], params[at / 4u + more], at % 4u);
    let absent = funnel(fill_word(start / 4u), fill_word(start / 4u + 1u), start % 4u);
    return select(select(absent, 0u, source.in_range), value, source.held);
}

fn copy_bytes(workgroup: vec3<u32>, local: u32) -> BadRows {
    let word = gather.output_start / 4u + number_of(workgroup) * WORKGROUP_SIZE + local;
    let output_end = gather.output_start + (gather.rows - 1u) * gather.output_stride + gather.units;
    if gather.rows == 0u || word >= (output_end + 3u) / 4u {
        return BadRows();
    }
    let first = max(word * 4u, gather.output_start);
    let end = word * 4u + 4u;
    var value = 0u;
    var written = 0u;
    var bad_rows = BadRows();
    for (var row = (first - gather.output_start) / gather.output_stride; row < gather.rows; row++) {
        let row_at = gather.output_start + row * gather.output_stride;
        if row_at >= end {
            break;
        }
        let start = max(first, row_at) - row_at;
        // Bytes from `units` on are the gap after the slice.
        if start < gather.units {
            let source = source_row_of(output_row_of(row));
            bad_rows = with_row(bad_rows, source, start == 0u && source.written && !source.in_range);
            if source.written {
                let shift = (row_at + start) % 4u * 8u;
                let count = min(gather.units - start, 4u - (row_at + start) % 4u);
                let bits = (ALL_BITS >> (32u - count * 8u)) << shift;
                value |= (slice_bytes(source, start, count) << shift) & bits;
                written |= bits;
            }
        }
    }
    if written == ALL_BITS {
        output[word] = value;
    } else if written != 0u {
        output[word] = value | (output[word] & ~written);
    }
    return bad_rows;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn bytes(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_bytes(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn bytes_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_bytes(workgroup, local));
}
