//! Tests rows with gaps after them, and operands that start between aligned offsets.

use super::small_gathers::{SLICES, WHOLE, blocks, limits, run_at};
use crate::Gather;
use crate::bad_indices::BadIndices;
use crate::gpu::kernel::{Kernel, Unit};
use crate::index::IndexKind;
use gather_oracle::sweep::takes_every_case;

/// Rows with gaps in params, the output or both, in each kernel, at starts that words do not divide.
#[test]
fn rows_with_gaps_are_gathered_at_any_start() {
    let mut kernels = Vec::new();
    for (number, (slice_bytes, element)) in SLICES.into_iter().enumerate() {
        let unit = element as u64;
        for (place, (gaps, starts, index_bytes)) in [
            ([0, 0], [unit, unit], 4),
            ([1, 0], [0, unit], 0),
            ([0, 1], [unit, 0], 8),
            ([3, 5], [2 * unit, 3 * unit], 0),
            ([16 / element.min(16), 64], [0, 0], 4),
            ([4, 4], [16 * unit, 4 * unit], 16),
            ([300, 100], [0, 0], 0),
        ]
        .into_iter()
        .enumerate()
        {
            // One of the four runs after the first, or all.
            let takes = |run| takes_every_case() || (number + place) % 4 == run;
            for (batch, outer) in [(1, 1), (2, 2)].into_iter().skip(number % 2) {
                let slice_len = slice_bytes / element;
                let plan = blocks([batch, outer, 6, slice_len], 11);
                let strides = gaps.map(|gap| slice_len + gap);
                let plan = plan.with_params_stride(strides[0]);
                let plan = plan.and_then(|plan| plan.with_output_stride(strides[1]));
                let plan = plan.expect("strides above the slice");
                let starts = [starts[0], index_bytes, starts[1]];
                let kind = [IndexKind::I32, IndexKind::I64, IndexKind::U64][number % 3];
                let types = (element, kind);
                kernels.extend(run_at(starts, plan.clone(), types, &[], &WHOLE));
                if takes(0) {
                    let shards = [1, 0, 3, 2].map(|rows| rows * (batch * outer) as u64);
                    run_at(starts, plan.clone(), types, &shards, &WHOLE);
                }
                if takes(1) {
                    let shard = plan.shard(2..5).expect("rows in range");
                    run_at(starts, shard, types, &[], &limits(256, 32));
                }
                if takes(2) {
                    // Bindings that hold a few rows.
                    let few = limits(96 + 16 * (number as u64), 16);
                    run_at(starts, plan.clone(), types, &[], &few);
                }
                if takes(3) {
                    let starts = [starts[0], 3, starts[2]];
                    run_at(starts, plan, (element, IndexKind::U8), &[], &WHOLE);
                }
            }
        }
    }
    for kernel in [
        Kernel::Bytes { lane_words: 1 },
        Kernel::Rows(Unit::Word),
        Kernel::Rows(Unit::Vec4),
    ] {
        assert!(kernels.contains(&kernel), "{kernel:?}");
    }
    // Rows are packed only from where a vector of indices and one of output start, and if no slice lies in two words.
    for (starts, slice_bytes, element, kernel) in [
        ([3, 16, 32], 1, 1, Kernel::Packed { slice_bytes: 1 }),
        ([8, 0, 16], 4, 1, Kernel::Packed { slice_bytes: 4 }),
        ([2, 0, 16], 4, 1, Kernel::Bytes { lane_words: 1 }),
        ([0, 0, 2], 2, 2, Kernel::Bytes { lane_words: 1 }),
        ([0, 4, 0], 4, 4, Kernel::Lines),
    ] {
        let plan = blocks([1, 1, 9, slice_bytes / element], 1056);
        let found = run_at(starts, plan, (element, IndexKind::I32), &[], &WHOLE);
        assert_eq!(found[0], kernel, "{starts:?}");
    }
    // Long slices, pieces of them, and four rows a lane.
    for (slice_len, gap, kernel) in [
        (1028, 4, Kernel::Long(Unit::Vec4)),
        (1028, 1, Kernel::Long(Unit::Word)),
    ] {
        let plan = blocks([1, 2, 3, slice_len * 4], 5);
        let stride = slice_len * 4 + gap;
        let plan = plan.with_params_stride(stride);
        let plan = plan.and_then(|plan| plan.with_output_stride(stride + gap));
        let plan = plan.expect("strides above the slice");
        let types = (4, IndexKind::I32);
        let starts = [gap as u64 * 4; 3];
        let found = run_at(starts, plan.clone(), types, &[], &wgpu::Limits::default());
        assert_eq!(found[0], kernel);
        run_at([4; 3], plan, types, &[], &limits(4400, 64));
    }
    for (slice_len, gap, unit) in [(3, 1, Unit::Word), (12, 4, Unit::Vec4)] {
        let gather = Gather::new().bad_indices(BadIndices::Fill);
        let plan = gather
            .plan(&[9, slice_len], &[43_693])
            .expect("a valid shape");
        let stride = slice_len + gap;
        let plan = plan.with_output_stride(stride);
        let plan = plan.and_then(|plan| plan.with_params_stride(stride + gap));
        let plan = plan.expect("strides above the slice");
        let start = unit.bytes();
        let found = run_at(
            [start; 3],
            plan,
            (4, IndexKind::I32),
            &[],
            &wgpu::Limits::default(),
        );
        assert_eq!(found, [Kernel::FourRows(unit)]);
    }
}
