//! Failures in other libraries' gathers, from advisories and bug reports, that a GPU could repeat.
//! tests/host/plan/known_failures.rs runs them on the CPU, with shapes that the planner refuses.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, Gather, GatherNd, GatherPlan, GpuError, IndexKind};

use crate::batch::{self, Recording};
use crate::into_buffers::unchecked;
use crate::{flat, trial};
use testkit::cases::known_failures;
use testkit::device::blocking;
use testkit::gpu::Gpu;
use testkit::oracle::Case;
use testkit::samples::POLICIES;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, mut cases) in known_failures() {
        cases.retain(Case::check_plan);
        if !cases.is_empty() {
            trials.push(trial(name, move |gpu| check(gpu, &cases)));
        }
    }
    trials.push(trial(
        "onnxruntime_27444_sizes_beyond_32_bits_are_kept",
        wide_rows,
    ));
    trials
}

/// Runs without naga's checks and among canaries, so that a read beside an operand shows.
fn check(gpu: &'static Gpu, cases: &[Case]) {
    let samples = |policies: &'static [BadIndices]| {
        let samples = |case: &Case| case.samples(&[1, 4, 16], IndexKind::ALL, policies);
        cases.iter().flat_map(samples)
    };
    for sample in samples(POLICIES) {
        sample.check(&blocking(gpu));
    }
    let samples = samples(&[BadIndices::DeviceDefault, BadIndices::Error]);
    batch::check(gpu, &unchecked(gpu), Recording::Encoder, samples);
}

/// The GPU holds three rows from the middle of a 2^33-byte table.
fn wide_rows(gpu: &'static Gpu) {
    let first = (1_i64 << 32) + (1 << 31);
    let held = [first, first + 1, first + 2];
    // The first held row's number, truncated to 32 bits and to 31.
    let truncated = [first & 0xFFFF_FFFF, first & 0x7FFF_FFFF];
    let rows = [held[2], truncated[0], held[0], truncated[1], (1 << 33) - 1];
    let gather = Gather::new().bad_indices(BadIndices::Error);
    let along = gather.plan(&[1 << 33], &[5]).unwrap();
    check_held(gpu, &along, first, &rows);
    let nd = GatherNd::new().bad_indices(BadIndices::Error);
    let nd = nd.plan(&[1 << 16, 1 << 17], &[5, 2]).unwrap();
    let coordinates = rows.map(|row| [row >> 17, row & ((1 << 17) - 1)]);
    check_held(gpu, &nd, first, coordinates.as_flattened());

    let mut bad = rows;
    bad[3] = 1 << 33;
    let table = flat(gpu, &[1_u8, 2, 3]);
    let error = gpu.gather(shard(&along, first), &table, &bad).wait();
    assert_eq!(
        error.unwrap_err().to_string(),
        "indices[3] = 8589934592 is not in [0, 8589934592)"
    );
}

fn shard(plan: &GatherPlan, first: i64) -> GatherPlan {
    let first = usize::try_from(first).unwrap();
    plan.shard(first..first + 3).unwrap()
}

fn check_held(gpu: &Gpu, plan: &GatherPlan, first: i64, indices: &[i64]) {
    let (shard, params) = (shard(plan, first), [1_u8, 2, 3]);
    let found = gpu.gather(&shard, &flat(gpu, &params), indices).wait();
    assert_eq!(found, Ok(vec![3, 0, 1, 0, 0]), "{shard}");
    assert_eq!(found, shard.gather(&params, indices).map_err(GpuError::Run));
}
