//! Compares scatters on several threads, of small operands too, with their definition.

use super::run::scatter;
use super::update::{Assign, Reduced};
use crate::index::sealed::Sealed;
use crate::memory;
use crate::plan::With;
use crate::reduce::Reduce;
use crate::reduce::sealed::Number;
use crate::{BadIndices, Gather, GatherPlan};
use gather_oracle::sweep::takes_every_case;

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 20).expect("44 bits") % end
    }

    fn float(&mut self) -> f32 {
        let bits = u32::try_from(self.below(1 << 32)).expect("32 bits");
        match self.below(50) {
            0 => f32::from_bits(bits),
            _ => {
                f32::from(i16::from_le_bytes([
                    bits.to_le_bytes()[0],
                    bits.to_le_bytes()[1],
                ])) / 7.0
            }
        }
    }
}

const BATCHES: usize = 2;
const OUTER: usize = 2;

/// Sums by the definition, for a plan with two batches and two outer coordinates that drops bad rows.
fn sums(rows: usize, slice_len: usize, indices: &[i32], updates: &[f32], target: &mut [f32]) {
    let index_count = indices.len() / BATCHES;
    for block in 0..BATCHES * OUTER {
        let mut counts = vec![0; rows];
        let mut sums = vec![0.0; rows * slice_len];
        let index_rows = &indices[block / OUTER * index_count..][..index_count];
        for (n, &row) in index_rows.iter().enumerate() {
            let Some(row) = usize::try_from(row).ok().filter(|&row| row < rows) else {
                continue;
            };
            let to = &mut target[(block * rows + row) * slice_len..][..slice_len];
            let update = &updates[(block * index_count + n) * slice_len..][..slice_len];
            let sum = &mut sums[row * slice_len..][..slice_len];
            for ((to, sum), &update) in to.iter_mut().zip(sum).zip(update) {
                match counts[row] {
                    ..1024 => *to = to.plus(update).of_one_nan(),
                    count if count % 1024 == 0 => {
                        if count > 1024 {
                            *to = to.plus(*sum).of_one_nan();
                        }
                        *sum = update;
                    }
                    _ => *sum = sum.plus(update).of_one_nan(),
                }
            }
            counts[row] += 1;
        }
        for (row, _) in counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 1024)
        {
            let to = &mut target[(block * rows + row) * slice_len..][..slice_len];
            for (to, sum) in to.iter_mut().zip(&sums[row * slice_len..]) {
                *to = to.plus(*sum).of_one_nan();
            }
        }
    }
}

fn plan(rows: usize, slice_len: usize, index_count: usize) -> GatherPlan {
    let gather = Gather::new()
        .axis(2)
        .batch_dims(1)
        .bad_indices(BadIndices::Fill);
    gather
        .plan(&[BATCHES, OUTER, rows, slice_len], &[BATCHES, index_count])
        .expect("valid shapes")
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn sums_have_equal_bits_on_any_number_of_threads() {
    let mut random = Random(88_172_645_463_325_252);
    let runs = match takes_every_case() {
        _ if cfg!(miri) => 3,
        true => 10_000,
        false => 2000,
    };
    for number in 0..runs {
        let (rows, slice_len) = (1 + random.below(40), 1 + random.below(5));
        // In some cases a few rows meet most updates.
        let is_long = number % 3 == 0;
        let index_count = match number {
            // Also a row with a million updates.
            999 => 1_600_000,
            0 if cfg!(miri) => 1030,
            _ => 1 + random.below(if is_long && !cfg!(miri) { 9000 } else { 300 }),
        };
        let often = [1024, 1025, 2048, 2049, 3073][random.below(5)];
        let index = |n: usize, random: &mut Random| match n % index_count {
            n if is_long && n < often => rows / 2,
            _ if is_long && random.below(3) > 0 => rows - 1,
            _ => random.below(rows + 2),
        };
        let indices: Vec<i32> = (0..BATCHES * index_count)
            .map(|n| {
                i32::try_from(index(n, &mut random)).expect("few rows")
                    - i32::from(random.below(50) == 0) * 100
            })
            .collect();
        let updates: Vec<f32> = (0..BATCHES * OUTER * index_count * slice_len)
            .map(|_| random.float())
            .collect();
        let old: Vec<f32> = (0..BATCHES * OUTER * rows * slice_len)
            .map(|_| random.float())
            .collect();
        let mut expected = old.clone();
        sums(rows, slice_len, &indices, &updates, &mut expected);
        let plan = plan(rows, slice_len, index_count);
        for threads in [1, 2, 3, 16] {
            let mut target = old.clone();
            let update = Reduced(Reduce::Add);
            scatter(
                With::from(&plan),
                i32::values(&indices),
                &updates,
                (&mut target[..], 1),
                &update,
                Some(threads),
            )
            .expect("bad rows are dropped");
            assert_eq!(bits(&target), bits(&expected), "{plan}, {threads} threads");
        }
    }
}

/// Rows of a target above 8 MiB wait for their prefetch, among them some of a row that is then found to be often.
#[test]
#[cfg_attr(miri, ignore = "the target has 10 MB")]
fn rows_that_wait_are_summed_in_order() {
    let mut random = Random(521_288_629);
    let (rows, index_count) = (600_000, 4000);
    let indices: Vec<i32> = (0..BATCHES * index_count)
        .map(|_| match random.below(3) {
            0 => i32::try_from(random.below(rows)).expect("few rows"),
            _ => 5,
        })
        .collect();
    // Beside a huge number the others would not count.
    let mut floats = |len: usize| -> Vec<f32> {
        let small = |_| f32::from(u16::try_from(random.below(9999)).expect("16 bits")) / 7.0;
        (0..len).map(small).collect()
    };
    let (updates, old) = (
        floats(BATCHES * OUTER * index_count),
        floats(BATCHES * OUTER * rows),
    );
    let mut expected = old.clone();
    sums(rows, 1, &indices, &updates, &mut expected);
    for threads in [1, 2] {
        let mut target = old.clone();
        scatter(
            With::from(&plan(rows, 1, index_count)),
            i32::values(&indices),
            &updates,
            (&mut target[..], 1),
            &Reduced(Reduce::Add),
            Some(threads),
        )
        .expect("good rows");
        assert!(bits(&target) == bits(&expected), "{threads} threads");
    }
}

#[cfg(feature = "half")]
#[test]
fn halves_are_summed_on_any_number_of_threads() {
    use half::{bf16, f16};

    halves_are_summed(f16::from_f32, f16::to_bits);
    halves_are_summed(bf16::from_f32, bf16::to_bits);
}

/// Of each block, the target takes updates as `f32`s and is rounded once.
#[cfg(feature = "half")]
fn halves_are_summed<T: crate::Number>(half: fn(f32) -> T, bits: fn(T) -> u16) {
    let mut random = Random(6_364_136_223_846_793_005);
    let runs = match takes_every_case() {
        _ if cfg!(miri) => 2,
        true => 3000,
        false => 300,
    };
    for number in 0..runs {
        let (rows, slice_len) = (1 + random.below(40), 1 + random.below(5));
        let index_count = 1 + random.below(if number % 9 == 0 { 5000 } else { 100 });
        let mut index = |_| i32::try_from(random.below(rows + 2).min(random.below(2 * rows)));
        let indices: Vec<i32> = (0..BATCHES * index_count)
            .map(|n| index(n).expect("few rows"))
            .collect();
        let mut halves = |count| -> (Vec<T>, Vec<f32>) {
            // A NaN that meets no update keeps its bits.
            let half = |_| half(random.float().max(f32::MIN));
            let halves: Vec<T> = (0..count).map(half).collect();
            let mut wide = vec![0.0; count];
            T::widen(&halves, &mut wide);
            (halves, wide)
        };
        let (updates, wide_updates) = halves(BATCHES * OUTER * index_count * slice_len);
        let (old, mut expected) = halves(BATCHES * OUTER * rows * slice_len);
        sums(rows, slice_len, &indices, &wide_updates, &mut expected);
        let mut rounded = old.clone();
        T::narrow(&expected, &mut rounded);
        let plan = plan(rows, slice_len, index_count);
        for threads in [1, 2, 7] {
            let mut target = old.clone();
            let update = Reduced(Reduce::Add);
            let indices = i32::values(&indices);
            let of_target = (&mut target[..], 1);
            scatter(
                With::from(&plan),
                indices,
                &updates,
                of_target,
                &update,
                Some(threads),
            )
            .expect("bad rows are dropped");
            let mut pairs = target.iter().zip(&rounded);
            assert!(
                pairs.all(|(&a, &b)| bits(a) == bits(b)),
                "{plan}, {threads} threads"
            );
        }
    }
}

#[test]
fn the_last_assign_is_kept_on_any_number_of_threads() {
    let mut random = Random(362_436_069);
    for _ in 0..if cfg!(miri) { 2 } else { 500 } {
        // Slices of 128 bytes and more are copied only if they are a row's last.
        let (rows, slice_len, index_count) = (
            1 + random.below(90),
            [1, 120][random.below(2)] + random.below(40),
            1 + random.below(700),
        );
        let indices: Vec<u16> = (0..BATCHES * index_count)
            .map(|_| u16::try_from(random.below(rows + 1)).expect("few rows"))
            .collect();
        let updates: Vec<u8> = (0..BATCHES * OUTER * index_count * slice_len)
            .map(|_| random.below(251).to_le_bytes()[0])
            .collect();
        let mut expected = vec![255; BATCHES * OUTER * rows * slice_len];
        for block in 0..BATCHES * OUTER {
            for n in 0..index_count {
                let row = usize::from(indices[block / OUTER * index_count + n]);
                if row < rows {
                    let update = &updates[(block * index_count + n) * slice_len..][..slice_len];
                    expected[(block * rows + row) * slice_len..][..slice_len]
                        .copy_from_slice(update);
                }
            }
        }
        let plan = plan(rows, slice_len, index_count);
        for threads in [1, 2, 5, 16] {
            for with in [With::from(&plan), plan.unique()] {
                let mut target = vec![255_u8; expected.len()];
                memory::write_into(&mut target, |target| {
                    scatter(
                        with,
                        u16::values(&indices),
                        memory::bytes(&updates),
                        (target, 1),
                        &Assign,
                        Some(threads),
                    )
                })
                .expect("bad rows are dropped");
                // Here a broken promise changes nothing: each row has one thread.
                assert_eq!(target, expected, "{plan}, {threads} threads");
            }
        }
    }
}

/// The updates have so many bytes that threads share the rows of one block.
#[test]
#[cfg_attr(miri, ignore = "updates have 9 MB")]
fn the_last_assigns_of_a_block_are_copied_by_threads() {
    let mut random = Random(362_436_069);
    let (rows, slice_len, stride, index_count) = (4000, 700, 701, 12_345);
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[rows, slice_len], &[index_count]);
    let plan = plan.and_then(|plan| plan.with_params_stride(stride));
    let plan = plan.expect("valid shapes");
    let indices: Vec<i64> = (0..index_count)
        .map(|_| i64::try_from(random.below(rows + 100)).expect("few rows") - 50)
        .collect();
    let updates: Vec<u8> = (0..index_count * slice_len)
        .map(|_| random.below(251).to_le_bytes()[0])
        .collect();
    let old = vec![255; (rows - 1) * stride + slice_len];
    let mut expected = old.clone();
    for (&row, update) in indices.iter().zip(updates.chunks_exact(slice_len)) {
        if let Some(row) = usize::try_from(row).ok().filter(|&row| row < rows) {
            expected[row * stride..][..slice_len].copy_from_slice(update);
        }
    }
    let mut target = old;
    plan.scatter(&updates, &indices, &mut target)
        .expect("bad rows are dropped");
    assert!(target == expected);
}

/// Index-row counts around a step's 256, so that the last step is whole, or has one row, or lacks one.
#[test]
fn every_count_of_index_rows_is_updated_once() {
    let all = [
        257, 1, 255, 256, 319, 320, 321, 511, 512, 513, 575, 576, 577, 1023, 1024, 1025,
    ];
    let counts = all.into_iter().take(if cfg!(miri) { 1 } else { 16 });
    for (index_count, len) in counts.flat_map(|count| [(count, 4), (count, 1)]) {
        // Targets above 8 MiB are prefetched.
        for target_bytes in [64, if cfg!(miri) { 4096 } else { 9 << 20 }] {
            let rows = target_bytes / 4 / len;
            let plan = Gather::new()
                .plan(&[rows, len], &[index_count])
                .expect("valid shapes");
            let indices: Vec<i64> = (0..index_count)
                .map(|n| i64::try_from(n * 7919 % rows).expect("few rows"))
                .collect();
            let updates: Vec<u32> = (1..).take(index_count * len).collect();
            let mut expected = vec![0_u32; rows * len];
            for (&row, update) in indices.iter().zip(updates.chunks_exact(len)) {
                for (to, update) in expected[usize::try_from(row).expect("a row") * len..][..len]
                    .iter_mut()
                    .zip(update)
                {
                    *to += update;
                }
            }
            for threads in [1, 4] {
                let mut target = vec![0; rows * len];
                scatter(
                    With::from(&plan),
                    i64::values(&indices),
                    &updates,
                    (&mut target[..], 1),
                    &Reduced(Reduce::Add),
                    Some(threads),
                )
                .expect("good rows");
                assert!(target == expected, "{plan}, {threads} threads");
            }
        }
    }
}
