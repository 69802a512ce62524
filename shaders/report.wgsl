// Needs: common
//
// Of one invocation: finish_report runs after a dispatch that reports, count_rows before one with an index count.

struct BadRowReport {
    bad_row_count: vec2<u32>,
    // NO_ROW twice if no row is bad, so that zeros are no report.
    first_bad_row: vec2<u32>,
    // The words of the first bad row, else zeros.
    index: array<u32, 16>,
}

@group(0) @binding(5) var<storage, read_write> report: BadRowReport;
// The count of index rows to gather of each batch, and the uniform and the workgroups of the dispatch.
@group(0) @binding(6) var<storage, read> count: u32;
@group(0) @binding(7) var<storage, read_write> indirect: GatherUniform;
@group(0) @binding(8) var<storage, read_write> workgroups: array<u32, 3>;

// Adds the counter to the report, and zeroes the counter. Dispatches run in the order of rows, so the first that has a
// bad row has the smallest one.
@compute @workgroup_size(1)
fn finish_report() {
    let bad_rows = atomicExchange(&counter.count, 0u);
    let row = ~atomicExchange(&counter.first_complement, 0u);
    if gather.reports == 2u {
        report = BadRowReport(vec2<u32>(), vec2<u32>(NO_ROW), array<u32, 16>());
    }
    if bad_rows == 0u {
        return;
    }
    if all(report.bad_row_count == vec2<u32>()) {
        report.first_bad_row = add(gather.index_row_base, vec2<u32>(row, 0u));
        let words = gather.general.index_depth * index_words();
        for (var word = 0u; word < words; word++) {
            report.index[word] = index_word(gather.indices_start + row * words + word);
        }
    }
    report.bad_row_count = add(report.bad_row_count, vec2<u32>(bad_rows, 0u));
}

// Limits a dispatch to the index rows of a batch that come before the count.
@compute @workgroup_size(1)
fn count_rows() {
    let rows = min(max(count, indirect.first_n) - indirect.first_n, indirect.most_rows);
    indirect.rows = rows;
    let workgroup_rows = indirect.workgroup_rows;
    // `bytes` has a lane for each word that the rows touch. The first word may start with bytes of other rows.
    let bytes = (max(rows, 1u) - 1u) * indirect.output_stride + indirect.units;
    let words = (indirect.output_start % 4u + bytes + 3u) / 4u;
    let of_rows = (rows + workgroup_rows - 1u) / workgroup_rows * indirect.slice_workgroups;
    let number = select(of_rows, (words + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE, workgroup_rows == 0u);
    workgroups[0] = min(number, indirect.grid_width);
    workgroups[1] = (number + indirect.grid_width - 1u) / indirect.grid_width;
    workgroups[2] = 1u;
}
