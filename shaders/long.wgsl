// Slices of more than 256 units. Workgroups share a slice, and a lane copies four units of it, 256 apart.

fn copy_long(workgroup: vec3<u32>, local: u32) -> BadRows {
    let number = number_of(workgroup);
    let row = number / gather.slice_workgroups;
    let unit = (number - row * gather.slice_workgroups) * 1024u + local;
    if row >= gather.rows || unit >= gather.units {
        return BadRows();
    }
    let source = source_row_of(place_of(row));
    if !source.written {
        return BadRows();
    }
    let at = gather.output_start + row * gather.output_stride + unit;
    if !source.held {
        for (var more = 0u; more < 1024u && unit + more < gather.units; more += 256u) {
            output[at + more] = select(absent_unit(unit + more), Unit(), source.in_range);
        }
        return with_row(BadRows(), source, unit == 0u && !source.in_range);
    }
    // A unit past the last one is replaced by the lane's first, which is copied again.
    let to_b = select(0u, 256u, unit + 256u < gather.units);
    let to_c = select(0u, 512u, unit + 512u < gather.units);
    let to_d = select(0u, 768u, unit + 768u < gather.units);
    let start = gather.params_start + source.params_row * gather.params_stride + unit;
    let d = params[start + to_d];
    let c = params[start + to_c];
    let b = params[start + to_b];
    output[at] = params[start];
    output[at + to_b] = b;
    output[at + to_c] = c;
    output[at + to_d] = d;
    return BadRows();
}

@compute @workgroup_size(256)
fn long(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_long(workgroup, local);
}

@compute @workgroup_size(256)
fn long_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_long(workgroup, local));
}
