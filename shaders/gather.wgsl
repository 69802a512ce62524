// gather and gather_nd, one formula:
//
//   output[b][o][n][s] = params[b][o][ row(b, n) ][s]       0, or a fill, in every s of a row that is out of range
//   row(b, n)          = ((index_0 * dim_1 + index_1) * dim_2 + index_2) ...
//
//                    = index_0 * index_stride + place(n)                    gather_elements
//
// with index_k = indices[b][n][k] and dim_k = indexed_dims[k], and for place(n) the coordinates that n has in
// place_dims, each times its stride, added up. (b, o) together are called a part: the part
// of params that index_count output rows share.
//
// A dispatch does what its bindings hold: some output rows, and of them those whose params rows are bound.
// A row that is out of range, or not in params, belongs to the dispatch that binds the first row of its part. All numbers of
// rows are counted from the part of the first output row; where they may pass 32 bits, WIDE is set.
//
// binding | what
// --------+------------------------------------------------------------------------------------------------
//       0 | window   the sizes; slices are counted in units of the entry point: 16, 8, 4 or 1 bytes
//       1 | params   read only
//       2 | indices  read only, as words; a 64-bit index is two, the low one first
//       3 | output   the bytes of the dispatch's rows are written, and no others
//       4 | notes    entry points whose names end in _report: of bad rows; with a report of their own, of all invocations
//       5 | report   entry points whose names end in _own_report: written whole
//
// report_bad_rows, behind each dispatch of an entry point that binds notes and no report, binds window, indices, notes
// and report, writes it whole behind the first of them, by bad rows behind the others, and leaves the notes zero. Entry
// points with a report of their own are for few rows in one dispatch: each invocation counts itself in the notes, and
// the last one leaves them zero.
//
// count_rows alone binds these in place of them: how many rows there are is known on the device only, so it
// decides how many rows of a dispatch, and workgroups for them, there will be.
//
//       6 | count    read only
//       7 | counted  the window of the dispatch
//       8 | grid     the workgroups of the dispatch
//
// override       | meaning
// ---------------+-----------------------------------------------------------------------------------------
// WORKGROUP_SIZE | invocations of a workgroup
// INDEX_WORDS    | words of one index: 1 or 2
// INDEX_SIGNED   | an index may be below zero
// FROM_END       | an index below zero counts from the end of its dim
// CLAMP          | an index that is out of range stands for the nearest one that is not
// FILL           | a row that is out of range holds the fill, not zeros
// PLACES         | gather_elements: what an index row selects depends on its place too
// WIDE           | params has, or an index row may select, more rows than 32 bits count
// ONE_PART       | all output rows are of one part of params, of which all rows are bound; not where WIDE
// INDEX_DEPTH    | values of an index row: 1 or 2, for entry points of groups alone
// ONE_UNIT       | slices have one unit, for entry points of groups alone
// ONE_GROUP      | an invocation has one group, of slices of one unit, for entry points of groups alone
//
// gather_vec4, gather_vec2 and gather_words: 2^lanes_log2 invocations share one slice, each takes every
// 2^lanes_log2-th unit of it. gather_groups_vec4, gather_groups_vec2 and gather_groups_words: an invocation takes
// groups of four rows, whose indices it loads together and whose slices it has in flight together; slices of one
// unit two groups at a time. gather_packed_words: four groups at a time of slices of one word, four of which it
// stores together. Slices of 8 and 16 bytes with a fill are taken one group at a time: twice the code for it took
// one compiler more than ten minutes. Groups are whole, are of one part each, and of PLACES differ in the innermost
// coordinate alone; all params rows of their parts are bound. gather_bytes: one invocation writes one output word.
// No optional feature is needed.

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
    // Groups of an invocation.
    groups: u32,
    // The words of the fill, which repeats itself, and the one that the part of the slice starts with.
    fill_words: u32,
    fill_start: u32,
    // What n counts from: 0, unless all output rows are of one part.
    first_n: u32,
    // For PLACES.
    index_stride: u32,
    place_dim_count: u32,
    // What output_rows is at most, and whether units are bytes: 0 in entry points of groups, which no compiler knows.
    most_output_rows: u32,
    of_bytes: u32,
    // Whether the report is this dispatch's to begin.
    begins_report: u32,
    // Invocations that gather, where the last of them to end writes the report.
    reporters: u32,
    // Low and high word of each dim.
    indexed_dims: array<vec4<u32>, 4>,
    fill: array<vec4<u32>, 4>,
    // Size and stride of each, innermost first.
    place_dims: array<vec4<u32>, 4>,
}

// The bad rows of one dispatch, zero before it and behind its report.
struct BadRowNotes {
    // Beside the invocations that ended, where the dispatch writes its report itself.
    count: atomic<u32>,
    // The complement of the smallest, so that the largest complement names it.
    first_complement: atomic<u32>,
}

// All zero: no bad row.
struct BadRowReport {
    // Low and high word.
    bad_row_count: vec2<u32>,
    first_bad_row: vec2<u32>,
    // The words of its index row.
    index: array<u32, 16>,
}

override WORKGROUP_SIZE: u32 = 64u;
override INDEX_WORDS: u32 = 1u;
override INDEX_SIGNED: bool = true;
override FROM_END: bool = false;
override CLAMP: bool = false;
override FILL: bool = false;
override PLACES: bool = false;
override WIDE: bool = false;
override ONE_PART: bool = false;
override INDEX_DEPTH: u32 = 1u;
override ONE_UNIT: bool = false;
override ONE_GROUP: bool = false;

@group(0) @binding(0) var<uniform> window: GatherWindow;
@group(0) @binding(1) var<storage, read> params_vec4: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> params_vec2: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> params_words: array<u32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> indices_vec4: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> output_vec4: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> output_vec2: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> output_words: array<u32>;
@group(0) @binding(4) var<storage, read_write> notes: BadRowNotes;
@group(0) @binding(5) var<storage, read_write> report: BadRowReport;
@group(0) @binding(6) var<storage, read> count: u32;
@group(0) @binding(7) var<storage, read_write> counted: GatherWindow;
@group(0) @binding(8) var<storage, read_write> grid: array<u32, 3>;

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
    if !WIDE {
        return vec2<u32>(a.x * b.x, 0u);
    }
    return vec2<u32>(a.x * b.x, multiply_high(a.x, b.x) + a.x * b.y + a.y * b.x);
}

// Index value `place` of indices: its low word and its high one, which holds the sign.
fn index_value(place: u32) -> vec2<u32> {
    let word = window.indices_start + place * INDEX_WORDS;
    let low = indices[word];
    if INDEX_WORDS == 2u {
        return vec2<u32>(low, indices[word + 1u]);
    }
    return vec2<u32>(low, select(0u, 0xffffffffu, INDEX_SIGNED && low >= 0x80000000u));
}

fn place_dim(k: u32) -> vec2<u32> {
    let dims = window.place_dims[k / 2u];
    return select(dims.xy, dims.zw, k % 2u == 1u);
}

// What the place of an index row in its batch adds to the row that it selects: as a batch of PLACES, one word.
fn place_of(n: u32) -> u32 {
    var rest = n;
    var place = 0u;
    let outermost = window.place_dim_count - 1u;
    for (var k = 0u; k < outermost; k++) {
        let dim = place_dim(k);
        let outer = rest / dim.x;
        place += (rest - outer * dim.x) * dim.y;
        rest = outer;
    }
    return place + rest * place_dim(outermost).y;
}

fn indexed_dim(k: u32) -> vec2<u32> {
    let dims = window.indexed_dims[k / 2u];
    return select(dims.xy, dims.zw, k % 2u == 1u);
}

// The row of its part that an index row selects.
struct Selected {
    in_range: bool,
    row: vec2<u32>,
}

// Values are compared at full width: as numbers without a sign, those below zero are larger than any dim.
// n is the index row counted in its batch.
fn selected_by(index_row: u32, n: u32) -> Selected {
    var in_range = true;
    var row = vec2<u32>();
    for (var k = 0u; k < window.index_depth; k++) {
        let dim = indexed_dim(k);
        var at = index_value(index_row * window.index_depth + k);
        let is_negative = INDEX_SIGNED && at.y >= 0x80000000u;
        let from_end = FROM_END && is_negative;
        if WIDE {
            at = select(at, add(at, dim), from_end);
            if CLAMP && !less(at, dim) {
                at = select(subtract(dim, vec2<u32>(1u, 0u)), vec2<u32>(), is_negative);
            }
            in_range = in_range && less(at, dim);
            row = add(multiply(row, dim), at);
        } else {
            // Dims have one word. What is below zero by no more than a dim wraps around to below the dim.
            at = select(at, vec2<u32>(at.x + dim.x, ~at.y), from_end);
            if CLAMP && (at.y != 0u || at.x >= dim.x) {
                at = vec2<u32>(select(dim.x - 1u, 0u, is_negative), 0u);
            }
            in_range = in_range && at.y == 0u && at.x < dim.x;
            row.x = row.x * dim.x + at.x;
        }
    }
    if PLACES {
        row = vec2<u32>(row.x * window.index_stride + place_of(n), 0u);
    }
    return Selected(in_range, row);
}

// What one output row is made from.
struct Source {
    // The row is this dispatch's to write.
    bound: bool,
    // The row is in range and in params; else its slice is zero, or the fill.
    held: bool,
    in_range: bool,
    // Counted from the first row that is bound.
    params_row: u32,
    // For the report: the complement of a bad index row, in its first part only; else 0.
    bad_row_complement: u32,
}

fn is_bound(params_row: vec2<u32>) -> bool {
    return params_row.y == 0u && params_row.x < window.params_rows;
}

fn source_of(output_row: u32) -> Source {
    if ONE_PART {
        let selected = selected_by(output_row, window.first_n + output_row);
        let held_row = selected.row.x - window.first_row.x;
        let held = selected.in_range && held_row < window.held_rows.x;
        let reports = window.reports == 1u && !selected.in_range && window.first_outer == 0u;
        return Source(true, held, selected.in_range, held_row, select(0u, ~output_row, reports));
    }
    let index = window.first_index + output_row;
    let part = index / window.index_count;
    let outer = window.first_outer + part;
    let batch = outer / window.outer_size;
    let n = index - part * window.index_count;
    let index_row = batch * window.index_count + n;
    let selected = selected_by(index_row, window.first_n + n);
    let held_row = subtract(selected.row, window.first_row);
    let held = selected.in_range && less(held_row, window.held_rows);
    let part_start = subtract(multiply(vec2<u32>(part, 0u), window.held_rows), window.params_first_row);
    let bound = is_bound(select(part_start, add(part_start, held_row), held));
    let params_row = part_start.x + held_row.x;
    let is_first_outer = outer == batch * window.outer_size;
    let reports = window.reports == 1u && bound && !selected.in_range && is_first_outer;
    return Source(bound, held, selected.in_range, params_row, select(0u, ~index_row, reports));
}

// What an invocation has to report: how many bad rows, and the complement of the smallest.
struct Noted {
    count: u32,
    first_complement: u32,
}

fn with_row(noted: Noted, bad_row_complement: u32) -> Noted {
    let count = noted.count + select(0u, 1u, bad_row_complement != 0u);
    return Noted(count, max(noted.first_complement, bad_row_complement));
}

// A word of a slice that is not held.
fn absent_word(word: u32, in_range: bool) -> u32 {
    if FILL && !in_range {
        let at = (window.fill_start + word) % window.fill_words;
        return window.fill[at / 4u][at % 4u];
    }
    return 0u;
}

fn absent_vec4(unit: u32, in_range: bool) -> vec4<u32> {
    if FILL {
        let word = unit * 4u;
        return vec4<u32>(
            absent_word(word, in_range),
            absent_word(word + 1u, in_range),
            absent_word(word + 2u, in_range),
            absent_word(word + 3u, in_range),
        );
    }
    return vec4<u32>();
}

fn absent_vec2(unit: u32, in_range: bool) -> vec2<u32> {
    if FILL {
        let word = unit * 2u;
        return vec2<u32>(absent_word(word, in_range), absent_word(word + 1u, in_range));
    }
    return vec2<u32>();
}

fn invocation_of(workgroup: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * window.grid_width + workgroup.x) * WORKGROUP_SIZE + local;
}

// The share of one invocation in one slice of 16-byte units. Returns what it has to report.
fn gather_units_vec4(invocation: u32) -> Noted {
    let output_row = invocation >> window.lanes_log2;
    if output_row >= window.output_rows {
        return Noted();
    }
    let lanes = 1u << window.lanes_log2;
    let lane = invocation & (lanes - 1u);
    let source = source_of(output_row);
    if !source.bound {
        return Noted();
    }
    // The first slice stands in for one that is not held.
    let from_row = select(0u, source.params_row, source.held);
    let params_start = window.params_start + from_row * window.slice_units;
    let output_start = window.output_start + output_row * window.slice_units;
    var unit = lane;
    // Four in flight at once; with a fill, what that takes would be four times the code.
    if !FILL {
        for (; unit + 3u * lanes < window.slice_units; unit += 4u * lanes) {
            let units = vec4<u32>(unit) + vec4<u32>(0u, 1u, 2u, 3u) * lanes;
            let a = params_vec4[params_start + units.x];
            let b = params_vec4[params_start + units.y];
            let c = params_vec4[params_start + units.z];
            let d = params_vec4[params_start + units.w];
            output_vec4[output_start + units.x] = select(vec4<u32>(), a, source.held);
            output_vec4[output_start + units.y] = select(vec4<u32>(), b, source.held);
            output_vec4[output_start + units.z] = select(vec4<u32>(), c, source.held);
            output_vec4[output_start + units.w] = select(vec4<u32>(), d, source.held);
        }
    }
    for (; unit < window.slice_units; unit += lanes) {
        output_vec4[output_start + unit] = select(absent_vec4(unit, source.in_range), params_vec4[params_start + unit], source.held);
    }
    return with_row(Noted(), select(0u, source.bad_row_complement, lane == 0u));
}

// The same for 8-byte units.
fn gather_units_vec2(invocation: u32) -> Noted {
    let output_row = invocation >> window.lanes_log2;
    if output_row >= window.output_rows {
        return Noted();
    }
    let lanes = 1u << window.lanes_log2;
    let lane = invocation & (lanes - 1u);
    let source = source_of(output_row);
    if !source.bound {
        return Noted();
    }
    // The first slice stands in for one that is not held.
    let from_row = select(0u, source.params_row, source.held);
    let params_start = window.params_start + from_row * window.slice_units;
    let output_start = window.output_start + output_row * window.slice_units;
    var unit = lane;
    if !FILL {
        for (; unit + 3u * lanes < window.slice_units; unit += 4u * lanes) {
            let units = vec4<u32>(unit) + vec4<u32>(0u, 1u, 2u, 3u) * lanes;
            let a = params_vec2[params_start + units.x];
            let b = params_vec2[params_start + units.y];
            let c = params_vec2[params_start + units.z];
            let d = params_vec2[params_start + units.w];
            output_vec2[output_start + units.x] = select(vec2<u32>(), a, source.held);
            output_vec2[output_start + units.y] = select(vec2<u32>(), b, source.held);
            output_vec2[output_start + units.z] = select(vec2<u32>(), c, source.held);
            output_vec2[output_start + units.w] = select(vec2<u32>(), d, source.held);
        }
    }
    for (; unit < window.slice_units; unit += lanes) {
        output_vec2[output_start + unit] = select(absent_vec2(unit, source.in_range), params_vec2[params_start + unit], source.held);
    }
    return with_row(Noted(), select(0u, source.bad_row_complement, lane == 0u));
}

// The same for 4-byte units.
fn gather_units_words(invocation: u32) -> Noted {
    let output_row = invocation >> window.lanes_log2;
    if output_row >= window.output_rows {
        return Noted();
    }
    let lanes = 1u << window.lanes_log2;
    let lane = invocation & (lanes - 1u);
    let source = source_of(output_row);
    if !source.bound {
        return Noted();
    }
    // The first slice stands in for one that is not held.
    let from_row = select(0u, source.params_row, source.held);
    let params_start = window.params_start + from_row * window.slice_units;
    let output_start = window.output_start + output_row * window.slice_units;
    var unit = lane;
    if !FILL {
        for (; unit + 3u * lanes < window.slice_units; unit += 4u * lanes) {
            let units = vec4<u32>(unit) + vec4<u32>(0u, 1u, 2u, 3u) * lanes;
            let a = params_words[params_start + units.x];
            let b = params_words[params_start + units.y];
            let c = params_words[params_start + units.z];
            let d = params_words[params_start + units.w];
            output_words[output_start + units.x] = select(0u, a, source.held);
            output_words[output_start + units.y] = select(0u, b, source.held);
            output_words[output_start + units.z] = select(0u, c, source.held);
            output_words[output_start + units.w] = select(0u, d, source.held);
        }
    }
    for (; unit < window.slice_units; unit += lanes) {
        output_words[output_start + unit] = select(absent_word(unit, source.in_range), params_words[params_start + unit], source.held);
    }
    return with_row(Noted(), select(0u, source.bad_row_complement, lane == 0u));
}

// select, which GLSL has for such vectors from 4.50 on only: GL 4.3 and 4.4 refuse it.
fn select_each(if_false: vec4<u32>, if_true: vec4<u32>, condition: vec4<bool>) -> vec4<u32> {
    return vec4<u32>(
        select(if_false.x, if_true.x, condition.x),
        select(if_false.y, if_true.y, condition.y),
        select(if_false.z, if_true.z, condition.z),
        select(if_false.w, if_true.w, condition.w),
    );
}

// Index value k of four rows, from the first word of the first one on: the low words, and the high ones.
struct FourValues {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn four_values(first_word: u32, k: u32) -> FourValues {
    // As many vectors as a row has words.
    let at = first_word / 4u;
    var low: vec4<u32>;
    var high = vec4<u32>();
    if INDEX_DEPTH * INDEX_WORDS == 1u {
        low = indices_vec4[at];
    } else if INDEX_DEPTH * INDEX_WORDS == 2u {
        let a = indices_vec4[at];
        let b = indices_vec4[at + 1u];
        let first = vec4<u32>(a.xz, b.xz);
        let second = vec4<u32>(a.yw, b.yw);
        if INDEX_WORDS == 2u {
            low = first;
            high = second;
        } else {
            low = select(first, second, k == 1u);
        }
    } else {
        let a = indices_vec4[at];
        let b = indices_vec4[at + 1u];
        let c = indices_vec4[at + 2u];
        let d = indices_vec4[at + 3u];
        low = select(vec4<u32>(a.x, b.x, c.x, d.x), vec4<u32>(a.z, b.z, c.z, d.z), k == 1u);
        high = select(vec4<u32>(a.y, b.y, c.y, d.y), vec4<u32>(a.w, b.w, c.w, d.w), k == 1u);
    }
    if INDEX_WORDS == 1u && INDEX_SIGNED {
        high = select_each(vec4<u32>(), vec4<u32>(0xffffffffu), low >= vec4<u32>(0x80000000u));
    }
    return FourValues(low, high);
}

struct FourSources {
    held: vec4<bool>,
    // Of the first slice, where a row is not held.
    params_row: vec4<u32>,
    in_range: vec4<bool>,
    // For the report: the first index row, and whether the part is the first that it is of.
    index_row: u32,
    is_first_outer: bool,
}

// The same as source_of, for the rows of a group.
fn sources_of(group: u32) -> FourSources {
    let index = window.first_index + group * 4u;
    var part = 0u;
    var n = index;
    var index_row = index;
    var is_first_outer = window.first_outer == 0u;
    if !ONE_PART {
        part = index / window.index_count;
        let outer = window.first_outer + part;
        let batch = outer / window.outer_size;
        n = index - part * window.index_count;
        index_row = batch * window.index_count + n;
        is_first_outer = outer == batch * window.outer_size;
    }
    let first_word = window.indices_start + index_row * (INDEX_DEPTH * INDEX_WORDS);
    var in_range = vec4<bool>(true);
    var row = vec4<u32>();
    for (var k = 0u; k < INDEX_DEPTH; k++) {
        let dim = vec4<u32>(select(window.indexed_dims[0].x, window.indexed_dims[0].z, k == 1u));
        let value = four_values(first_word, k);
        var low = value.low;
        var high = value.high;
        if FROM_END && INDEX_SIGNED {
            let from_end = high >= vec4<u32>(0x80000000u);
            low = select_each(low, low + dim, from_end);
            high = select_each(high, ~high, from_end);
        }
        if CLAMP {
            let is_inside = (high == vec4<u32>()) & (low < dim);
            let is_negative = vec4<bool>(INDEX_SIGNED) & (value.high >= vec4<u32>(0x80000000u));
            low = select_each(select_each(dim - vec4<u32>(1u), vec4<u32>(), is_negative), low, is_inside);
            high = vec4<u32>();
        }
        in_range = in_range & (high == vec4<u32>()) & (low < dim);
        row = row * dim + low;
    }
    if PLACES {
        let first_place = place_of(window.first_n + n);
        let places = vec4<u32>(first_place) + vec4<u32>(0u, 1u, 2u, 3u) * place_dim(0u).y;
        row = row * window.index_stride + places;
    }
    let held_row = row - vec4<u32>(window.first_row.x);
    let held = in_range & (held_row < vec4<u32>(window.held_rows.x));
    let params_row = select_each(vec4<u32>(), held_row + vec4<u32>(part * window.held_rows.x), held);

    return FourSources(held, params_row, in_range, index_row, is_first_outer);
}

// The groups of an invocation: from this one on, up to that one.
fn groups_of(invocation: u32) -> vec2<u32> {
    let groups = select(window.groups, 1u, ONE_GROUP);
    let first = invocation * groups;
    return vec2<u32>(first, min(first + groups, window.output_rows / 4u));
}

// What an invocation has to report of a group.
fn with_bad_rows_of(noted: Noted, group: u32) -> Noted {
    let sources = sources_of(group);
    var with_rows = noted;
    for (var r = 0u; r < 4u; r++) {
        let reports = window.reports == 1u && sources.is_first_outer && !sources.in_range[r];
        with_rows = with_row(with_rows, select(0u, ~(sources.index_row + r), reports));
    }
    return with_rows;
}

// What it has to report of its groups. Looks at the rows again, which none but one that has a bad row has to.
fn bad_rows_of(invocation: u32, has_bad_rows: bool) -> Noted {
    let groups = groups_of(invocation);
    var noted = Noted();
    for (var group = groups.x; has_bad_rows && group < groups.y; group++) {
        noted = with_bad_rows_of(noted, group);
        if ONE_GROUP {
            break;
        }
    }
    return noted;
}

// Units of a slice, which compilers know of where there is one.
fn group_slice_units() -> u32 {
    return select(window.slice_units, 1u, ONE_UNIT);
}

// The first unit of each slice of a group.
fn params_starts(sources: FourSources) -> vec4<u32> {
    return vec4<u32>(window.params_start) + sources.params_row * group_slice_units();
}

// The first unit of the first slice.
fn output_start(group: u32) -> u32 {
    return window.output_start + group * 4u * group_slice_units();
}

// One unit of each slice of a group: of 16 bytes.
struct FourVec4 {
    a: vec4<u32>,
    b: vec4<u32>,
    c: vec4<u32>,
    d: vec4<u32>,
}

fn load_four_vec4(at: vec4<u32>) -> FourVec4 {
    return FourVec4(params_vec4[at.x], params_vec4[at.y], params_vec4[at.z], params_vec4[at.w]);
}

// 0, once the first word of each of these units is there. Where a core runs the shader, slices that come from memory
// are waited for together as far as their loads fit in what the core has under way, and of loads of single words more
// fit than of loads of whole units.
fn touched(at: vec4<u32>) -> vec4<u32> {
    let words = vec4<u32>(params_vec4[at.x].x, params_vec4[at.y].x, params_vec4[at.z].x, params_vec4[at.w].x);
    return words & vec4<u32>(window.of_bytes);
}

fn store_four_vec4(at: u32, unit: u32, sources: FourSources, value: FourVec4) {
    let in_range = sources.in_range;
    output_vec4[at] = select(absent_vec4(unit, in_range.x), value.a, sources.held.x);
    output_vec4[at + group_slice_units()] = select(absent_vec4(unit, in_range.y), value.b, sources.held.y);
    output_vec4[at + 2u * group_slice_units()] = select(absent_vec4(unit, in_range.z), value.c, sources.held.z);
    output_vec4[at + 3u * group_slice_units()] = select(absent_vec4(unit, in_range.w), value.d, sources.held.w);
}

// Gathers a group. Returns whether all of its rows are in range.
fn gather_group_of_vec4(group: u32) -> bool {
    let sources = sources_of(group);
    var starts = params_starts(sources);
    if !ONE_UNIT {
        starts += touched(starts);
    }
    let output_unit = output_start(group);
    for (var unit = 0u; unit < group_slice_units(); unit++) {
        store_four_vec4(output_unit + unit, unit, sources, load_four_vec4(starts + vec4<u32>(unit)));
    }
    return all(sources.in_range);
}

// The groups of one invocation. Returns whether one of the rows is bad.
fn gather_groups_of_vec4(invocation: u32) -> bool {
    let groups = groups_of(invocation);
    if ONE_GROUP {
        return groups.x < groups.y && !gather_group_of_vec4(groups.x);
    }
    var bad = 0u;
    var group = groups.x;
    if ONE_UNIT && !FILL {
        for (; group + 1u < groups.y; group += 2u) {
            let first = sources_of(group);
            let second = sources_of(group + 1u);
            let of_first = load_four_vec4(params_starts(first));
            let of_second = load_four_vec4(params_starts(second));
            store_four_vec4(output_start(group), 0u, first, of_first);
            store_four_vec4(output_start(group + 1u), 0u, second, of_second);
            bad |= select(1u, 0u, all(first.in_range & second.in_range));
        }
    }
    for (; group < groups.y; group++) {
        bad |= select(1u, 0u, gather_group_of_vec4(group));
    }
    return bad != 0u;
}

// The same of 8 bytes.
struct FourVec2 {
    a: vec2<u32>,
    b: vec2<u32>,
    c: vec2<u32>,
    d: vec2<u32>,
}

fn load_four_vec2(at: vec4<u32>) -> FourVec2 {
    return FourVec2(params_vec2[at.x], params_vec2[at.y], params_vec2[at.z], params_vec2[at.w]);
}

fn store_four_vec2(at: u32, unit: u32, sources: FourSources, value: FourVec2) {
    let in_range = sources.in_range;
    output_vec2[at] = select(absent_vec2(unit, in_range.x), value.a, sources.held.x);
    output_vec2[at + group_slice_units()] = select(absent_vec2(unit, in_range.y), value.b, sources.held.y);
    output_vec2[at + 2u * group_slice_units()] = select(absent_vec2(unit, in_range.z), value.c, sources.held.z);
    output_vec2[at + 3u * group_slice_units()] = select(absent_vec2(unit, in_range.w), value.d, sources.held.w);
}

fn gather_group_of_vec2(group: u32) -> bool {
    let sources = sources_of(group);
    let starts = params_starts(sources);
    let output_unit = output_start(group);
    for (var unit = 0u; unit < group_slice_units(); unit++) {
        store_four_vec2(output_unit + unit, unit, sources, load_four_vec2(starts + vec4<u32>(unit)));
    }
    return all(sources.in_range);
}

fn gather_groups_of_vec2(invocation: u32) -> bool {
    let groups = groups_of(invocation);
    var bad = 0u;
    var group = groups.x;
    if ONE_UNIT && !FILL {
        for (; group + 1u < groups.y; group += 2u) {
            let first = sources_of(group);
            let second = sources_of(group + 1u);
            let of_first = load_four_vec2(params_starts(first));
            let of_second = load_four_vec2(params_starts(second));
            store_four_vec2(output_start(group), 0u, first, of_first);
            store_four_vec2(output_start(group + 1u), 0u, second, of_second);
            bad |= select(1u, 0u, all(first.in_range & second.in_range));
        }
    }
    for (; group < groups.y; group++) {
        bad |= select(1u, 0u, gather_group_of_vec2(group));
    }
    return bad != 0u;
}

// The same of 4 bytes.
struct FourWords {
    a: u32,
    b: u32,
    c: u32,
    d: u32,
}

fn load_four_words(at: vec4<u32>) -> FourWords {
    return FourWords(params_words[at.x], params_words[at.y], params_words[at.z], params_words[at.w]);
}

fn store_four_words(at: u32, unit: u32, sources: FourSources, value: FourWords) {
    let in_range = sources.in_range;
    output_words[at] = select(absent_word(unit, in_range.x), value.a, sources.held.x);
    output_words[at + group_slice_units()] = select(absent_word(unit, in_range.y), value.b, sources.held.y);
    output_words[at + 2u * group_slice_units()] = select(absent_word(unit, in_range.z), value.c, sources.held.z);
    output_words[at + 3u * group_slice_units()] = select(absent_word(unit, in_range.w), value.d, sources.held.w);
}

fn gather_groups_of_words(invocation: u32) -> bool {
    let groups = groups_of(invocation);
    var bad = 0u;
    for (var group = groups.x; group < groups.y; group++) {
        let sources = sources_of(group);
        let starts = params_starts(sources);
        let output_unit = output_start(group);
        for (var unit = 0u; unit < group_slice_units(); unit++) {
            store_four_words(output_unit + unit, unit, sources, load_four_words(starts + vec4<u32>(unit)));
        }
        bad |= select(1u, 0u, all(sources.in_range));
    }
    return bad != 0u;
}

// The slices of a group, of one word each, as one vector.
fn load_packed(sources: FourSources) -> vec4<u32> {
    let words = load_four_words(params_starts(sources));
    return vec4<u32>(words.a, words.b, words.c, words.d);
}

// The fill of such slices is one word.
fn store_packed(group: u32, sources: FourSources, value: vec4<u32>) {
    var absent = vec4<u32>();
    if FILL {
        absent = select_each(vec4<u32>(window.fill[0].x), absent, sources.in_range);
    }
    output_vec4[output_start(group) / 4u] = select_each(absent, value, sources.held);
}

fn gather_packed_group(group: u32) -> bool {
    let sources = sources_of(group);
    store_packed(group, sources, load_packed(sources));
    return all(sources.in_range);
}

fn gather_packed_groups(invocation: u32) -> bool {
    let groups = groups_of(invocation);
    if ONE_GROUP {
        return groups.x < groups.y && !gather_packed_group(groups.x);
    }
    var bad = 0u;
    var group = groups.x;
    for (; group + 3u < groups.y; group += 4u) {
        let first = sources_of(group);
        let second = sources_of(group + 1u);
        let third = sources_of(group + 2u);
        let fourth = sources_of(group + 3u);
        let of_first = load_packed(first);
        let of_second = load_packed(second);
        let of_third = load_packed(third);
        let of_fourth = load_packed(fourth);
        store_packed(group, first, of_first);
        store_packed(group + 1u, second, of_second);
        store_packed(group + 2u, third, of_third);
        store_packed(group + 3u, fourth, of_fourth);
        let in_range = first.in_range & second.in_range & third.in_range & fourth.in_range;
        bad |= select(1u, 0u, all(in_range));
    }
    for (; group < groups.y; group++) {
        bad |= select(1u, 0u, gather_packed_group(group));
    }
    return bad != 0u;
}

// One output word, byte by byte: up to four slices begin in it. Returns what it has to report: the
// first byte of a slice speaks for its row.
fn gather_word_of_bytes(invocation: u32) -> Noted {
    let output_end = window.output_start + window.output_rows * window.slice_units;
    let word_start = (window.output_start / 4u + invocation) * 4u;
    if word_start >= output_end {
        return Noted();
    }
    let start = max(word_start, window.output_start);
    let end = min(word_start + 4u, output_end);
    var output_row = (start - window.output_start) / window.slice_units;
    var in_slice = (start - window.output_start) - output_row * window.slice_units;
    var source = source_of(output_row);
    var word = 0u;
    var written = 0u;
    var noted = Noted();
    for (var at = start; at < end; at++) {
        if in_slice == window.slice_units {
            in_slice = 0u;
            output_row += 1u;
            source = source_of(output_row);
        }
        let byte = at - word_start;
        if in_slice == 0u {
            noted = with_row(noted, source.bad_row_complement);
        }
        if source.bound {
            written |= 0xffu << (byte * 8u);
        }
        if source.bound && source.held {
            let place = window.params_start + source.params_row * window.slice_units + in_slice;
            let value = (params_words[place / 4u] >> (place % 4u * 8u)) & 0xffu;
            word |= value << (byte * 8u);
        } else if FILL && source.bound {
            let value = (absent_word(in_slice / 4u, source.in_range) >> (in_slice % 4u * 8u)) & 0xffu;
            word |= value << (byte * 8u);
        }
        in_slice += 1u;
    }
    if written == 0xffffffffu {
        output_words[word_start / 4u] = word;
    } else if written != 0u {
        output_words[word_start / 4u] = word | (output_words[word_start / 4u] & ~written);
    }
    return noted;
}

fn note(noted: Noted) {
    if noted.count != 0u {
        atomicAdd(&notes.count, noted.count);
        atomicMax(&notes.first_complement, noted.first_complement);
    }
}

// Counts an invocation of a dispatch that writes its report itself, in the notes: in the lower half of a word those that
// have ended, in the upper half their bad rows. The last one leaves the notes zero and begins the report. Returns for
// it how many rows are bad, for the others 0. One word, since what an invocation sees of two may be of two times.
fn bad_rows_at_the_end(bad_rows: u32) -> u32 {
    let ended = (bad_rows << 16u) + 1u;
    let all_ended = atomicAdd(&notes.count, ended) + ended;
    if (all_ended & 0xffffu) != window.reporters {
        return 0u;
    }
    atomicStore(&notes.count, 0u);
    report = BadRowReport();
    return all_ended >> 16u;
}

fn report_bad_rows_of(bad_rows: u32, first: u32) {
    report.bad_row_count = vec2<u32>(bad_rows, 0u);
    report.first_bad_row = add(window.index_row_base, vec2<u32>(first, 0u));
}

// Once an invocation has taken its rows one by one: the last one looks for the first bad row.
fn end_of_rows(noted: Noted) {
    let bad_rows = bad_rows_at_the_end(noted.count);
    if bad_rows == 0u {
        return;
    }
    var complement = 0u;
    for (var output_row = 0u; complement == 0u && output_row < window.output_rows; output_row++) {
        complement = source_of(output_row).bad_row_complement;
    }
    report_bad_rows_of(bad_rows, ~complement);
    let words = window.index_depth * INDEX_WORDS;
    for (var word = 0u; word < words; word++) {
        report.index[word] = indices[~complement * words + window.indices_start + word];
    }
}

// The same in groups, whose indices are bound as vectors.
fn end_of_groups(noted: Noted) {
    let bad_rows = bad_rows_at_the_end(noted.count);
    if bad_rows == 0u {
        return;
    }
    var complement = 0u;
    for (var group = 0u; complement == 0u && group < window.output_rows / 4u; group++) {
        complement = with_bad_rows_of(Noted(), group).first_complement;
    }
    report_bad_rows_of(bad_rows, ~complement);
    let words = INDEX_DEPTH * INDEX_WORDS;
    for (var word = 0u; word < words; word++) {
        let at = ~complement * words + window.indices_start + word;
        report.index[word] = indices_vec4[at / 4u][at % 4u];
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
fn gather_vec4_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_rows(gather_units_vec4(invocation));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_vec2(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_units_vec2(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_vec2_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    note(gather_units_vec2(invocation_of(workgroup, local)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_vec2_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_rows(gather_units_vec2(invocation));
    }
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
fn gather_words_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_rows(gather_units_words(invocation));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_vec4(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_groups_of_vec4(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_vec4_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    note(bad_rows_of(invocation, gather_groups_of_vec4(invocation)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_vec4_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_groups(bad_rows_of(invocation, gather_groups_of_vec4(invocation)));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_vec2(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_groups_of_vec2(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_vec2_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    note(bad_rows_of(invocation, gather_groups_of_vec2(invocation)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_vec2_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_groups(bad_rows_of(invocation, gather_groups_of_vec2(invocation)));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_words(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_groups_of_words(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_words_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    note(bad_rows_of(invocation, gather_groups_of_words(invocation)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_groups_words_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_groups(bad_rows_of(invocation, gather_groups_of_words(invocation)));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_packed_words(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_packed_groups(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_packed_words_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    note(bad_rows_of(invocation, gather_packed_groups(invocation)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_packed_words_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_groups(bad_rows_of(invocation, gather_packed_groups(invocation)));
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_bytes(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = gather_word_of_bytes(invocation_of(workgroup, local));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_bytes_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    note(gather_word_of_bytes(invocation_of(workgroup, local)));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_bytes_own_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let invocation = invocation_of(workgroup, local);
    if invocation < window.reporters {
        end_of_rows(gather_word_of_bytes(invocation));
    }
}

// One invocation: brings the notes of a dispatch into the report. Dispatches come in the order of rows, so the first
// one that has a bad row has the smallest.
@compute @workgroup_size(1)
fn report_bad_rows() {
    let count = atomicLoad(&notes.count);
    let row = ~atomicLoad(&notes.first_complement);
    atomicStore(&notes.count, 0u);
    atomicStore(&notes.first_complement, 0u);
    if window.begins_report == 1u {
        report = BadRowReport();
    }
    if count == 0u {
        return;
    }
    let counted_before = report.bad_row_count;
    report.bad_row_count = add(counted_before, vec2<u32>(count, 0u));
    if all(counted_before == vec2<u32>()) {
        report.first_bad_row = add(window.index_row_base, vec2<u32>(row, 0u));
        let words = window.index_depth * INDEX_WORDS;
        for (var word = 0u; word < words; word++) {
            report.index[word] = indices[row * words + window.indices_start + word];
        }
    }
}

// One invocation, before a gather of one part whose index rows are counted on the device: those from the count on
// are left out.
@compute @workgroup_size(1)
fn count_rows() {
    let rows = min(max(count, counted.first_n) - counted.first_n, counted.most_output_rows);
    counted.output_rows = rows;
    var invocations = rows << counted.lanes_log2;
    if counted.of_bytes == 1u {
        // Words that the rows lie in, the first one perhaps with other bytes before them.
        invocations = (counted.output_start % 4u + rows * counted.slice_units + 3u) / 4u;
    }
    let workgroups = (invocations + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    grid[0] = min(workgroups, counted.grid_width);
    grid[1] = (workgroups + counted.grid_width - 1u) / counted.grid_width;
    grid[2] = 1u;
}
