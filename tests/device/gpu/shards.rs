//! Gathers by shards' plans, whose outputs come back to the host.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, Gather, GatherError, GpuError, IndexKind, NegativeIndices};

use crate::{flat, trial};
use testkit::cases;
use testkit::device::blocking;
use testkit::gpu::Gpu;
use testkit::indices::Hash;
use testkit::oracle::Case;
use testkit::samples::POLICIES;
use testkit::sizes::run_filled;
use testkit::sweep;
use testkit::waits::params_shape;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("shards_put_together_are_the_whole", shards),
        trial("only_bad_rows_hold_the_fill", filled_shards),
        trial("indices_are_clamped_beyond_32_bits", clamped_beyond_32_bits),
    ]
}

fn shards(gpu: &'static Gpu) {
    let mut hash = Hash::new(2);
    let cases = cases::table().into_iter().chain(cases::slice_lengths());
    let kinds = [IndexKind::I32, IndexKind::I64];
    let samples =
        (cases.filter(Case::check_plan)).flat_map(|case| case.samples(&[1, 4], &kinds, POLICIES));
    for sample in sweep::some(0, 11, 0, samples) {
        sample.check_shards(&blocking(gpu), &mut hash);
    }
}

/// A shard gives zeros for a row that another shard holds, and the fill for a bad row.
fn filled_shards(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    for (slice_len, count) in [(1, 5), (3, 5), (4, 5), (16, 5), (1, 2000)] {
        let plan = plan.plan(&[4, slice_len], &[count]).unwrap();
        let indices: Vec<i32> = [3, 0, 4, -1, 1].into_iter().cycle().take(count).collect();
        for rows in [0..2, 2..4, 2..2, 0..4] {
            let shard = plan.shard(rows.clone()).unwrap();
            let held = [10_u64, 11, 12, 13][rows.clone()].iter();
            let params: Vec<u64> = held.flat_map(|&row| vec![row; slice_len]).collect();
            let expected = run_filled(&shard, &params, &indices, u64::MAX - 7).unwrap();
            let shape = params_shape(&shard, params.len());
            let table = gpu.upload(&params, &shape).unwrap();
            let filled = gpu
                .gather(&shard, &table, &indices)
                .fill(u64::MAX - 7)
                .wait();
            assert_eq!(filled, Ok(expected), "{rows:?} {slice_len}");
        }
    }
    let plan = plan.plan(&[2], &[2]).unwrap();
    let table = flat(gpu, &[[1_u8; 17]; 2]);
    let too_long = GatherError::FillTooLong { element_bytes: 17 };
    let filled = gpu.gather(&plan, &table, &[0_u32, 1]).fill([9; 17]).wait();
    assert_eq!(filled, Err(GpuError::Gather(too_long)));
    let filled = pollster::block_on(gpu.gather(&plan, &table, &[0_u32, 1]).fill([9; 17]));
    assert!(filled.is_err());
}

/// Params has more rows than a `u32` counts. A shard holds its first four rows, or its last four.
fn clamped_beyond_32_bits(gpu: &'static Gpu) {
    let rows = 1_usize << 40;
    for negative_indices in [NegativeIndices::Invalid, NegativeIndices::FromEnd] {
        let plan = Gather::new()
            .bad_indices(BadIndices::Clamp)
            .negative_indices(negative_indices)
            .plan(&[1 << 40, 3], &[7])
            .unwrap();
        let last = i64::try_from(rows).unwrap() - 1;
        let indices = [0, 3, last - 1, last + 1, i64::MAX, -2, i64::MIN];
        for held in [0..4, rows - 4..rows] {
            let shard = plan.shard(held).unwrap();
            let params: Vec<u32> = (1..=12).collect();
            let expected = shard.gather(&params, &indices).unwrap();
            let table = flat(gpu, &params);
            let clamped = gpu.gather(&shard, &table, &indices).wait();
            assert_eq!(clamped, Ok(expected), "{shard}");
        }
        // Worked out by hand: 1 for each index that selects one of the first four rows after clamping.
        let shard = plan.shard(0..4).unwrap();
        let found = shard.gather(&[1_u8; 12], &indices).unwrap();
        let selected: Vec<u8> = found.chunks(3).map(|slice| slice[0]).collect();
        let from_end = negative_indices == NegativeIndices::FromEnd;
        assert_eq!(selected, [1, 1, 0, 0, 0, u8::from(!from_end), 1]);
    }
}
