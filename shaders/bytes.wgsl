// Needs: index_rows or general
//
// Slices of any size; units are bytes. A lane writes LANE_WORDS output words, which hold bytes from one slice or several, and
// counts bytes from its first word. If LANE_WORDS is 1, only x in a vector counts.

// Output words that a lane writes: 1 or 4, and 4 only if the fill repeats itself in each word.
override LANE_WORDS: u32 = 1u;

@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

// A mask for some of the lane's bytes: products spread and widen one bit a byte.
fn bits_of(bytes: u32) -> vec4<u32> {
    let of_words = (vec4<u32>(bytes) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u);
    return ((of_words * 0x204081u) & vec4<u32>(0x1010101u)) * 255u;
}

// For each word in `low`, and its neighbour in `high`, four bytes: from byte `start` of the former on.
fn funnel(low: vec4<u32>, high: vec4<u32>, start: u32) -> vec4<u32> {
    return (low >> vec4<u32>(start * 8u)) | ((high << vec4<u32>(1u)) << vec4<u32>(31u - start * 8u));
}

// The words for a lane that starts at a slice's byte `start`, modulo 2^32, or before the slice. Only the slice's bytes count.
fn slice_words(source: SourceRow, start: u32) -> vec4<u32> {
    let at = select(0u, gather.params_start + source.params_row * gather.params_stride, source.held);
    let last = select(0u, (at % 4u + gather.units - 1u) / 4u, source.held);
    // The lane's first byte, counted from four words before the slice's first word.
    let first = at % 4u + start + 16u;
    let words = at / 4u + min(max(first / 4u + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(4u)) - 4u, vec4<u32>(last));
    var low = vec4<u32>();
    var e = 0u;
    var fill = gather.fill[0].xx;
    if LANE_WORDS == 4u {
        e = params[at / 4u + min(first / 4u, last)];
        low.w = params[words.w];
        low.z = params[words.z];
    } else {
        let word = (start + 4u * gather.fill_words) / 4u;
        fill = vec2<u32>(fill_word(word), fill_word(word + 1u));
    }
    low.y = params[words.y];
    low.x = params[words.x];
    let value = funnel(low, vec4<u32>(low.yzw, e), first % 4u);
    let absent = funnel(fill.xxxx, fill.yyyy, start % 4u);
    return select(select(absent, vec4<u32>(), source.in_range), value, source.held);
}

fn store_word(word: u32, value: u32, bits: u32) {
    if bits == ALL_BITS {
        output[word] = value;
    } else if bits != 0u {
        output[word] = value | (output[word] & ~bits);
    }
}

fn copy_bytes(workgroup: vec3<u32>, local: u32) -> BadRows {
    let word = gather.output_start / 4u + (number_of(workgroup) * WORKGROUP_SIZE + local) * LANE_WORDS;
    let output_end = gather.output_start + (gather.rows - 1u) * gather.output_stride + gather.units;
    if (gather.rows == 0u) | (word >= (output_end + 3u) / 4u) {
        return BadRows();
    }
    let at = word * 4u;
    var values = vec4<u32>();
    var written = 0u;
    var bad_rows = BadRows();
    let first_row = (max(at, gather.output_start) - gather.output_start) / gather.output_stride;
    for (var row = first_row; row < gather.rows; row++) {
        let row_at = gather.output_start + row * gather.output_stride;
        let first = max(row_at, at) - at;
        if first >= LANE_WORDS * 4u {
            break;
        }
        let end = min(max(row_at + gather.units, at) - at, LANE_WORDS * 4u);
        if first < end {
            let source = source_row_of(output_row_of(row));
            bad_rows = with_row(bad_rows, source, (row_at >= at) & source.written & !source.in_range);
            if source.written {
                let bytes = (1u << end) - (1u << first);
                values |= slice_words(source, at - row_at) & bits_of(bytes);
                written |= bytes;
            }
        }
    }
    let bits = bits_of(written);
    store_word(word, values.x, bits.x);
    if LANE_WORDS == 4u {
        store_word(word + 1u, values.y, bits.y);
        store_word(word + 2u, values.z, bits.z);
        store_word(word + 3u, values.w, bits.w);
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
