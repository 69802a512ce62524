// Needs: index_rows or general; vec4 or words or signed_words
//
// A scatter's updates, which replace a gather's output, and its target, which replaces params. Kernels that gathers use too
// differ only in what loads and stores: assign.wgsl, assign_last.wgsl, reduce.wgsl and atomics.wgsl.
//
// A lane loads all its units before it stores one. It stores nothing for a row that is not held.

@group(0) @binding(13) var<storage, read> updates: array<Unit>;

// The target unit's place; 0 if the row is not held.
fn target_place(unit: u32, source: SourceRow) -> u32 {
    return select(0u, gather.params_start + source.params_row * gather.params_stride + unit, source.held);
}

fn store_absent(at: u32, absent: Unit) {}
