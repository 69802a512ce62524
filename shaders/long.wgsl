// Needs: slices or assign or assign_last or reduce or atomics
//
// Slices longer than WORKGROUP_SIZE units. Workgroups share a slice, and a lane copies LANE_UNITS units of it, lane_step
// apart. Only as many lanes copy as that takes.

// Units that a lane copies.
const LANE_UNITS: u32 = 4u;

// The distance from a lane's first unit to a later one; 0 if that is past the last unit, and the first is copied again.
fn to_unit(first: u32, distance: u32) -> u32 {
    return select(0u, distance, first + distance < gather.units);
}

fn copy_long(workgroup: vec3<u32>, local: u32) -> BadRows {
    let number = number_of(workgroup);
    let row = number / gather.slice_workgroups;
    let step = gather.lane_step;
    let unit = (number - row * gather.slice_workgroups) * (LANE_UNITS * step) + local;
    if (local >= step) | (row >= gather.rows) | (unit >= gather.units) {
        return BadRows();
    }
    let output_row = output_row_of(row);
    let source = chosen(source_row_of(output_row), output_row.n, output_row.batch);
    if !source.written {
        return BadRows();
    }
    let at = gather.output_start + row * gather.output_stride + unit;
    if !source.held {
        for (var more = 0u; more < LANE_UNITS * step && unit + more < gather.units; more += step) {
            store_absent(at + more, select(absent_unit(unit + more), Unit(), source.in_range));
        }
        return with_row(BadRows(), source, (unit == 0u) & !source.in_range);
    }
    let to_b = to_unit(unit, step);
    let to_c = to_unit(unit, 2u * step);
    let to_d = to_unit(unit, 3u * step);
    let d = load(at + to_d, unit + to_d, source);
    let c = load(at + to_c, unit + to_c, source);
    let b = load(at + to_b, unit + to_b, source);
    let a = load(at, unit, source);
    // The row is held: none is absent.
    store(at, unit, source, a, Unit(), false);
    store(at + to_b, unit + to_b, source, b, Unit(), to_b == 0u);
    store(at + to_c, unit + to_c, source, c, Unit(), to_c == 0u);
    store(at + to_d, unit + to_d, source, d, Unit(), to_d == 0u);
    return BadRows();
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn long(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    _ = copy_long(workgroup, local);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn long_report(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    count_bad_rows(copy_long(workgroup, local));
}
