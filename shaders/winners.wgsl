// Needs: index_rows or general
//
// Passes over a scatter's index rows, each once for all outer coordinates. A lane takes one index row. A row's winner is the
// last index row that selects it: the greatest number, plus 1 so that 0 stands for none. Only the winners of selected rows are
// cleared, in a pass before the maxima.

@group(0) @binding(14) var<storage, read_write> winners: array<atomic<u32>>;

// A lane's output row, which is its index row.
fn row_of_lane(workgroup: vec3<u32>, local: u32) -> u32 {
    return number_of(workgroup) * WORKGROUP_SIZE + local;
}

// The source row for an output row of the dispatch. A lane past the last one gets zeros, which no pass writes or counts.
fn source_of(row: u32) -> SourceRow {
    if row >= gather.rows {
        return SourceRow();
    }
    return source_row_of(output_row_of(row));
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn clear_winners(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let source = source_of(row_of_lane(workgroup, local));
    if source.written & source.held {
        atomicStore(&winners[gather.params_start + source.params_row], 0u);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn find_winners(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = row_of_lane(workgroup, local);
    let source = source_of(row);
    if source.written & source.held {
        atomicMax(&winners[gather.params_start + source.params_row], output_row_of(row).n + 1u);
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn count_bad(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let source = source_of(row_of_lane(workgroup, local));
    count_bad_rows(with_row(BadRows(), source, source.written & !source.in_range));
}
