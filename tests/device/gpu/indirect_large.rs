//! Indirect gathers that are large enough for indirect dispatches.

use libtest_mimic::Trial;
use testkit::gpu::{Gpu, buffers_of};
use wgpu_gather::{BadIndices, BadRows, ElementTypes, Gather, IndexKind, wgpu};

use crate::batch::{REPORT_BYTES, read_back, upload};
use crate::cuts::limited_device;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "direct_and_indirect_dispatches_obey_the_count",
            direct_and_indirect,
        ),
        trial("an_index_count_limits_the_rows_of_each_block", blocks),
        trial("an_index_count_may_end_in_any_chunk", chunks),
        trial(
            "an_index_count_may_end_in_any_row_of_workgroups",
            workgroups,
        ),
    ]
}

/// For each kernel, the largest row count that is dispatched directly, and one that is dispatched indirectly.
fn direct_and_indirect(gpu: &'static Gpu) {
    const MANY: usize = 1 << 20;
    for (slice_bytes, direct, indirect) in [
        (1, MANY - 1024, MANY),
        (3, MANY / 3 - 1024, MANY / 3 + 1),
        (4, MANY - 1024, MANY),
        (16, MANY - 1024, MANY),
        (257 * 4, 1023, 1024),
    ] {
        for rows in [direct, indirect] {
            let counts = [0, 1, rows / 2 + 1, rows, u32::MAX as usize];
            check(gpu, slice_bytes, 1, rows, &counts);
        }
    }
}

/// Blocks with a dispatch each: small blocks, in which a count may end within a word, and large blocks.
fn blocks(gpu: &'static Gpu) {
    for (slice_bytes, outer, rows) in [(1, 5, 1023), (3, 5, 341), (16, 9, 100), (1, 2, 1 << 20)] {
        check(
            gpu,
            slice_bytes,
            outer,
            rows,
            &[0, 1, 2, rows / 2 + 1, rows],
        );
    }
}

/// Bindings of 8 MiB make two chunks of 2^21 rows, with indirect dispatches, and a small chunk.
fn chunks(_: &'static Gpu) {
    const CHUNK: usize = 1 << 21;
    let gpu = limited_device(|limits| wgpu::Limits {
        max_storage_buffer_binding_size: 8 << 20,
        ..limits
    });
    let rows = 2 * CHUNK + 1000;
    let counts = [
        0,
        CHUNK - 1,
        CHUNK,
        CHUNK + 1,
        2 * CHUNK,
        2 * CHUNK + 999,
        rows,
        rows + CHUNK,
    ];
    check(&gpu, 4, 1, rows, &counts);
    check(&gpu, 1, 1, rows, &counts[2..4]);
}

/// More workgroups than one dispatch dimension allows, and counts where rows of workgroups end.
fn workgroups(_: &'static Gpu) {
    let gpu = limited_device(|limits| wgpu::Limits {
        max_compute_workgroups_per_dimension: 300,
        ..limits
    });
    // 977 workgroups in rows of 245.
    const ROWS: usize = 1_000_000;
    let row = 245 * 1024;
    let counts = [
        0,
        1,
        row - 1,
        row,
        row + 1,
        2 * row + 3,
        ROWS - 1,
        ROWS,
        ROWS + 1,
    ];
    for slice_bytes in [1, 16] {
        check(&gpu, slice_bytes, 1, ROWS, &counts);
    }
}

/// Gathers from four rows, with and without a report, once for each count. A fifth of the index rows is bad.
fn check(gpu: &Gpu, slice_bytes: usize, outer: usize, rows: usize, counts: &[usize]) {
    let plan = Gather::new().axis(1).bad_indices(BadIndices::Error);
    let plan = plan.plan(&[outer, 4, slice_bytes], &[rows]).unwrap();
    let params: Vec<u8> = (2..=250).cycle().take(outer * 4 * slice_bytes).collect();
    let indices: Vec<u32> = (0..5).cycle().take(rows).collect();
    let zero = Gather::new().axis(1).bad_indices(BadIndices::Fill);
    let zero = zero.plan(&[outer, 4, slice_bytes], &[rows]).unwrap();
    let whole = zero.gather(&params, &indices).unwrap();

    let in_words = |len: usize| len.next_multiple_of(4);
    let mut params_bytes = params.clone();
    params_bytes.resize(in_words(params.len()), 0);
    let (params, indices) = (
        upload(gpu, &params_bytes),
        upload(gpu, bytemuck::cast_slice(&indices)),
    );
    let old = vec![1_u8; in_words(whole.len())];
    let (output, report) = (upload(gpu, &old), upload(gpu, &[9; REPORT_BYTES]));
    let index_count = upload(gpu, &[0; 4]);
    let buffers = buffers_of(
        ElementTypes::of::<u8, u32>(),
        [params.slice(..), indices.slice(..), output.slice(..)],
    )
    .index_count(index_count.slice(..));
    let reported = buffers.report(report.slice(..));
    let gathers = [(&plan, reported), (&zero, buffers)]
        .map(|(plan, buffers)| gpu.gatherer().prepare(plan, &buffers).unwrap());
    for &count in counts {
        let name = format!("{plan}, {count} of {rows}");
        let number = u32::try_from(count).unwrap();
        let gathered = count.min(rows);
        for (gather, reports) in gathers.iter().zip([true, false]) {
            gpu.queue().write_buffer(&output, 0, &old);
            gpu.queue()
                .write_buffer(&index_count, 0, &number.to_le_bytes());
            gpu.submit(|encoder| gather.encode(encoder));
            let [found, report] = read_back(gpu, [&output, &report]);
            let block_bytes = rows * slice_bytes;
            for (found, whole) in found.chunks(block_bytes).zip(whole.chunks(block_bytes)) {
                let (found, rest) = found.split_at(gathered * slice_bytes);
                // Too long to print.
                assert!(found == &whole[..gathered * slice_bytes], "{name}");
                assert!(rest.iter().all(|&byte| byte == 1), "{name}");
            }
            if reports {
                let found = BadRows::from_report(&plan, IndexKind::U32, &report).unwrap();
                let found = found.map(|found| (found.count, found.first.row));
                let expected = (gathered >= 5).then_some((gathered / 5, 4));
                assert_eq!(found, expected, "{name}");
            }
        }
    }
}
