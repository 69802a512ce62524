// Needs: slices or assign or assign_last or reduce or atomics
//
// Slices up to WORKGROUP_SIZE units long. A lane copies one unit.

fn copy_rows(workgroup: vec3<u32>, local: u32) -> BadRows {
    let lane = slot_and_unit(local);
    let row = number_of(workgroup) * gather.workgroup_rows + lane.x;
    if (lane.x >= gather.workgroup_rows) | (row >= gather.rows) {
        return BadRows();
    }
    let output_row = output_row_of(row);
    let source = chosen(source_row_of(output_row), output_row.n, output_row.batch);
    if source.written {
        let at = gather.output_start + row * gather.output_stride + lane.y;
        let absent = select(absent_unit(lane.y), Unit(), source.in_range);
        store(at, lane.y, source, load(at, lane.y, source), absent, false);
    }
    return with_row(BadRows(), source, (lane.y == 0u) & source.written & !source.in_range);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn rows(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_rows(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn rows_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_rows(workgroup, local));
}
