// Needs: common
//
// Sums over the lanes of a workgroup.

var<workgroup> lane_sums: array<u32, WORKGROUP_SIZE>;

// The sum over the lanes before this one, and over all.
fn sum_before(local: u32, value: u32) -> vec2<u32> {
    lane_sums[local] = value;
    for (var distance = 1u; distance < WORKGROUP_SIZE; distance <<= 1u) {
        workgroupBarrier();
        let before = select(0u, lane_sums[max(local, distance) - distance], local >= distance);
        workgroupBarrier();
        lane_sums[local] += before;
    }
    workgroupBarrier();
    let found = vec2<u32>(lane_sums[local] - value, lane_sums[WORKGROUP_SIZE - 1u]);
    workgroupBarrier();
    return found;
}
