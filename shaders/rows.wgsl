// Slices of up to 256 units. A lane copies one unit.

@group(0) @binding(1) var<storage, read> params: array<Unit>;
@group(0) @binding(3) var<storage, read_write> output: array<Unit>;

// The slot of a lane, which numbers the slices that its workgroup copies at once, and its unit of the slice.
fn slot_and_unit(local: u32) -> vec2<u32> {
    let slot = (local * gather.slot_scale) >> 16u;
    return vec2<u32>(slot, local - slot * gather.units);
}

fn params_place(unit: u32, source: SourceRow) -> u32 {
    return select(0u, gather.params_start + source.params_row * gather.params_stride + unit, source.held);
}

fn copy_rows(workgroup: vec3<u32>, local: u32) -> BadRows {
    let lane = slot_and_unit(local);
    let unit = lane.y;
    let row = number_of(workgroup) * gather.slots + lane.x;
    if lane.x >= gather.slots || row >= gather.rows {
        return BadRows();
    }
    let source = source_row_of(place_of(row));
    if source.written {
        let absent = select(absent_unit(unit), Unit(), source.in_range);
        output[gather.output_start + row * gather.output_stride + unit] =
            select(absent, params[params_place(unit, source)], source.held);
    }
    return with_row(BadRows(), source, unit == 0u && source.written && !source.in_range);
}

@compute @workgroup_size(256)
fn rows(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_rows(workgroup, local);
}

@compute @workgroup_size(256)
fn rows_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_rows(workgroup, local));
}
