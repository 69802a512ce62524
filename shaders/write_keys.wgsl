// Needs: index_rows or general
//
// Writes the pairs that a scatter sorts: each index row's key and its number in its batch. Keys number the rows that the target
// holds, batch after batch. One more key ends each batch, for index rows that select none of these or that an index count
// leaves out. So a batch's pairs stay together.

@group(0) @binding(17) var<storage, read_write> sorted_pairs: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn write_keys(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = number_of(workgroup) * WORKGROUP_SIZE + local;
    if row >= gather.most_rows {
        return;
    }
    let output_row = output_row_of(row);
    let source = source_row_of(output_row);
    if !source.written {
        return;
    }
    let held_row = select(gather.held_rows.x, source.held_row, source.held & (row < gather.rows));
    let key = gather.order.first_key + output_row.batch * (gather.held_rows.x + 1u) + held_row;
    let place = gather.order.zeros + gather.index_row_base.x + index_row_of(output_row);
    sorted_pairs[place] = vec2<u32>(key, output_row.n);
}
