// A gather as a user would write it without this crate, to be held beside this crate's kernels.
//
//     output[row][unit] = params[params_row(row)][unit]        unit < sizes.units
//
// An invocation writes an element of `output`, and zeros for a row with an index out of range. One of the texts
// naive_units.wgsl, naive_parts.wgsl, naive_bytes.wgsl, naive_q8_0.wgsl and naive_q4_k.wgsl follows, with `lane`: what an
// invocation writes. The host puts the types and constants of a workload before both.
//
// | binding | operand                                                        |
// |---------|----------------------------------------------------------------|
// | 0       | sizes                                                          |
// | 1       | params                                                         |
// | 2       | indices, in words: i32, i64 with its low word first, four u8   |
// | 3       | output                                                         |
//
// | from the host | meaning                                                       |
// |---------------|---------------------------------------------------------------|
// | Unit          | an element of `params`                                        |
// | Lane          | an element of `output`                                        |
// | UNITS_OF_WORD | units of a slice that a word has, if they are not whole words |
// | INDEX_DEPTH   | index values in an index row: 1 to 3                          |
// | INDEX_WORDS   | words of an index: 1, 2 for i64, 0 for u8                     |
// | HAS_BATCHES   | there are several batches                                     |
// | HAS_OUTER     | a batch has several blocks                                    |
// | HAS_ELEMENTS  | an index selects one element of a row of several              |
// | IS_ONE_UNIT   | a slice is one unit                                           |
// | WRAPS         | an index out of range counts on at the other end              |

struct Sizes {
    // Elements of `output`, and units of a slice.
    lanes: u32,
    units: u32,
    // Index rows of a batch, and blocks of a batch.
    index_count: u32,
    outer_size: u32,
    // The indexed dims; as many are used as the depth is.
    dims: vec4<u32>,
    // Params rows of a block.
    row_count: u32,
    // Rows from one entry of the axis of gather_elements to the next.
    element_stride: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> params: array<Unit>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<Lane>;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let i = id.y * grid.x * WORKGROUP_SIZE + id.x;
    if i < sizes.lanes {
        output[i] = lane(i);
    }
}

struct Row {
    at: u32,
    is_good: bool,
}

// The output row that has unit i of the output, and the unit's place in its slice.
fn row_of(i: u32) -> u32 {
    if IS_ONE_UNIT {
        return i;
    }
    return i / sizes.units;
}

fn place_of(i: u32) -> u32 {
    if IS_ONE_UNIT {
        return 0u;
    }
    return i % sizes.units;
}

// The params row that an output row is a copy of.
fn params_row(output_row: u32) -> Row {
    var block = 0u;
    var index_row = output_row;
    if HAS_BATCHES || HAS_OUTER {
        block = output_row / sizes.index_count;
    }
    if HAS_OUTER {
        index_row = output_row % sizes.index_count;
        if HAS_BATCHES {
            index_row += block / sizes.outer_size * sizes.index_count;
        }
    }
    var row = Row(0u, true);
    next_index(&row, index_row * INDEX_DEPTH, sizes.dims.x);
    if INDEX_DEPTH >= 2u {
        next_index(&row, index_row * INDEX_DEPTH + 1u, sizes.dims.y);
    }
    if INDEX_DEPTH == 3u {
        next_index(&row, index_row * INDEX_DEPTH + 2u, sizes.dims.z);
    }
    if HAS_ELEMENTS {
        row.at = row.at * sizes.element_stride + index_row % sizes.element_stride;
    }
    row.at += block * sizes.row_count;
    return row;
}

// Takes one more index value of an index row. A negative value is larger than any dim.
fn next_index(row: ptr<function, Row>, place: u32, dim: u32) {
    var index: u32;
    if INDEX_WORDS == 0u {
        index = (indices[place / 4u] >> (place % 4u * 8u)) & 0xffu;
    } else {
        index = indices[place * INDEX_WORDS];
    }
    if INDEX_WORDS == 2u {
        (*row).is_good = (*row).is_good && indices[place * 2u + 1u] == 0u;
    }
    if WRAPS {
        let size = i32(dim);
        index = u32((i32(index) % size + size) % size);
    } else {
        (*row).is_good = (*row).is_good && index < dim;
    }
    (*row).at = (*row).at * dim + index;
}
