// Needs: slices or assign or assign_last or reduce or atomics
//
// Slices up to WORKGROUP_SIZE units long. A lane copies its unit from LANE_ROWS slices. Output rows lie in one block, or in
// whole blocks, each with its own workgroups. Blocks are bound whole.
//
// lane_step neighbouring slots copy LANE_ROWS * lane_step consecutive slices, lane_step at once, so that they store
// side by side. With a lane_step of 2 and slices of 3 units, the first 12 lanes copy rows 0 to 15:
//
//   lane         0  1  2    3  4  5    6  7  8    9 10 11
//   slot         0  0  0    1  1  1    2  2  2    3  3  3
//   unit         0  1  2    0  1  2    0  1  2    0  1  2
//   rows         0,2,4,6    1,3,5,7    8,10,12,14 9,11,13,15

// A slot's first row in workgroup `number`: counted in the dispatch, or in the block.
fn first_row_of(number: u32, slot: u32) -> u32 {
    let before = slot & ~(gather.lane_step - 1u);
    return number * gather.workgroup_rows + slot + before * (LANE_ROWS - 1u);
}

// The distance from a lane's first row to a later one; 0 if that is past the last row, and the first is copied again.
fn to_row(first: u32, distance: u32) -> u32 {
    return select(0u, distance, first + distance < gather.rows);
}

fn copy_four_rows(workgroup: vec3<u32>, local: u32) -> BadRows {
    let lane = slot_and_unit(local);
    let unit = lane.y;
    let first = first_row_of(number_of(workgroup), lane.x);
    if (lane.x >= gather.workgroup_rows / LANE_ROWS) | (first >= gather.rows) {
        return BadRows();
    }
    let outer = select(0u, workgroup.y, gather.grid_width == 0u);
    let block = workgroup.z * gather.outer_size + outer;
    let at = gather.output_start + (block * gather.rows + first) * gather.output_stride + unit;
    let to_b = to_row(first, gather.lane_step);
    let to_c = to_row(first, 2u * gather.lane_step);
    let to_d = to_row(first, 3u * gather.lane_step);
    // A batch's index rows follow those of the batch before. `counts` stands for the outer coordinate.
    let index_row = gather.first_n + workgroup.z * gather.index_count + first;
    let n = gather.first_n + first;
    let a = chosen(source_row_of(OutputRow(index_row, block, 0u, 0u)), n, workgroup.z);
    let b = chosen(source_row_of(OutputRow(index_row + to_b, block, 0u, 0u)), n + to_b, workgroup.z);
    let c = chosen(source_row_of(OutputRow(index_row + to_c, block, 0u, 0u)), n + to_c, workgroup.z);
    let d = chosen(source_row_of(OutputRow(index_row + to_d, block, 0u, 0u)), n + to_d, workgroup.z);
    let counts = (unit | outer) == 0u;
    let of_a = with_row(BadRows(), a, counts & !a.held);
    let of_b = with_row(of_a, b, (counts & !b.held) && to_b > 0u);
    let of_c = with_row(of_b, c, (counts & !c.held) && to_c > 0u);
    let of_d = with_row(of_c, d, (counts & !d.held) && to_d > 0u);
    // In reverse: a compiler that waits for the load that is used first has then issued all four.
    let at_b = at + to_b * gather.output_stride;
    let at_c = at + to_c * gather.output_stride;
    let at_d = at + to_d * gather.output_stride;
    let unit_d = load(at_d, unit, d);
    let unit_c = load(at_c, unit, c);
    let unit_b = load(at_b, unit, b);
    let unit_a = load(at, unit, a);
    store_four(
        vec4<u32>(at, at_b, at_c, at_d), vec3<bool>(to_b == 0u, to_c == 0u, to_d == 0u),
        unit, a, b, c, d, unit_a, unit_b, unit_c, unit_d,
    );
    return of_d;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn four_rows(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_four_rows(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn four_rows_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_four_rows(workgroup, local));
}
