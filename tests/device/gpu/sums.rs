//! Scatters that add floats on the GPU. Each run must give the CPU's bits, also if one row of the target meets all updates.

use std::any::type_name;
use std::time::Instant;

use bytemuck::NoUninit;
use half::{bf16, f16};
use libtest_mimic::Trial;
use testkit::gpu::Gpu;
use testkit::indices::Hash;
use testkit::sweep;
use wgpu_gather::{Element, Gather, GatherPlan, Number, Reduce};

use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_sum_is_the_same_in_each_run", one_result),
        trial("a_row_may_meet_all_updates", hot_rows),
        trial("a_sum_may_end_with_a_block", ends_of_blocks),
    ]
}

/// Numbers with exponents near each other, so that their sums depend on the order, and now and then one that a device could
/// flush.
fn floats(count: usize, seed: u64) -> Vec<f32> {
    let mut hash = Hash::new(seed);
    let float = |_| {
        let mantissa = u32::try_from(hash.below(1 << 23)).unwrap();
        let sign = u32::try_from(hash.below(2)).unwrap() << 31;
        let exponent = match hash.below(1000) {
            0 => hash.below(255),
            _ => 110 + hash.below(20),
        };
        f32::from_bits(sign | u32::try_from(exponent).unwrap() << 23 | mantissa)
    };
    (0..count).map(float).collect()
}

/// Sums on the GPU and compares with the CPU: floats of 4 bytes, `runs` times, and both halves, a third as often.
fn check(gpu: &Gpu, plan: &GatherPlan, indices: &[u32], runs: usize) {
    check_of(gpu, plan, indices, runs, |float| float);
    check_of(gpu, plan, indices, runs.div_ceil(3), f16::from_f32);
    check_of(gpu, plan, indices, runs.div_ceil(3), bf16::from_f32);
}

fn check_of<T: Number + Element + NoUninit>(
    gpu: &Gpu,
    plan: &GatherPlan,
    indices: &[u32],
    runs: usize,
    number: fn(f32) -> T,
) {
    let [rows, slice_len] = *plan.params_shape() else {
        panic!("rows of one dim");
    };
    let numbers = |count, seed| -> Vec<T> { floats(count, seed).into_iter().map(number).collect() };
    let target = numbers(rows * slice_len, 1);
    let updates = numbers(indices.len() * slice_len, 2);
    let mut expected = target.clone();
    plan.scatter_reduce(Reduce::Add, &updates, indices, &mut expected)
        .unwrap();
    let shape = [indices.len(), slice_len];
    let on_gpu = gpu.upload(&updates, &shape).unwrap();
    let indices = gpu.upload(indices, &[indices.len()]).unwrap();
    for _ in 0..runs {
        let mut sums = gpu.upload(&target, plan.params_shape()).unwrap();
        let request = gpu.scatter(plan, &on_gpu, &indices, &mut sums);
        request.reduce(Reduce::Add).wait().unwrap();
        let found = sums.download_blocking().unwrap();
        let [found, expected] = [&found, &expected].map(|of| bytemuck::cast_slice::<T, u8>(of));
        assert!(found == expected, "{plan} of {}", type_name::<T>());
    }
}

/// One row gets as many updates as a block has, one less and one more, the other row the rest.
fn ends_of_blocks(gpu: &'static Gpu) {
    for count in [1023, 1024, 1025, 2048, 2049] {
        let indices: Vec<u32> = (0..3000).map(|n| u32::from(n < count)).collect();
        let plan = Gather::new().plan(&[2, 3], &[indices.len()]).unwrap();
        check(gpu, &plan, &indices, 1);
    }
}

fn one_result(gpu: &'static Gpu) {
    let mut hash = Hash::new(50);
    let indices: Vec<u32> = (0..20_000)
        .map(|_| u32::try_from(hash.below(400)).unwrap())
        .collect();
    let plan = Gather::new().plan(&[400, 16], &[indices.len()]).unwrap();
    check(gpu, &plan, &indices, 30);
}

/// All updates in one row, and half of them; the largest only with `GATHER_EVERY_CASE`.
fn hot_rows(gpu: &'static Gpu) {
    let wide = match sweep::takes_every_case() {
        true => 1 << 16,
        false => 1 << 12,
    };
    for (count, slice_len, rows, part) in [
        (1_000_000, 1, 3, 1),
        (wide, 1024, 3, 1),
        (200_000, 4, 50_000, 2),
    ] {
        let indices: Vec<u32> = (0..count)
            .map(|n| {
                if n % part == 0 {
                    1
                } else {
                    u32::try_from(n * 7919 % rows).unwrap()
                }
            })
            .collect();
        let plan = Gather::new().plan(&[rows, slice_len], &[count]).unwrap();
        let start = Instant::now();
        check(gpu, &plan, &indices, 1);
        println!(
            "{plan}, one in {part} to one row: {:?} with the CPU's",
            start.elapsed()
        );
    }
}
