// Needs: common
//
// A lane for each unit, in slices of any length. A workgroup takes workgroup_rows slices, or slice_workgroups share one.

// A lane's row in the dispatch, and its unit in the row's slice.
struct LaneUnit {
    // False for a lane past the last row or unit.
    exists: bool,
    row: u32,
    unit: u32,
}

fn unit_of_lane(workgroup: vec3<u32>, local: u32, units: u32) -> LaneUnit {
    let number = number_of(workgroup);
    let rows_before = number / gather.slice_workgroups;
    let slot = local / units;
    let row = rows_before * gather.workgroup_rows + slot;
    let unit = (number - rows_before * gather.slice_workgroups) * WORKGROUP_SIZE + local - slot * units;
    let exists = (slot < gather.workgroup_rows) & (row < gather.rows) & (unit < units);
    return LaneUnit(exists, row, unit);
}
