// A gather as a user would write it without this crate, to be timed beside this crate's kernels.
//
//     output[row][unit] = params[params_row(row)][unit]        unit < sizes.units
//
// It has an invocation for each unit of the output. An index out of range selects row 0. The host puts
// `alias Unit = vec4<u32>;` before this text if a slice is a multiple of 16 bytes, else `alias Unit = u32;`.
//
// | binding | operand                                                |
// |---------|--------------------------------------------------------|
// | 0       | sizes                                                  |
// | 1       | params, in units                                       |
// | 2       | indices, in words: i32, or i64 with its low word first |
// | 3       | output, in units                                       |
//
// | override    | meaning                                                |
// |-------------|--------------------------------------------------------|
// | index_depth | index values in an index row: 1 to 3                   |
// | index_words | words of an index: 1, 2 for i64, 0 for u8              |
// | has_blocks  | params has several blocks, from batch or outer dims    |

struct Sizes {
    // Output rows, and units of a slice.
    output_rows: u32,
    units: u32,
    // Index rows of a batch, and blocks of a batch.
    index_count: u32,
    outer_size: u32,
    // The indexed dims; as many are used as the depth is.
    dims: vec4<u32>,
    // Params rows of a block.
    row_count: u32,
    // Rows from one entry of the axis of gather_elements to the next; 0 for other gathers.
    element_stride: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> params: array<Unit>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> output: array<Unit>;

override index_depth: u32;
override index_words: u32;
override has_blocks: bool;

const WORKGROUP_SIZE: u32 = 256u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>) {
    let i = id.y * grid.x * WORKGROUP_SIZE + id.x;
    if i >= sizes.output_rows * sizes.units {
        return;
    }
    let row = i / sizes.units;
    let unit = i % sizes.units;
    output[i] = params[params_row(row) * sizes.units + unit];
}

// The params row that an output row is a copy of.
fn params_row(output_row: u32) -> u32 {
    var block = 0u;
    var index_row = output_row;
    if has_blocks {
        block = output_row / sizes.index_count;
        let batch = block / sizes.outer_size;
        index_row = batch * sizes.index_count + output_row % sizes.index_count;
    }
    var row = index_at(index_row * index_depth, sizes.dims.x);
    if index_depth >= 2u {
        row = row * sizes.dims.y + index_at(index_row * index_depth + 1u, sizes.dims.y);
    }
    if index_depth == 3u {
        row = row * sizes.dims.z + index_at(index_row * index_depth + 2u, sizes.dims.z);
    }
    if sizes.element_stride > 0u {
        row = row * sizes.element_stride + index_row % sizes.element_stride;
    }
    return block * sizes.row_count + row;
}

// One index value, or 0 if it is out of range. A negative value is larger than any dim.
fn index_at(place: u32, dim: u32) -> u32 {
    if index_words == 0u {
        let byte = (indices[place / 4u] >> (place % 4u * 8u)) & 0xffu;
        return select(0u, byte, byte < dim);
    }
    let index = indices[place * index_words];
    var in_range = index < dim;
    if index_words == 2u {
        in_range = in_range && indices[place * 2u + 1u] == 0u;
    }
    return select(0u, index, in_range);
}
