//! Gathers by shards' plans, whose outputs come back to the host.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, Gather, IndexKind, NegativeIndices};

use crate::{flat, trial};
use testkit::cases;
use testkit::device::blocking;
use testkit::gpu::Gpu;
use testkit::indices::Hash;
use testkit::oracle::Case;
use testkit::samples::POLICIES;
use testkit::sweep;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("shards_put_together_are_the_whole", shards),
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
