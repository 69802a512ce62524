// One invocation after a dispatch that reports, and one before a dispatch that is indirect.

// All zero: no bad row.
struct BadRowReport {
    // Low and high word.
    bad_row_count: vec2<u32>,
    first_bad_row: vec2<u32>,
    // The words of its index row.
    index: array<u32, 16>,
}

@group(0) @binding(5) var<storage, read_write> report: BadRowReport;
// How many index rows of each batch are gathered, the uniform of the dispatch, and its workgroups.
@group(0) @binding(6) var<storage, read> count: u32;
@group(0) @binding(7) var<storage, read_write> indirect: GatherUniform;
@group(0) @binding(8) var<storage, read_write> workgroups: array<u32, 3>;

// Adds the counter to the report, and zeroes it. Dispatches come in the order of rows, so the first of them that has a
// bad row has the smallest.
@compute @workgroup_size(1)
fn finish_report() {
    let bad_rows = atomicExchange(&counter.count, 0u);
    let row = ~atomicExchange(&counter.first_complement, 0u);
    if gather.reports == 2u {
        report = BadRowReport();
    }
    if bad_rows == 0u {
        return;
    }
    if all(report.bad_row_count == vec2<u32>()) {
        report.first_bad_row = add(gather.index_row_base, vec2<u32>(row, 0u));
        let words = gather.index_depth * gather.index_words;
        for (var word = 0u; word < words; word++) {
            report.index[word] = indices[gather.indices_start + row * words + word];
        }
    }
    report.bad_row_count = add(report.bad_row_count, vec2<u32>(bad_rows, 0u));
}

// Leaves out the rows of a block from the count on.
@compute @workgroup_size(1)
fn count_rows() {
    let rows = min(max(count, indirect.first_n) - indirect.first_n, indirect.most_rows);
    indirect.rows = rows;
    let workgroup_rows = indirect.slots * select(1u, 4u, indirect.row_step > 0u);
    // In `bytes` a lane for each word that the rows lie in. The first of them may hold other bytes first.
    let words = (indirect.output_start % 4u + rows * indirect.units + 3u) / 4u;
    let of_rows = (rows + workgroup_rows - 1u) / workgroup_rows * indirect.slice_workgroups;
    let number = select(of_rows, (words + 255u) / 256u, indirect.slots == 0u);
    workgroups[0] = min(number, indirect.grid_width);
    workgroups[1] = (number + indirect.grid_width - 1u) / indirect.grid_width;
    workgroups[2] = 1u;
}
