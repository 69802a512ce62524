// Needs: index_rows or general; vec4 or words or signed_words
//
// The units of a scatter's updates, where a gather has its output, and of its target, where a gather has params. Of a kernel that
// a gather has too, only what loads and stores differs: assign.wgsl, assign_last.wgsl, reduce.wgsl and atomics.wgsl.
//
// A lane loads all its units before it stores one. It stores nothing for a row that is not held.

@group(0) @binding(13) var<storage, read> updates: array<Unit>;

// The unit of the target; unit 0 if the row is not held.
fn target_place(unit: u32, source: SourceRow) -> u32 {
    return select(0u, gather.params_start + source.params_row * gather.params_stride + unit, source.held);
}

fn store_absent(at: u32, absent: Unit) {}
