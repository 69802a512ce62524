// As rows.wgsl, but a lane copies its unit of four slices: row_step neighbouring slots copy 4 * row_step consecutive
// slices, row_step at once. All output rows are of one block, and all rows of the block are bound.

fn copy_four_rows(workgroup: vec3<u32>, local: u32) -> BadRows {
    let lane = slot_and_unit(local);
    let unit = lane.y;
    let step = gather.row_step;
    let first = number_of(workgroup) * gather.slots * 4u + lane.x + (lane.x & ~(step - 1u)) * 3u;
    if lane.x >= gather.slots || first >= gather.rows {
        return BadRows();
    }
    let absent = absent_unit(unit);
    let at = gather.output_start + first * gather.output_stride + unit;
    // A row past the last one is replaced by the lane's first, which is copied again.
    let to_b = select(0u, step, first + step < gather.rows);
    let to_c = select(0u, 2u * step, first + 2u * step < gather.rows);
    let to_d = select(0u, 3u * step, first + 3u * step < gather.rows);
    let a = source_row_of(place_in_block(first));
    let b = source_row_of(place_in_block(first + to_b));
    let c = source_row_of(place_in_block(first + to_c));
    let d = source_row_of(place_in_block(first + to_d));
    let of_a = with_row(BadRows(), a, unit == 0u && !a.held);
    let of_b = with_row(of_a, b, unit == 0u && !b.held && to_b > 0u);
    let of_c = with_row(of_b, c, unit == 0u && !c.held && to_c > 0u);
    let of_d = with_row(of_c, d, unit == 0u && !d.held && to_d > 0u);
    // In reverse: a compiler that waits for the load that is used first has then begun all four.
    let unit_d = params[params_place(unit, d)];
    let unit_c = params[params_place(unit, c)];
    let unit_b = params[params_place(unit, b)];
    let unit_a = params[params_place(unit, a)];
    output[at] = select(absent, unit_a, a.held);
    output[at + to_b * gather.output_stride] = select(absent, unit_b, b.held);
    output[at + to_c * gather.output_stride] = select(absent, unit_c, c.held);
    output[at + to_d * gather.output_stride] = select(absent, unit_d, d.held);
    return of_d;
}

@compute @workgroup_size(256)
fn four_rows(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_four_rows(workgroup, local);
}

@compute @workgroup_size(256)
fn four_rows_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_four_rows(workgroup, local));
}
