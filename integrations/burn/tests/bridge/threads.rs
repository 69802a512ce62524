//! Two threads at a time, and memory over many calls.

use std::fs;
use std::thread;

use burn::tensor::{Int, Tensor};
use libtest_mimic::Trial;
use wgpu_gather_burn::BadIndices;

use crate::child;
use crate::common::{Gpu, trial};

/// Calls before memory is measured first, and calls in all.
const CALLS: (usize, usize) = (1_000, 11_000);

/// Bytes by which the process may grow. On a busy machine it grew by 6 MB, and by 154 MB if each call kept its prepared
/// gather.
const GROWTH: u64 = 16 << 20;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("threads::two_share_a_table_and_a_bridge", |gpu| {
            let rows = numbers(gpu, 0, 64 * 16).reshape([64, 16]);
            thread::scope(|scope| {
                for seed in [1, 2] {
                    let rows = rows.clone();
                    scope.spawn(move || {
                        for call in 0..200_i64 {
                            let by = [seed * call % 64, (seed + call) % 64, 63 - call % 64];
                            let indices = Tensor::<1, Int>::from_data(by, &gpu.device);
                            let found = gpu.bridge.select(rows.clone(), 0, indices).unwrap();
                            let found: Vec<f32> = found.tensor.into_data().iter().collect();
                            let expected: Vec<f32> = by
                                .iter()
                                .flat_map(|row| (row * 16..row * 16 + 16).map(float))
                                .collect();
                            assert_eq!(found, expected, "call {call} of thread {seed}");
                        }
                    });
                }
            });
        }),
        trial("threads::tensors_of_one_are_gathered_by_another", |gpu| {
            for start in 0..50 {
                let (table, indices) = thread::scope(|scope| {
                    let made = scope.spawn(|| {
                        let table = numbers(gpu, start, 8 * 4).reshape([8, 4]) + 1.0;
                        let indices = Tensor::<1, Int>::from_data([7, 0], &gpu.device) - 0;
                        (table, indices)
                    });
                    made.join().unwrap()
                });
                let found = gpu.bridge.select(table, 0, indices).unwrap().tensor;
                let found: Vec<f32> = found.into_data().iter().collect();
                let expected = (29..33).chain(1..5).map(|number| float(start + number));
                assert_eq!(found, expected.collect::<Vec<_>>());
            }
        }),
        trial("threads::memory_of_one_is_written_by_another", |gpu| {
            for start in 0..50 {
                let table = numbers(gpu, start, 8 * 4).reshape([8, 4]);
                gpu.device.sync().unwrap();
                // burn may write over a tensor that nobody else holds. Without a sync in the thread that writes, burn's
                // own operations in other threads read the old numbers too.
                let write = || {
                    let table = table + 1.0;
                    gpu.device.sync().unwrap();
                    table
                };
                let table = thread::scope(|scope| scope.spawn(write).join().unwrap());
                let indices = Tensor::<1, Int>::from_data([7, 0], &gpu.device);
                let found = gpu.bridge.select(table, 0, indices).unwrap().tensor;
                let found: Vec<f32> = found.into_data().iter().collect();
                let expected = (29..33).chain(1..5).map(|number| float(start + number));
                assert_eq!(found, expected.collect::<Vec<_>>());
            }
        }),
        trial("threads::memory_is_stable_over_10000_calls", |_| {
            let child = child::output("memory");
            let text = String::from_utf8_lossy(&child.stderr);
            assert!(child.status.success(), "{text}");
        }),
    ]
}

/// Compares memory after some calls with memory after 10,000 more. Each hundredth report is read.
pub fn check_memory() {
    let gpu = &Gpu::open().unwrap();
    let table = numbers(gpu, 0, 1_000 * 64).reshape([1_000, 64]);
    let indices = (numbers(gpu, 0, 64) * 7.0).int();
    let strict = gpu.bridge.bad_indices(BadIndices::Error);
    let mut measured = None;
    for call in 0..CALLS.1 {
        let gathered = strict.select(table.clone(), 0, indices.clone());
        let gathered = gathered.unwrap();
        if call % 100 == 0 {
            gathered.checked().unwrap();
        }
        if call == CALLS.0 {
            measured = Some(memory(gpu));
        }
    }
    let (first, last) = (measured.unwrap(), memory(gpu));
    let stable = last.0 <= first.0 && last.1 < first.1 + GROWTH;
    let what = "bytes in burn and in the process";
    assert!(stable, "{what}: {first:?}, then {last:?}");
}

/// Bytes that burn's pools of this thread hold, and bytes of the process in memory (0 where the system does not tell).
fn memory(gpu: &Gpu) -> (u64, u64) {
    gpu.device.sync().unwrap();
    let pools = gpu.device.memory_pool_usage();
    let status = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok());
    (
        pools.map_or(0, |pools| pools.bytes_reserved),
        pages.unwrap_or(0_u64) * 4096,
    )
}

fn numbers(gpu: &Gpu, start: i64, len: i64) -> Tensor<1> {
    Tensor::<1, Int>::arange(start..start + len, &gpu.device).float()
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn float(number: i64) -> f32 {
    number as f32
}
