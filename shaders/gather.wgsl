// gather and gather_nd, one formula:
//
//   output[b][o][n][s] = params[b][o][ row(b, n) ][s]       0 in every s of a row that is out of range
//   row(b, n)          = ((index_0 * dim_1 + index_1) * dim_2 + index_2) ...
//
// with index_k = indices[b][n][k] and dim_k = indexed_dims[k]. (b, o) together are called a part: the part
// of params that index_count output rows share.
//
// A dispatch does what its bindings hold: some output rows, and of them those whose params rows are bound.
// A row that is out of range, or not in params, belongs to the dispatch that binds the first row of its part. All numbers of
// rows are counted from the part of the first output row; where they may pass 32 bits, WIDE is set.
//
// binding | what
// --------+------------------------------------------------------------------------------------------------
//       0 | window   the sizes; slices are counted in units of the entry point: 16, 4 or 1 bytes
//       1 | params   read only
//       2 | indices  read only, as words; a 64-bit index is two, the low one first
//       3 | output   the bytes of the dispatch's rows are written, and no others
//       4 | report   entry points whose names end in _report: bad rows, and nothing else, write to it
//
// override       | meaning
// ---------------+-----------------------------------------------------------------------------------------
// WORKGROUP_SIZE | invocations of a workgroup
// INDEX_WORDS    | words of one index: 1 or 2
// INDEX_SIGNED   | an index may be below zero
// FROM_END       | an index below zero counts from the end of its dim
// WIDE           | params has, or an index row may select, more rows than 32 bits count
//
// gather_vec4 and gather_words: 2^lanes_log2 invocations share one slice, each takes every 2^lanes_log2-th
// unit of it. gather_bytes: one invocation writes one output word. No optional feature is needed.

struct GatherWindow {
    output_rows: u32,
    index_count: u32,
    outer_size: u32,
    // Where the first output row stands: its n and its o.
    first_index: u32,
    first_outer: u32,
    index_depth: u32,
    // Units of a slice, or of the part of it that the dispatch copies.
    slice_units: u32,
    // Invocations that share a slice.
    lanes_log2: u32,
    // The rows of each part that params holds: all of them, unless params is a shard.
    held_rows: vec2<u32>,
    first_row: vec2<u32>,
    // The params rows that are bound.
    params_first_row: vec2<u32>,
    params_rows: u32,
    // Where the first row of each operand lies in its binding: units, words, units.
    params_start: u32,
    indices_start: u32,
    output_start: u32,
    // Workgroups in one row of the dispatch.
    grid_width: u32,
    // Whether bad rows are reported; only one part of each slice does.
    reports: u32,
    // The index row that this dispatch counts index rows from.
    index_row_base: vec2<u32>,
    unused: vec2<u32>,
    // Low and high word of each dim.
    indexed_dims: array<vec4<u32>, 4>,
}

// All zero: no bad row.
struct BadRowReport {
    // Low and high word.
    bad_row_count: array<atomic<u32>, 2>,
    // The complement of the smallest bad row of a dispatch, so that the largest complement names it.
    first_bad_row_complement: atomic<u32>,
    // Whether the first bad row is known: dispatches come in the order of rows.
    found: u32,
    first_bad_row: array<u32, 2>,
    // The words of its index row.
    index: array<u32, 16>,
}

override WORKGROUP_SIZE: u32 = 64u;
override INDEX_WORDS: u32 = 1u;
override INDEX_SIGNED: bool = true;
override FROM_END: bool = false;
override WIDE: bool = false;

@group(0) @binding(0) var<uniform> window: GatherWindow;
@group(0) @binding(1) var<storage, read> params_vec4: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> params_words: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> output_vec4: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> output_words: array<u32>;
@group(0) @binding(4) var<storage, read_write> report: BadRowReport;

// 64-bit numbers, the low word first.

fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// The high word of a product of two words, from products of half words.
fn multiply_high(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle_0 = (a & 0xffffu) * (b >> 16u);
    let middle_1 = (a >> 16u) * (b & 0xffffu);
    let carry = (low >> 16u) + (middle_0 & 0xffffu) + (middle_1 & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle_0 >> 16u) + (middle_1 >> 16u) + (carry >> 16u);
}

// Of rows, whose number fits in one word unless WIDE.
fn multiply(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if WIDE {
        return vec2<u32>(a.x * b.x, multiply_high(a.x, b.x) + a.x * b.y + a.y * b.x);
    }
    return vec2<u32>(a.x * b.x, 0u);
}

struct Position {
    in_range: bool,
    at: vec2<u32>,
}

// Where index value `place` of indices lies in a dim. At full width: as numbers without a sign, those
// below zero are larger than any dim.
fn resolve(place: u32, dim: vec2<u32>) -> Position {
    let low = indices[place * INDEX_WORDS + window.indices_start];
    var high = 0u;
    if INDEX_WORDS == 2u {
        high = indices[place * INDEX_WORDS + window.indices_start + 1u];
    } else if INDEX_SIGNED && low >= 0x80000000u {
        high = 0xffffffffu;
    }
    var at = vec2<u32>(low, high);
    if FROM_END && INDEX_SIGNED && high >= 0x80000000u {
        at = add(at, dim);
    }
    return Position(less(at, dim), at);
}

// What one output row is made from.
struct Source {
    // The row is this dispatch's to write.
    bound: bool,
    // The row is in range and in params; else its slice is zero.
    held: bool,
    // Counted from the first row that is bound.
    params_row: u32,
    // For the report: the complement of a bad index row, in its first part only; else 0.
    bad_row_complement: u32,
}

fn is_bound(params_row: vec2<u32>) -> bool {
    return params_row.y == 0u && params_row.x < window.params_rows;
}

fn source_of(output_row: u32) -> Source {
    let index = window.first_index + output_row;
    let part = index / window.index_count;
    let outer = window.first_outer + part;
    let batch = outer / window.outer_size;
    let index_row = batch * window.index_count + (index - part * window.index_count);
    var in_range = true;
    var row = vec2<u32>();
    for (var k = 0u; k < window.index_depth; k++) {
        let dims = window.indexed_dims[k / 2u];
        let dim = select(dims.xy, dims.zw, k % 2u == 1u);
        let position = resolve(index_row * window.index_depth + k, dim);
        in_range = in_range && position.in_range;
        row = add(multiply(row, dim), position.at);
    }
    let held_row = subtract(row, window.first_row);
    let held = in_range && less(held_row, window.held_rows);
    let part_start = subtract(multiply(vec2<u32>(part, 0u), window.held_rows), window.params_first_row);
    let bound = is_bound(select(part_start, add(part_start, held_row), held));
    let params_row = part_start.x + held_row.x;
    let reports = window.reports == 1u && bound && !in_range && outer == batch * window.outer_size;
    return Source(bound, held, params_row, select(0u, ~index_row, reports));
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
    if !source.bound {
        return 0u;
    }
    let params_start = window.params_start + source.params_row * window.slice_units;
    let output_start = window.output_start + output_row * window.slice_units;
    for (var unit = lane; unit < window.slice_units; unit += lanes) {
        var value = vec4<u32>();
        if source.held {
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
    if !source.bound {
        return 0u;
    }
    let params_start = window.params_start + source.params_row * window.slice_units;
    let output_start = window.output_start + output_row * window.slice_units;
    for (var unit = lane; unit < window.slice_units; unit += lanes) {
        var value = 0u;
        if source.held {
            value = params_words[params_start + unit];
        }
        output_words[output_start + unit] = value;
    }
    return select(0u, source.bad_row_complement, lane == 0u);
}

// One output word, byte by byte: up to four slices begin in it. Returns what each byte has to report: the
// first byte of a slice speaks for its row.
fn gather_word_of_bytes(invocation: u32) -> vec4<u32> {
    let output_end = window.output_start + window.output_rows * window.slice_units;
    let word_start = (window.output_start / 4u + invocation) * 4u;
    if word_start >= output_end {
        return vec4<u32>();
    }
    let start = max(word_start, window.output_start);
    let end = min(word_start + 4u, output_end);
    var output_row = (start - window.output_start) / window.slice_units;
    var in_slice = (start - window.output_start) - output_row * window.slice_units;
    var source = source_of(output_row);
    var word = 0u;
    var written = 0u;
    var reports = vec4<u32>();
    for (var at = start; at < end; at++) {
        if in_slice == window.slice_units {
            in_slice = 0u;
            output_row += 1u;
            source = source_of(output_row);
        }
        let byte = at - word_start;
        if in_slice == 0u {
            reports[byte] = source.bad_row_complement;
        }
        if source.bound {
            written |= 0xffu << (byte * 8u);
        }
        if source.bound && source.held {
            let place = window.params_start + source.params_row * window.slice_units + in_slice;
            let value = (params_words[place / 4u] >> (place % 4u * 8u)) & 0xffu;
            word |= value << (byte * 8u);
        }
        in_slice += 1u;
    }
    if written == 0xffffffffu {
        output_words[word_start / 4u] = word;
    } else if written != 0u {
        output_words[word_start / 4u] = word | (output_words[word_start / 4u] & ~written);
    }
    return reports;
}

fn note(bad_row_complement: u32) {
    if bad_row_complement != 0u {
        if atomicAdd(&report.bad_row_count[0], 1u) == 0xffffffffu {
            atomicAdd(&report.bad_row_count[1], 1u);
        }
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

// One invocation, behind each gather: copies the index row of the smallest bad row into the report, unless
// an earlier dispatch has had one.
@compute @workgroup_size(1)
fn copy_first_bad_row() {
    let complement = atomicLoad(&report.first_bad_row_complement);
    if complement == 0u || report.found == 1u {
        return;
    }
    let first_bad_row = add(window.index_row_base, vec2<u32>(~complement, 0u));
    report.found = 1u;
    report.first_bad_row[0] = first_bad_row.x;
    report.first_bad_row[1] = first_bad_row.y;
    let words = window.index_depth * INDEX_WORDS;
    for (var word = 0u; word < words; word++) {
        report.index[word] = indices[~complement * words + window.indices_start + word];
    }
}
