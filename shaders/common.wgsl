// Needs: nothing
//
// gather, gather_nd and gather_elements are one formula:
//
//   output[b][o][n][s] = params[b][o][ row(b, n) ][s]       or zeros, or the fill, for a bad row
//   row(b, n)          = (index_0 * dim_1 + index_1) * dim_2 + index_2 ...     gather, gather_nd
//                      = index_0 * index_stride + element_offset(n)            gather_elements
//
// index_k is indices[b][n][k]. element_offset(n) sums n's coordinates in element_dims, each times its params rows. A batch b and
// an outer coordinate o make a block: the params rows that index_count output rows share. If gather_elements broadcasts, index_0
// may come from another index row than n: the one that sums the coordinates times their index rows.
//
// A file's line `Needs` names the files that come before it in a module. Files with an `or` between them define
// the same functions, and a module has one of them; `decode` stands for one of decode/. This file begins each module.
//
// A dispatch binds a window of params rows and writes the output rows whose row is in it.
// The window with a block's first row writes the block's bad rows, and those that params does not hold; lanes load at most
// unit 0 for them. All loads stay in bounds without runtime checks. A 64-bit number is two words, the low one first.

struct GatherUniform {
    // Output rows in the dispatch; in each block if grid_width is 0.
    rows: u32,
    // Units in a slice, or in the piece that the dispatch copies; a lane loads one unit at once.
    units: u32,
    // Workgroups in one row of the grid; 0 if each row is a block, and workgroup.z a batch.
    grid_width: u32,
    // Output rows that a workgroup writes in `rows` and `four_rows`, or reads in `word_parts`; 1 in `long`, else 0.
    workgroup_rows: u32,
    // 1 / units with SLOT_BITS bits after the point, rounded up: (lane * slot_scale) >> SLOT_BITS is lane / units.
    slot_scale: u32,
    // How far apart the four are that a lane copies. `four_rows`: in output rows, a power of two. `long`: in units, as many as
    // lanes of a workgroup copy. `word_parts`: the words that a slice may touch. Else 0.
    lane_step: u32,
    // Workgroups that share a slice in `long` and in `word_parts`; else 1.
    slice_workgroups: u32,
    // Where the first row starts in each binding: params in units, or in bytes if they are decoded; the output in its
    // own units.
    params_start: u32,
    output_start: u32,
    // Where index row 0 would start in the binding, modulo 2^32: in words, or in values if a word holds several. Index
    // rows are numbered from the first one of the dispatch's first batch.
    indices_start: u32,
    // Units from one params row to the next, and from one output row to the next: `units`, or more if rows have gaps.
    // `packed` and `lines` have no gaps and read neither.
    params_stride: u32,
    output_stride: u32,
    // The first output row's number, modulo 2^32: in its batch if the dispatch has several, else in its block.
    first_n: u32,
    // Output rows in a block; NONE if the dispatch has one block.
    index_count: u32,
    // Blocks in a batch; NONE if the dispatch has one batch.
    outer_size: u32,
    // Params rows that are bound.
    window_rows: u32,
    // An index's sign bit: 0x80000000, or 0 for unsigned types.
    sign: u32,
    // `sign` if indices below zero count from the end of their dim; else 0.
    from_end: u32,
    // The entry that an index out of range selects: 0 for none, NEAREST, or a number of general.wgsl.
    beyond: u32,
    // Words after which the fill repeats itself.
    fill_words: u32,
    // 0 if the dispatch reports no bad rows; 2 for a gather's first report, 1 for later ones.
    reports: u32,
    // For count_rows: the rows if the count leaves none out; 0 for rows that no count reaches. For bags.wgsl: all bags.
    most_rows: u32,
    // Rows that params holds in each block: fewer than all only if params is a shard.
    held_rows: vec2<u32>,
    // The first row that params holds in each block.
    first_row: vec2<u32>,
    // The first bound params row, counted from the block, or the batch, from which first_n counts.
    window_first_row: vec2<u32>,
    // For the report: index row 0, counted from the start of indices.
    index_row_base: vec2<u32>,
    // Values in a row along the last dim, if these share a scale or have scales in their own binding; else NONE.
    // From one of these rows to the next, as params_stride.
    last_dim: u32,
    last_dim_stride: u32,
    // The size of each indexed dim: its low and its high word. A vector holds two sizes.
    dims: array<vec4<u32>, 4>,
    // The fill's words; the first is for the piece's first word.
    fill: array<vec4<u32>, 4>,
    general: General,
    quantized: Quantized,
    order: Order,
    bags: Bags,
}

// In a scatter that sorts its index rows, what write_keys.wgsl, sort.wgsl and fold.wgsl read.
struct Order {
    // How many pairs of zeros come before the pairs, and how many pairs a batch has: one for each index row.
    zeros: u32,
    places: u32,
    // The key for row 0 in the dispatch's first batch.
    first_key: u32,
    // The digit's first bit, by which pairs are sorted, and how many tiles there are.
    shift: u32,
    tiles: u32,
    // The first output row whose update is bound, counted from the first block, and how many are bound.
    first_update: u32,
    updates: u32,
    // How many of a row's updates a lane reduces one by one, and how many sums it takes in one dispatch, from this one on.
    sum_updates: u32,
    most_steps: u32,
    first_sum: u32,
    // Units in a whole slice, and where the first block's first sum is.
    slice_units: u32,
    first_sum_unit: u32,
}

// In a sum over bags, what bags.wgsl reads.
struct Bags {
    // How many indices there are, and how many each bag has, if all have equally many; else NONE.
    places: u32,
    size: u32,
    // Where the first offset is in its binding, and the first weight, in words; words in an offset; an offset's sign bit, or 0.
    offsets_start: u32,
    weights_start: u32,
    offset_words: u32,
    offset_sign: u32,
    // How many offsets there are.
    offsets: u32,
    // 1 if sums are divided by the number of good rows.
    is_mean: u32,
}

// The numbers of an encoding that decode/block_quantized.wgsl reads, and a zero that decode/row_wise_8.wgsl and float_sums.wgsl read.
// Starts are bytes from a binding's start to its first row. But fold_halves.wgsl reads scales_start as the number of the bound
// target's first slot, or NONE if the target has no slots.
struct Quantized {
    params_start: u32,
    scales_start: u32,
    zero_points_start: u32,
    scale_bytes: u32,
    // 1 if scales are the high halves of f32s.
    are_scales_bf16: u32,
    // The zero point that all blocks share; NONE if each has its own.
    zero_point: u32,
    // The bit to flip in values and zero points, so that they count from the least.
    flipped: u32,
    // 0, which no compiler knows: it fuses no product with a sum if the product's bits are combined with this.
    zero: u32,
}

// Read by general.wgsl, element_dims.wgsl and last_rows.wgsl, and where a word holds several index values or values are read
// one by one.
struct General {
    // Values in an index row.
    index_depth: u32,
    // Bits in an index value, as a power of two: 3 to 6.
    index_bits_log2: u32,
    // In gather_elements, how many rows apart neighbours in the indexed dim are.
    index_stride: u32,
    // In a scatter, where row 0 of the dispatch's first batch is among the bound winners, modulo 2^32.
    winners_start: u32,
    // gather_elements' element dims, innermost first, up to one with size 0: the size; how many params rows and index rows apart
    // coordinates are; and 1 if no index row lies between, because the dim repeats index rows.
    element_dims: array<vec4<u32>, 8>,
}

// All zero before a dispatch, and after its finish_report. The smallest bad row has the largest complement.
struct BadRowCounter {
    count: atomic<u32>,
    first_complement: atomic<u32>,
}

// Words in an index value, 0 if a word holds several; and values in an index row, 0 for any number of any type, which are
// extended to two words. general.wgsl reads the uniform instead.
override INDEX_WORDS: u32 = 1u;
override DEPTH: u32 = 1u;
// 1 if gather_elements has element dims; general.wgsl reads the uniform instead.
override ELEMENTS: u32 = 0u;
// 1 if index values wrap, which have at most one word; general.wgsl reads the uniform instead.
override WRAPS: u32 = 0u;

// Invocations in a workgroup.
const WORKGROUP_SIZE: u32 = 256u;
// From how many rows a lane of `four_rows` copies.
const LANE_ROWS: u32 = 4u;
// Bits in slot_scale after the binary point.
const SLOT_BITS: u32 = 16u;
// index_count or outer_size if there is one block or one batch: nothing to divide.
const NONE: u32 = 0xffffffffu;
// `beyond` if the nearest entry is selected: all ones, so that it can be combined with other bits.
const NEAREST: u32 = 0xffffffffu;
// Stands for the row of a bad index row.
const NO_ROW: u32 = 0xffffffffu;
// All ones; shifts make masks from it.
const ALL_BITS: u32 = 0xffffffffu;

@group(0) @binding(0) var<uniform> gather: GatherUniform;
// Params are binding 1 and the output is binding 3.
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(4) var<storage, read_write> counter: BadRowCounter;

// A lane's slot, which numbers the slices that its workgroup copies at once, and its unit in the slice. For slices up to
// WORKGROUP_SIZE units long.
fn slot_and_unit(local: u32) -> vec2<u32> {
    let slot = (local * gather.slot_scale) >> SLOT_BITS;
    return vec2<u32>(slot, local - slot * gather.units);
}

fn number_of(workgroup: vec3<u32>) -> u32 {
    return workgroup.y * gather.grid_width + workgroup.x;
}

// Word `at` of the indices; if a word holds several values, value `at`, with its sign extended.
fn index_word(at: u32) -> u32 {
    let bits_log2 = min(gather.general.index_bits_log2, 5u);
    let word = indices[at >> (5u - bits_log2)];
    let bits = 1u << bits_log2;
    let start = (at & (31u >> bits_log2)) << bits_log2;
    let value = (word >> start) & (ALL_BITS >> (32u - bits));
    let sign = gather.sign >> (32u - bits);
    return (value ^ sign) - sign;
}

// The index value that index_word has at `word`, as 64 bits with its sign extended.
fn index_value(word: u32) -> vec2<u32> {
    let words = index_words();
    let top = index_word(word + words - 1u);
    let extension = select(0u, ALL_BITS, (top & gather.sign) != 0u);
    return vec2<u32>(index_word(word), select(extension, top, words == 2u));
}

// Adds; the low words carry into the high ones.
fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Pair k of eight, by selects: some compilers copy an array to memory before they index it at run time.
fn pair(k: u32, pairs: array<vec4<u32>, 4>) -> vec2<u32> {
    let first_four = select(pairs[0], pairs[1], (k & 2u) != 0u);
    let four = select(first_four, select(pairs[2], pairs[3], (k & 2u) != 0u), (k & 4u) != 0u);
    return select(four.xy, four.zw, (k & 1u) != 0u);
}

// The fill's word for a word of the piece.
fn fill_word(word: u32) -> u32 {
    let at = word % gather.fill_words;
    let words = pair(at >> 1u, gather.fill);
    return select(words.x, words.y, (at & 1u) != 0u);
}

// Words in an index value; 1 if a word holds several values.
fn index_words() -> u32 {
    return select(1u, 2u, gather.general.index_bits_log2 == 6u);
}

// An output row: row n in a block, modulo 2^32. Blocks are numbered from the one from which first_n counts, batches from the
// dispatch's first. If the dispatch has one batch, `outer` is the block's number. Wherever bad rows are reported this is the
// outer coordinate; elsewhere it does not matter.
struct OutputRow {
    n: u32,
    block: u32,
    outer: u32,
    batch: u32,
}

fn output_row_of(row: u32) -> OutputRow {
    var output_row = OutputRow(gather.first_n + row, 0u, 0u, 0u);
    if gather.index_count != NONE {
        output_row.block = output_row.n / gather.index_count;
        output_row.batch = output_row.block / gather.outer_size;
        output_row.outer = output_row.block - output_row.batch * gather.outer_size;
        output_row.n -= output_row.block * gather.index_count;
    }
    return output_row;
}

fn index_row_of(output_row: OutputRow) -> u32 {
    return output_row.batch * gather.index_count + output_row.n;
}

// The entry that an index value selects in a dim up to 2^31; `dim` or more if the value is out of range. Policies are bits, not
// branches, so that compilers keep several rows' loads together.
fn entry_of(low: u32, high: u32, dim: u32) -> u32 {
    if WRAPS == 1u {
        // The complement of a negative number is -1 less the number. Modules without runtime checks divide by no 0.
        let is_negative = (low & gather.sign) != 0u;
        let left = select(low, ~low, is_negative) % max(dim, 1u);
        return select(left, dim - 1u - left, is_negative);
    }
    let top = select(low, high, INDEX_WORDS == 2u);
    var at = low + select(0u, dim, (top & gather.from_end) != 0u);
    var moved_top = at;
    if INDEX_WORDS == 2u {
        moved_top = high + select(0u, 1u, at < low);
        at = select(NO_ROW, at, moved_top == 0u);
    }
    at = min(at, (dim - 1u) | ~gather.beyond);
    return select(at, 0u, (moved_top & (gather.sign & gather.beyond)) != 0u);
}

// Which row of a block an index row selects; NO_ROW for a bad row. Only DEPTH values' words count, and `others` only if these
// are more than four.
fn row_of(words: vec4<u32>, others: vec4<u32>) -> u32 {
    let is_wide = INDEX_WORDS == 2u;
    let low = select(words, vec4<u32>(words.xz, others.xz), is_wide);
    let high = vec4<u32>(words.yw, others.yw);
    let dims = vec4<u32>(gather.dims[0].xz, gather.dims[1].xz);
    let a = entry_of(low.x, high.x, dims.x);
    if DEPTH == 1u {
        return select(NO_ROW, a, a < dims.x);
    }
    let b = entry_of(low.y, high.y, dims.y);
    let of_two = a * dims.y + b;
    if DEPTH == 2u {
        return select(NO_ROW, of_two, a < dims.x && b < dims.y);
    }
    let c = entry_of(low.z, high.z, dims.z);
    let of_three = of_two * dims.z + c;
    if DEPTH == 3u {
        return select(NO_ROW, of_three, a < dims.x && b < dims.y && c < dims.z);
    }
    let d = entry_of(low.w, high.w, dims.w);
    return select(NO_ROW, of_three * dims.w + d, a < dims.x && b < dims.y && c < dims.z && d < dims.w);
}

struct SourceRow {
    index_row: u32,
    // True if no earlier output row has the same index row, so that the report counts a bad one once.
    first: bool,
    // True if this dispatch writes the output row.
    written: bool,
    in_range: bool,
    // True if the row is in range and params holds it. params_row counts from the window's first row.
    held: bool,
    params_row: u32,
    // The row's number among those that params holds in its block: the low word.
    held_row: u32,
}

// One lane's counter.
struct BadRows {
    count: u32,
    first_complement: u32,
}

fn with_index_row(bad_rows: BadRows, index_row: u32, is_bad: bool) -> BadRows {
    let complement = select(0u, ~index_row, is_bad);
    return BadRows(bad_rows.count + select(0u, 1u, is_bad), max(bad_rows.first_complement, complement));
}

// Counts a bad row once for all outer coordinates. Callers pass true for `is_bad` only in the lane of its first unit.
fn with_row(bad_rows: BadRows, source: SourceRow, is_bad: bool) -> BadRows {
    let counts = is_bad & source.first & (gather.reports > 0u);
    return with_index_row(bad_rows, source.index_row, counts);
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
