// gather, gather_nd and gather_elements are one formula:
//
//   output[b][o][n][s] = params[b][o][ row(b, n) ][s]       a row that is out of range gives 0, or the fill
//   row(b, n)          = (index_0 * dim_1 + index_1) * dim_2 + index_2 ...     gather, gather_nd
//                      = index_0 * index_stride + place(n)                     gather_elements
//
// index_k is indices[b][n][k]; place(n) is the sum of n's coordinates in place_dims, each times its stride. A batch b
// and an outer coordinate o make a block: the params rows that index_count output rows share.
//
// This file begins each module. A dispatch gathers output rows out of a window: the params rows that it binds. An
// output row that is out of range belongs to the dispatch whose window has the first row of its block. Every load is
// of a bound place, also without runtime checks: a row that is out of range loads unit 0.

struct GatherUniform {
    // Output rows of the dispatch.
    rows: u32,
    // Units of a slice, or of the piece of it that the dispatch copies. A unit is what a lane loads at once.
    units: u32,
    // In `rows` and `four_rows` the slices that a workgroup copies at once, in `long` 1, else 0.
    slots: u32,
    // In `four_rows` how far apart the rows of a lane are, a power of two; else 0.
    row_step: u32,
    // In `long` the workgroups of a slice, else 1.
    slice_workgroups: u32,
    // Workgroups in one row of the dispatch.
    grid_width: u32,
    // The first row of each operand in its binding: in units, words, and units of output.
    params_start: u32,
    indices_start: u32,
    output_start: u32,
    // Rows of a block; all ones if all rows are of one. The first row is row first_index of its block, whose outer
    // coordinate is first_outer.
    index_count: u32,
    outer_size: u32,
    first_index: u32,
    first_outer: u32,
    // Params rows that are bound.
    window_rows: u32,
    // 64-bit numbers: the rows of a block that params holds, all of them unless it is a shard; the first of them; the
    // first row that is bound, counted from the block of the first output row; the index row to count index rows from.
    held_rows: vec2<u32>,
    first_row: vec2<u32>,
    window_first_row: vec2<u32>,
    index_row_base: vec2<u32>,
    // 65536 by units, rounded up: a lane's number times this, by 65536, is its number by units.
    slot_scale: u32,
    // Values of an index row, and words of a value.
    index_depth: u32,
    index_words: u32,
    // 0x80000000 for index types with a sign, else 0.
    sign: u32,
    // The same where indices below zero count from the end of their dim, else 0.
    from_end: u32,
    // Where an index out of range stands for the nearest one in range: 0 and `sign`; else all ones and 0.
    unclamped: u32,
    lowest: u32,
    // Words of the fill, which repeats itself, and the word of it that the piece begins with.
    fill_words: u32,
    fill_start: u32,
    // More than 0 if bad rows are reported: for one piece of a slice and one outer coordinate. 2 for a gather's first
    // report.
    reports: u32,
    // For count_rows: the most rows.
    most_rows: u32,
    // For count_rows and gather_elements: the place in its batch of what first_index counts from.
    first_n: u32,
    // For gather_elements.
    index_stride: u32,
    place_dim_count: u32,
    // Low and high word of each indexed dim.
    dims: array<vec4<u32>, 4>,
    fill: array<vec4<u32>, 4>,
    // Size and stride of each place dim, innermost first.
    place_dims: array<vec4<u32>, 4>,
}

// All zero before a dispatch, and after its finish_report. The largest complement names the smallest bad index row.
struct BadRowCounter {
    count: atomic<u32>,
    first_complement: atomic<u32>,
}

// Words of an index value: 1 or 2.
override INDEX_WORDS: u32 = 1u;
// Values of an index row: 1 or 2. Neither is read where general.wgsl finds the rows.
override DEPTH: u32 = 1u;

const BAD: u32 = 0xffffffffu;

@group(0) @binding(0) var<uniform> gather: GatherUniform;
// Params are binding 1 and the output is binding 3. A 64-bit index is two words, the low one first.
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(4) var<storage, read_write> counter: BadRowCounter;

fn number_of(workgroup: vec3<u32>) -> u32 {
    return workgroup.y * gather.grid_width + workgroup.x;
}

// The low words of a sum carry into the high ones.
fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Pair k of eight. Some compilers copy an array to memory before they index it with a number known at run time only.
fn pair(k: u32, pairs: array<vec4<u32>, 4>) -> vec2<u32> {
    let first_four = select(pairs[0], pairs[1], (k & 2u) != 0u);
    let four = select(first_four, select(pairs[2], pairs[3], (k & 2u) != 0u), (k & 4u) != 0u);
    return select(four.xy, four.zw, (k & 1u) != 0u);
}

// A word of the fill, counted from the start of the piece.
fn fill_word(word: u32) -> u32 {
    let at = (gather.fill_start + word) % gather.fill_words;
    let words = pair(at >> 1u, gather.fill);
    return select(words.x, words.y, (at & 1u) != 0u);
}

// Where an output row of the dispatch stands: its row of a block, the block, and that one's outer coordinate and batch.
struct Place {
    n: u32,
    block: u32,
    outer: u32,
    batch: u32,
}

// Of a dispatch whose output rows are of one block.
fn place_in_block(row: u32) -> Place {
    return Place(gather.first_index + row, 0u, gather.first_outer, 0u);
}

fn place_of(row: u32) -> Place {
    if gather.index_count == BAD {
        return place_in_block(row);
    }
    let block = (gather.first_index + row) / gather.index_count;
    let outer = gather.first_outer + block;
    let batch = outer / gather.outer_size;
    let n = gather.first_index + row - block * gather.index_count;
    return Place(n, block, outer - batch * gather.outer_size, batch);
}

fn index_row_of(place: Place) -> u32 {
    return place.batch * gather.index_count + place.n;
}

// The entry of a dim of at most 2^31 that an index value selects; `dim` or more if it is out of range. Policies are
// numbers here, not branches, so that compilers keep the loads of several rows together.
fn judged(low: u32, high: u32, dim: u32) -> u32 {
    let top = select(low, high, INDEX_WORDS == 2u);
    var at = low + select(0u, dim, (top & gather.from_end) != 0u);
    var moved_top = at;
    if INDEX_WORDS == 2u {
        moved_top = high + select(0u, 1u, at < low);
        at = select(BAD, at, moved_top == 0u);
    }
    at = min(at, (dim - 1u) | gather.unclamped);
    return select(at, 0u, (moved_top & gather.lowest) != 0u);
}

// The row of its block that the words of an index row select; BAD if it is out of range. Of the words, the first
// DEPTH * INDEX_WORDS count.
fn row_of(words: vec4<u32>) -> u32 {
    let a = judged(words.x, words.y, gather.dims[0].x);
    if DEPTH == 1u {
        return select(BAD, a, a < gather.dims[0].x);
    }
    let b = judged(select(words.y, words.z, INDEX_WORDS == 2u), words.w, gather.dims[0].z);
    return select(BAD, a * gather.dims[0].z + b, a < gather.dims[0].x && b < gather.dims[0].z);
}

// What an output row is made from.
struct SourceRow {
    place: Place,
    // The dispatch writes the row.
    written: bool,
    in_range: bool,
    // The row is in range and in params; params_row is counted from the first row that is bound.
    held: bool,
    params_row: u32,
}

// Bad rows of one lane.
struct BadRows {
    count: u32,
    first_complement: u32,
}

fn with_index_row(bad_rows: BadRows, index_row: u32, is_bad: bool) -> BadRows {
    let complement = select(0u, ~index_row, is_bad);
    return BadRows(bad_rows.count + select(0u, 1u, is_bad), max(bad_rows.first_complement, complement));
}

// A bad row counts in the lane of its first unit, and once however many outer coordinates there are.
fn with_row(bad_rows: BadRows, source: SourceRow, is_bad: bool) -> BadRows {
    let counts = is_bad && source.place.outer == 0u && gather.reports > 0u;
    return with_index_row(bad_rows, index_row_of(source.place), counts);
}

fn count_bad_rows(bad_rows: BadRows) {
    if bad_rows.count == 0u {
        return;
    }
    atomicAdd(&counter.count, bad_rows.count);
    if atomicLoad(&counter.first_complement) < bad_rows.first_complement {
        atomicMax(&counter.first_complement, bad_rows.first_complement);
    }
}
