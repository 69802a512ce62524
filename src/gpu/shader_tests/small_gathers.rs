//! Tests small gathers in which every lane runs: blocks, windows, shards, pieces, gather_elements, empty operands. The output
//! must be the oracle's, and the report must count each bad row once and name the first.

use super::lanes::{Case, Run, mixed};
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::gpu::kernel::{Kernel, Unit};
use crate::index::IndexKind;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};
use gather_oracle::sweep;

const FILL: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

pub(super) const WHOLE: wgpu::Limits = limits(1 << 20, 256);

/// Limits for bindings of `binding_bytes` bytes, whose offsets are multiples of `alignment`.
pub(super) const fn limits(binding_bytes: u64, alignment: u32) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: binding_bytes,
        min_storage_buffer_offset_alignment: alignment,
        max_compute_workgroups_per_dimension: 7,
        ..wgpu::Limits::defaults()
    }
}

/// Runs and checks a gather whose indices are out of range about one time in four. A fill is set if the number of output rows is
/// even. Returns each dispatch's kernel.
fn run(
    plan: GatherPlan,
    types: (usize, IndexKind),
    shard_rows: &[u64],
    limits: &wgpu::Limits,
) -> Vec<Kernel> {
    run_at([0; 3], plan, types, shard_rows, limits)
}

/// As [`run`], with operands that start some bytes after an aligned offset.
pub(super) fn run_at(
    starts: [u64; 3],
    plan: GatherPlan,
    (element_bytes, index_kind): (usize, IndexKind),
    shard_rows: &[u64],
    limits: &wgpu::Limits,
) -> Vec<Kernel> {
    let types = ElementTypes::new(element_bytes as u64, index_kind);
    run_types_at(starts, plan, types, shard_rows, limits)
}

/// As [`run_at`], also for encoded params.
pub(super) fn run_types_at(
    starts: [u64; 3],
    plan: GatherPlan,
    types: ElementTypes,
    shard_rows: &[u64],
    limits: &wgpu::Limits,
) -> Vec<Kernel> {
    let element_bytes = usize::try_from(types.element_bytes).expect("a few bytes");
    let dims = plan.dims().indexed_dims.clone();
    let value = |at: u64| {
        let k = usize::try_from(at).expect("values are few") % dims.len();
        let random = u64::from(mixed(at));
        i128::from(random % (dims[k] + dims[k].div_ceil(3).max(1)))
    };
    let fills = plan.dims().output_rows().is_multiple_of(2) && element_bytes <= 16;
    let mut case = Case::new(plan, types, &value);
    case.limits = limits.clone();
    case.starts = starts;
    // Scales start at words, zero points at any byte.
    case.qparam_starts = [starts[2], starts[0]];
    case.fill = fills.then(|| &FILL[..element_bytes]);
    if !shard_rows.is_empty() {
        case.shard_rows = shard_rows.to_vec();
    }
    let dispatches = case.dispatches();
    let mut run = Run::new(&case, true);
    run.all();
    run.check_all();
    dispatches.iter().map(|dispatch| dispatch.kernel).collect()
}

/// A gather along axis 2 of params shaped `[batch, outer, rows, slice]`.
pub(super) fn blocks([batch, outer, rows, slice]: [usize; 4], index_count: usize) -> GatherPlan {
    let gather = Gather::new().batch_dims(1).axis(2);
    let gather = gather.bad_indices(BadIndices::Fill);
    let plan = gather.plan(&[batch, outer, rows, slice], &[batch, index_count]);
    plan.expect("a valid shape")
}

/// Bytes in a slice, and in an element.
pub(super) const SLICES: [(usize, usize); 10] = [
    (1, 1),
    (2, 2),
    (4, 4),
    (3, 3),
    (5, 5),
    (8, 4),
    (12, 12),
    (16, 16),
    (20, 4),
    (48, 12),
];

#[test]
fn blocks_in_windows_of_any_size_are_gathered() {
    let mut number = 0;
    for (batch, outer) in [(1, 1), (3, 1), (1, 3), (2, 3)] {
        for index_count in [1, 2, 5, 16, 37] {
            for (slice_bytes, element) in SLICES {
                for small in [false, true] {
                    number += 1;
                    let limits = match (small, number / 4 % 3) {
                        (false, _) => WHOLE,
                        (true, 0) => limits(96, 16),
                        (true, _) => limits(256, 32),
                    };
                    let rows = [1, 4, 7, 40][number % 4];
                    let plan = blocks([batch, outer, rows, slice_bytes / element], index_count);
                    let kind = IndexKind::ALL[number / 4 % IndexKind::ALL.len()];
                    run(plan, (element, kind), &[], &limits);
                }
            }
        }
    }
}

#[test]
fn long_slices_and_their_pieces_are_gathered() {
    let mut kernels = Vec::new();
    for (slice_bytes, element) in [
        (1200, 4),
        (1216, 4),
        (8208, 16),
        (8212, 4),
        (4102, 2),
        (1212, 12),
        (1205, 5),
    ] {
        for binding_bytes in [272, 2048, 4400, 1 << 20] {
            if binding_bytes == 272 && slice_bytes > 1216 {
                continue;
            }
            let plan = blocks([2, 2, 3, slice_bytes / element], 2);
            let limits = limits(binding_bytes, 64);
            kernels.extend(run(plan, (element, IndexKind::I32), &[], &limits));
        }
    }
    for kernel in [
        Kernel::Long(Unit::Vec4),
        Kernel::Long(Unit::Word),
        Kernel::Rows(Unit::Vec4),
        Kernel::Rows(Unit::Word),
        Kernel::Bytes { lane_words: 1 },
    ] {
        assert!(kernels.contains(&kernel), "{kernel:?}");
    }
}

#[test]
fn packed_rows_and_those_left_over_are_gathered() {
    for (slice_bytes, index_count) in [(4, 1026), (2, 1031), (1, 1039), (4, 64), (1, 48)] {
        for kind in [
            IndexKind::I32,
            IndexKind::U64,
            IndexKind::U8,
            IndexKind::I16,
        ] {
            let plan = blocks([1, 1, 9, slice_bytes], index_count);
            let kernels = run(plan, (1, kind), &[], &WHOLE);
            let slice_bytes = u32::try_from(slice_bytes).expect("a few bytes");
            assert_eq!(kernels[0], Kernel::Packed { slice_bytes });
            assert_eq!(kernels.len(), if index_count > 1024 { 2 } else { 1 });
        }
        for (batch, outer) in [(3, 1), (1, 3), (2, 2)] {
            for kind in [IndexKind::U32, IndexKind::I8, IndexKind::U16] {
                let plan = blocks([batch, outer, 9, slice_bytes], 48);
                let kernels = run(plan, (1, kind), &[], &WHOLE);
                assert!(matches!(kernels[..], [Kernel::Packed { .. }]));
            }
        }
        let nd = GatherNd::new().bad_indices(BadIndices::Clamp);
        let plan = nd.plan(&[5, 3, slice_bytes], &[index_count, 2]);
        let plan = plan.expect("a valid shape");
        for kind in [IndexKind::I32, IndexKind::I64] {
            run(plan.clone(), (1, kind), &[], &WHOLE);
        }
    }
}

/// Blocks that end within a lane: in one dispatch, and in chunks that start within a block, at any index row.
#[test]
fn lines_are_gathered() {
    let elements = |params: &[usize], indices: &[usize]| {
        let gather = GatherElements::new().axis(1).bad_indices(BadIndices::Fill);
        gather.plan(params, indices).expect("a valid shape")
    };
    let kinds = [
        IndexKind::I32,
        IndexKind::U64,
        IndexKind::I8,
        IndexKind::U16,
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        let all = [(4, 1), (1, 4), (3, 2), (2, 6)]
            .into_iter()
            .flat_map(|of| [3, 5, 6, 50, 1022].map(|count| (of, count)))
            .flat_map(|of| {
                [WHOLE, limits(256, 32), limits(1 << 12, 64)].map(|limits| (of, limits))
            });
        let mut of_blocks = 0;
        for (((batch, outer), index_count), limits) in sweep::some(0, 2, number, all) {
            let plan = blocks([batch, outer, 3, 1], index_count);
            let kernels = run(plan, (4, kind), &[], &limits);
            of_blocks += kernels.iter().filter(|&&of| of == Kernel::Lines).count();
        }
        assert!(of_blocks > 20, "{of_blocks}");
    }
    for kind in [IndexKind::I32, IndexKind::U64] {
        let mut of_elements = 0;
        for (params, indices) in [
            (&[3, 5, 7][..], &[3, 4, 7][..]),
            (&[2, 5, 10], &[2, 6, 9]),
            (&[4, 5, 3, 3], &[3, 2, 2, 3]),
            // The next line is in another coordinate of three dims.
            (&[4, 5, 3, 4], &[3, 4, 2, 3]),
            (&[1, 3, 2, 1, 5], &[1, 8, 2, 1, 5]),
        ] {
            for limits in [WHOLE, limits(256, 32)] {
                let kernels = run(elements(params, indices), (4, kind), &[], &limits);
                of_elements += kernels.iter().filter(|&&of| of == Kernel::Lines).count();
            }
        }
        assert!(of_elements > 4, "{of_elements}");
    }
}

#[test]
fn shards_in_several_buffers_are_gathered() {
    for (slice_bytes, element) in SLICES {
        for (batch, outer) in [(1, 1), (2, 2)] {
            let plan = blocks([batch, outer, 10, slice_bytes / element], 16);
            let mut shard_rows = [4, 0, 5, 1].map(|rows| rows * (batch * outer) as u64);
            shard_rows[0] -= 1;
            shard_rows[2] += 1;
            let types = (element, IndexKind::I64);
            run(plan.clone(), types, &shard_rows, &WHOLE);
            if batch * outer == 4 {
                // The second buffer begins with the second block of a batch.
                run(plan.clone(), types, &[10, 30], &WHOLE);
            }
            for rows in [0..3, 3..10, 5..5, 0..10] {
                let shard = plan.shard(rows).expect("rows in range");
                run(shard.clone(), types, &[], &WHOLE);
                run(shard, types, &[], &limits(96, 16));
            }
        }
    }
}

#[test]
fn element_offsets_are_added_to_rows() {
    for element in [1, 4, 16] {
        for (params, indices, axis) in [
            (&[4, 5, 3][..], &[3, 6, 2][..], 1),
            (&[4, 5, 3], &[4, 6, 2], 1),
            (&[7, 20], &[9, 11], 0),
            (&[3, 7], &[3, 16], 1),
            (&[2, 3, 4, 5, 2], &[2, 2, 9, 4, 2], 2),
            // Lanes that take four packed rows, with one dim and with three, and rows left over.
            (&[7, 20], &[9, 12], 0),
            (&[3, 2, 5, 9], &[2, 2, 4, 8], 0),
            (&[5, 12], &[257, 8], 0),
        ] {
            let gather = GatherElements::new().axis(axis);
            let gather = gather.bad_indices(BadIndices::Fill);
            let plan = gather.plan(params, indices).expect("a valid shape");
            run(plan.clone(), (element, IndexKind::I64), &[], &WHOLE);
            run(plan.clone(), (element, IndexKind::I32), &[], &WHOLE);
            run(plan, (element, IndexKind::U32), &[], &limits(160, 16));
        }
    }
}

/// Indices that stretch in a slice, in outer dims, or between other dims, and params that stretch.
#[test]
fn dims_of_1_are_strides_of_0() {
    for (params, indices, axis) in [
        (&[5, 7, 3][..], &[8, 1, 1][..], 0),
        (&[2, 3, 5, 4], &[2, 1, 6, 1], 2),
        (&[9, 1], &[5, 6], 0),
        (&[1, 9, 4, 1], &[3, 5, 4, 2], 1),
        (&[5, 7, 3], &[8, 1, 3], 0),
        (&[2, 3, 4, 9], &[1, 3, 1, 5], 3),
        (&[1, 9, 6, 1], &[4, 5, 1, 3], 1),
        (&[9, 1, 6, 2], &[15, 4, 1, 2], 0),
    ] {
        let gather = GatherElements::new().axis(axis).broadcast(true);
        let gather = gather.bad_indices(BadIndices::Fill);
        let plan = gather.plan(params, indices).expect("a valid shape");
        for element in [1, 4, 16] {
            run(plan.clone(), (element, IndexKind::I64), &[], &WHOLE);
            run(plan.clone(), (element, IndexKind::I8), &[], &WHOLE);
            run(
                plan.clone(),
                (element, IndexKind::U32),
                &[],
                &limits(160, 16),
            );
        }
    }
}

#[test]
fn operands_without_rows_or_indices_are_gathered() {
    for (slice_bytes, limits) in [1, 4, 3, 12, 16, 1040, 4112]
        .into_iter()
        .flat_map(|slice_bytes| [WHOLE, limits(96, 16)].map(|limits| (slice_bytes, limits)))
    {
        let run = |plan, kind, shards: &[u64]| run(plan, (1, kind), shards, &limits);
        let rows = if slice_bytes > 1000 { 3 } else { 32 };
        run(blocks([1, 2, 0, slice_bytes], rows), IndexKind::I32, &[0]);
        // Clamp has no entry to choose.
        let gather = Gather::new().bad_indices(BadIndices::Clamp);
        let plan = gather.plan(&[0, slice_bytes], &[rows]);
        run(plan.expect("a valid shape"), IndexKind::I64, &[0]);
        let plan = GatherNd::new().plan(&[slice_bytes], &[5, 0]);
        run(plan.expect("a valid shape"), IndexKind::I64, &[]);
    }
}

#[test]
fn a_report_without_a_bad_row_is_not_zeros() {
    let gather = Gather::new().bad_indices(BadIndices::Error);
    let plan = gather.plan(&[3], &[7]).expect("a valid shape");
    let index = |at: u64| i128::from(at % 3);
    let case = Case::new(plan, ElementTypes::new(4, IndexKind::I32), &index);
    let mut run = Run::new(&case, true);
    run.all();
    run.check_all();
    assert_ne!(run.report, [0; 20]);
}

/// Just enough output rows for four rows a lane, and one row that fills no lane.
#[test]
fn lanes_of_four_rows_gather_all_rows() {
    for (dims, unit, rows, kind) in [
        (vec![9], Unit::Word, 43_693, IndexKind::I32),
        (vec![3, 5], Unit::Vec4, 43_693, IndexKind::I64),
    ] {
        let gather = GatherNd::new().bad_indices(BadIndices::Fill);
        let plan = gather.plan(&[&dims[..], &[3]].concat(), &[rows, dims.len()]);
        let element = usize::try_from(unit.bytes()).expect("a few bytes");
        let plan = plan.expect("a valid shape");
        let kernels = run(plan, (element, kind), &[], &wgpu::Limits::default());
        assert_eq!(kernels, [Kernel::FourRows(unit)]);
    }
}

/// Blocks in several batches and outer coordinates; each block's last workgroup is not full.
#[test]
fn lanes_of_four_rows_gather_all_blocks() {
    let cases = [
        (2, 3, Unit::Word, 7_283, IndexKind::I32),
        (1, 5, Unit::Vec4, 8_739, IndexKind::I64),
        (3, 1, Unit::Vec4, 14_567, IndexKind::U8),
    ];
    for (batch, outer, unit, index_count, kind) in cases {
        let element = usize::try_from(unit.bytes()).expect("a few bytes");
        let plan = blocks([batch, outer, 9, 3], index_count);
        let kernels = run(plan, (element, kind), &[], &wgpu::Limits::default());
        assert_eq!(kernels, [Kernel::FourRows(unit)]);
    }
}

/// Slices that have 16 bytes or more and start at any byte in a word; other index types take one word a lane.
#[test]
fn lanes_of_four_words_gather_all_bytes() {
    for slice_bytes in [16, 17, 18, 19, 21, 31, 33, 50, 99] {
        for start in [0, 1, 2, 3, 6] {
            let plan = blocks([1, 2, 9, slice_bytes], 11);
            let starts = [start, 0, 3 * start];
            let kernels = run_at(starts, plan, (1, IndexKind::I32), &[], &WHOLE);
            let is_odd = slice_bytes % 4 != 0 || start % 4 != 0;
            assert_eq!(
                kernels[0] == Kernel::Bytes { lane_words: 4 },
                is_odd,
                "{slice_bytes}, {start}"
            );
        }
    }
    let plan = || blocks([1, 2, 9, 17], 11);
    for (kind, kernel) in [
        (IndexKind::I64, Kernel::Bytes { lane_words: 4 }),
        (IndexKind::U16, Kernel::Bytes { lane_words: 1 }),
    ] {
        assert_eq!(run(plan(), (1, kind), &[], &WHOLE)[0], kernel);
    }
    let with_long_fill = run(blocks([1, 2, 9, 7], 11), (3, IndexKind::I32), &[], &WHOLE);
    assert_eq!(with_long_fill[0], Kernel::Bytes { lane_words: 1 });
    run(plan(), (1, IndexKind::I32), &[], &limits(96, 16));
}
