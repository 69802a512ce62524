// Needs: index_rows or general; vec4 or words or four_decoded or one_decoded
//
// Slices of whole units, which lanes copy unit by unit.

@group(0) @binding(3) var<storage, read_write> output: array<Unit>;

// The slot of a lane, which numbers the slices that its workgroup copies at once, and its unit of the slice. For slices
// of up to WORKGROUP_SIZE units.
fn slot_and_unit(local: u32) -> vec2<u32> {
    let slot = (local * gather.slot_scale) >> SLOT_BITS;
    return vec2<u32>(slot, local - slot * gather.units);
}

// A unit of a slice; any unit of params if the row is not held.
fn load(unit: u32, source: SourceRow) -> Unit {
    return load_unit(gather.params_start + source.params_row * gather.params_stride, unit, source.held);
}
