// Needs: common; element_dims; packed_words or packed_narrow
//
// Slices of 1, 2 or 4 bytes. A lane copies as many as fill LANE_BYTES, all from one block, and stores them as one vector.
// Blocks are bound whole. params_start is in bytes.

// Bytes in a slice.
override PACKED_BYTES: u32 = 4u;
// Output bytes that a lane writes.
const LANE_BYTES: u32 = 16u;
// Factors that move a byte to each byte of a word.
const BYTES: vec4<u32> = vec4<u32>(1u, 1u << 8u, 1u << 16u, 1u << 24u);

@group(0) @binding(1) var<storage, read> params: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4<u32>>;

// Where a row starts in the binding, in bytes; 0 for a bad row.
fn params_byte(row: u32, block: u32) -> u32 {
    let params_row = block * gather.held_rows.x - gather.window_first_row.x + row;
    let at = gather.params_start + params_row * PACKED_BYTES;
    return select(0u, at, row < NO_ROW);
}

fn slice_of(row: u32, at: u32, word: u32) -> u32 {
    let start = select(at % 4u * 8u, 0u, PACKED_BYTES == 4u);
    let value = select(gather.fill[0].x, word >> start, row < NO_ROW);
    return value & (ALL_BITS >> (32u - 8u * PACKED_BYTES));
}

// Four rows' slices, each in a word's low bytes.
fn four_slices(rows: vec4<u32>, block: u32) -> vec4<u32> {
    let a = params_byte(rows.x, block);
    let b = params_byte(rows.y, block);
    let c = params_byte(rows.z, block);
    let d = params_byte(rows.w, block);
    let word_d = params[d / 4u];
    let word_c = params[c / 4u];
    let word_b = params[b / 4u];
    let word_a = params[a / 4u];
    return vec4<u32>(
        slice_of(rows.x, a, word_a), slice_of(rows.y, b, word_b),
        slice_of(rows.z, c, word_c), slice_of(rows.w, d, word_d),
    );
}

// Counts the bad rows among four consecutive index rows.
fn with_four(bad_rows: BadRows, index_row: u32, rows: vec4<u32>, reports: bool) -> BadRows {
    let bad = (rows >= vec4<u32>(NO_ROW)) & vec4<bool>(reports);
    let two = with_index_row(with_index_row(bad_rows, index_row, bad.x), index_row + 1u, bad.y);
    return with_index_row(with_index_row(two, index_row + 2u, bad.z), index_row + 3u, bad.w);
}

fn copy_packed(workgroup: vec3<u32>, local: u32) -> BadRows {
    let lane = number_of(workgroup) * WORKGROUP_SIZE + local;
    let first = lane * (LANE_BYTES / PACKED_BYTES);
    if first >= gather.rows {
        return BadRows();
    }
    let at = gather.output_start + lane;
    let output_row = output_row_of(first);
    let index_row = index_row_of(output_row);
    let reports = output_row.outer == 0u && gather.reports > 0u;
    var a = rows_of_four(index_row);
    let of_a = with_four(BadRows(), index_row, a, reports);
    if ELEMENTS == 1u {
        // The four are neighbours in the innermost element dim.
        let step = gather.general.element_dims[0].y;
        let offset = element_row(output_row.n).offset;
        a.x = row_at(a.x, offset);
        a.y = row_at(a.y, offset + step);
        a.z = row_at(a.z, offset + 2u * step);
        a.w = row_at(a.w, offset + 3u * step);
    }
    if PACKED_BYTES == 4u {
        output[at] = four_slices(a, output_row.block);
        return of_a;
    }
    let b = rows_of_four(index_row + 4u);
    let of_b = with_four(of_a, index_row + 4u, b, reports);
    if PACKED_BYTES == 2u {
        let of_four = four_slices(a, output_row.block);
        let others = four_slices(b, output_row.block);
        output[at] = vec4<u32>(of_four.xz, others.xz) | (vec4<u32>(of_four.yw, others.yw) << vec4<u32>(16u));
        return of_b;
    }
    let c = rows_of_four(index_row + 8u);
    let d = rows_of_four(index_row + 12u);
    output[at] = vec4<u32>(
        dot(four_slices(a, output_row.block), BYTES), dot(four_slices(b, output_row.block), BYTES),
        dot(four_slices(c, output_row.block), BYTES), dot(four_slices(d, output_row.block), BYTES),
    );
    return with_four(with_four(of_b, index_row + 8u, c, reports), index_row + 12u, d, reports);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn packed(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_packed(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn packed_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_packed(workgroup, local));
}
