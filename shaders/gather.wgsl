// gather and gather_nd, one formula:
//
//   output[b][o][n][s] = params[b][o][ row(b, n) ][s]       0 in every s of a row that is out of range
//   row(b, n)          = ((index_0 * dim_1 + index_1) * dim_2 + index_2) ...
//
// with index_k = indices[b][n][k] and dim_k = indexed_dims[k]. (b, o) together are called a part: the part
// of params that index_count output rows share.
//
// binding | what
// --------+------------------------------------------------------------------------------------------------
//       0 | window   the sizes; slices are counted in units of the entry point: 16, 4 or 1 bytes
//       1 | params   read only
//       2 | indices  read only, as words; a 64-bit index is two, the low one first
//       3 | output   every byte of the output is written, and none behind it
//       4 | report   entry points whose names end in _report: bad rows, and nothing else, write to it
//
// override       | meaning
// ---------------+-----------------------------------------------------------------------------------------
// WORKGROUP_SIZE | invocations of a workgroup
// INDEX_WORDS    | words of one index: 1 or 2
// INDEX_SIGNED   | an index may be below zero
// FROM_END       | an index below zero counts from the end of its dim
//
// gather_vec4 and gather_words: 2^lanes_log2 invocations share one slice, each takes every 2^lanes_log2-th
// unit of it. gather_bytes: one invocation writes one output word. No optional feature is needed.

struct GatherWindow {
    output_rows: u32,
    outer_size: u32,
    index_count: u32,
    index_depth: u32,
    indexed_dims: array<vec4<u32>, 2>,
    row_count: u32,
    slice_units: u32,
    lanes_log2: u32,
    // Workgroups in one row of the dispatch.
    grid_width: u32,
}

// All zero: no bad row.
struct BadRowReport {
    bad_row_count: atomic<u32>,
    // The complement of the smallest bad row, so that the largest complement names it.
    first_bad_row_complement: atomic<u32>,
    // The words of its index row.
    index: array<u32, 16>,
}

override WORKGROUP_SIZE: u32 = 64u;
override INDEX_WORDS: u32 = 1u;
override INDEX_SIGNED: bool = true;
override FROM_END: bool = false;

@group(0) @binding(0) var<uniform> window: GatherWindow;
@group(0) @binding(1) var<storage, read> params_vec4: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> params_words: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> output_vec4: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> output_words: array<u32>;
@group(0) @binding(4) var<storage, read_write> report: BadRowReport;

struct Position {
    in_range: bool,
    at: u32,
}

// Where index value `place` of indices lies in a dim. At full width: a word above the low one that is
// neither zero nor the sign of a number counted from the end is out of range.
fn resolve(place: u32, dim: u32) -> Position {
    let low = indices[place * INDEX_WORDS];
    var high = 0u;
    if INDEX_WORDS == 2u {
        high = indices[place * INDEX_WORDS + 1u];
    } else if INDEX_SIGNED && low >= 0x80000000u {
        high = 0xffffffffu;
    }
    if FROM_END && INDEX_SIGNED && high == 0xffffffffu {
        // low stands for low - 2^32, so the sum is the position just when it wraps; else it is >= dim.
        return Position(low + dim < dim, low + dim);
    }
    return Position(high == 0u && low < dim, low);
}

// What one output row is made from. params_row means nothing unless in_range.
struct Source {
    in_range: bool,
    params_row: u32,
    // For the report: the complement of a bad index row, in its first part only; else 0.
    bad_row_complement: u32,
}

fn source_of(output_row: u32) -> Source {
    let part = output_row / window.index_count;
    let batch = part / window.outer_size;
    let index_row = batch * window.index_count + (output_row - part * window.index_count);
    var in_range = true;
    var row = 0u;
    for (var k = 0u; k < window.index_depth; k++) {
        let dim = window.indexed_dims[k / 4u][k % 4u];
        let position = resolve(index_row * window.index_depth + k, dim);
        in_range = in_range && position.in_range;
        row = row * dim + position.at;
    }
    let reports = !in_range && part == batch * window.outer_size;
    return Source(in_range, part * window.row_count + row, select(0u, ~index_row, reports));
}

fn invocation_of(workgroup: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * window.grid_width + workgroup.x) * WORKGROUP_SIZE + local;
}

// The share of one invocation in one slice of 16-byte units. Returns what it has to report, or 0.
fn gather_units_vec4(invocation: u32) -> u32 {
    let output_row = invocation >> window.lanes_log2;
    if output_row >= window.output_rows {
        return 0u;
    }
    let lanes = 1u << window.lanes_log2;
    let lane = invocation & (lanes - 1u);
    let source = source_of(output_row);
    let params_start = source.params_row * window.slice_units;
    let output_start = output_row * window.slice_units;
    for (var unit = lane; unit < window.slice_units; unit += lanes) {
        var value = vec4<u32>();
        if source.in_range {
            value = params_vec4[params_start + unit];
        }
        output_vec4[output_start + unit] = value;
    }
    return select(0u, source.bad_row_complement, lane == 0u);
}

// The same for 4-byte units.
fn gather_units_words(invocation: u32) -> u32 {
    let output_row = invocation >> window.lanes_log2;
    if output_row >= window.output_rows {
        return 0u;
    }
    let lanes = 1u << window.lanes_log2;
    let lane = invocation & (lanes - 1u);
    let source = source_of(output_row);
    let params_start = source.params_row * window.slice_units;
    let output_start = output_row * window.slice_units;
    for (var unit = lane; unit < window.slice_units; unit += lanes) {
        var value = 0u;
        if source.in_range {
            value = params_words[params_start + unit];
        }
        output_words[output_start + unit] = value;
    }
    return select(0u, source.bad_row_complement, lane == 0u);
}

// One output word, byte by byte: up to four slices begin in it. Returns what each byte has to report: the
// first byte of a slice speaks for its row.
fn gather_word_of_bytes(invocation: u32) -> vec4<u32> {
    let output_bytes = window.output_rows * window.slice_units;
    if invocation >= (output_bytes + 3u) / 4u {
        return vec4<u32>();
    }
    let first = invocation * 4u;
    let byte_count = min(4u, output_bytes - first);
    var output_row = first / window.slice_units;
    var in_slice = first - output_row * window.slice_units;
    var source = source_of(output_row);
    var word = 0u;
    var reports = vec4<u32>();
    for (var byte = 0u; byte < byte_count; byte++) {
        if in_slice == window.slice_units {
            in_slice = 0u;
            output_row += 1u;
            source = source_of(output_row);
        }
        if in_slice == 0u {
            reports[byte] = source.bad_row_complement;
        }
        if source.in_range {
            let place = source.params_row * window.slice_units + in_slice;
            let value = (params_words[place / 4u] >> (place % 4u * 8u)) & 0xffu;
            word |= value << (byte * 8u);
        }
        in_slice += 1u;
    }
    if byte_count < 4u {
        let kept = 0xffffffffu << (byte_count * 8u);
        word |= output_words[invocation] & kept;
    }
    output_words[invocation] = word;
    return reports;
}

fn note(bad_row_complement: u32) {
    if bad_row_complement != 0u {
        atomicAdd(&report.bad_row_count, 1u);
        atomicMax(&report.first_bad_row_complement, bad_row_complement);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_vec4(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_units_vec4(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_vec4_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    note(gather_units_vec4(invocation_of(workgroup, local)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_words(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_units_words(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_words_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    note(gather_units_words(invocation_of(workgroup, local)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_bytes(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_word_of_bytes(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_bytes_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let reports = gather_word_of_bytes(invocation_of(workgroup, local));
    note(reports.x);
    note(reports.y);
    note(reports.z);
    note(reports.w);
}

// One invocation, behind the gather: copies the index row of the smallest bad row into the report.
@compute @workgroup_size(1)
fn copy_first_bad_row() {
    let complement = atomicLoad(&report.first_bad_row_complement);
    if complement == 0u {
        return;
    }
    let words = window.index_depth * INDEX_WORDS;
    for (var word = 0u; word < words; word++) {
        report.index[word] = indices[~complement * words + word];
    }
}
