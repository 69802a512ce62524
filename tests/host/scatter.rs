//! Scatters on the CPU, compared with their definition.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use half::{bf16, f16};
use testkit::oracle::Case;
use testkit::samples::POLICIES;
use testkit::scatter::{Number, Scatters, Told, check, check_recorded, numbers, run};
use testkit::sweep::{self, takes_every_case};
use testkit::{cases, of_index_type};
use wgpu_gather::{
    ElementTypes, Encoding, Gather, GatherElements, GatherNd, GatherPlan, Index, IndexKind, Reduce,
    RunError,
};

const UPDATES: [Option<Reduce>; 5] = [
    None,
    Some(Reduce::Add),
    Some(Reduce::Mul),
    Some(Reduce::Min),
    Some(Reduce::Max),
];

fn check_case(case: &Case, number: &mut usize) {
    let every = takes_every_case();
    for sample in case.samples(&[4], IndexKind::ALL, POLICIES) {
        let answer = match case.replaced_by(sample.plan.bad_indices()) {
            Some(replaced) => replaced.answer(),
            None => case.answer(),
        };
        for reduce in UPDATES {
            for gaps in [[0, 0], [3, 0], [0, 2]] {
                for one_update in [false, true] {
                    *number += 1;
                    // A prime, so that the sweeps meet in all ways.
                    if !every && !number.is_multiple_of(23) {
                        continue;
                    }
                    match *number / 23 % 12 {
                        0 => check::<f64>(&sample, &answer, reduce, gaps, one_update),
                        1 => check::<i8>(&sample, &answer, reduce, gaps, one_update),
                        2 => check::<u8>(&sample, &answer, reduce, gaps, one_update),
                        3 => check::<i16>(&sample, &answer, reduce, gaps, one_update),
                        4 => check::<u16>(&sample, &answer, reduce, gaps, one_update),
                        5 => check::<i32>(&sample, &answer, reduce, gaps, one_update),
                        6 => check::<u32>(&sample, &answer, reduce, gaps, one_update),
                        7 => check::<i64>(&sample, &answer, reduce, gaps, one_update),
                        8 => check::<u64>(&sample, &answer, reduce, gaps, one_update),
                        9 => check::<f16>(&sample, &answer, reduce, gaps, one_update),
                        10 => check::<bf16>(&sample, &answer, reduce, gaps, one_update),
                        _ => check::<f32>(&sample, &answer, reduce, gaps, one_update),
                    }
                }
            }
        }
    }
}

#[test]
fn every_case_of_the_table_equals_the_definition() {
    let cases = cases::table().into_iter();
    let cases = cases.chain(cases::index_values());
    let cases: Vec<_> = cases.chain(cases::slice_lengths()).collect();
    let numbered = AtomicUsize::new(0);
    sweep::on_all_cores(&cases, |first, case| {
        if case.check_plan() {
            let mut number = first;
            check_case(case, &mut number);
            numbered.fetch_add(number - first, Relaxed);
        }
    });
    assert!(
        numbered.into_inner() > 100_000,
        "the table has lost its cases"
    );
}

/// The CPU locates rows in steps: these row counts end within a step and at its end.
#[test]
fn each_index_type_and_depth_updates_every_row() {
    for rows in [255, 256, 257, 513] {
        for depth in 0..=4 {
            for &kind in IndexKind::ALL {
                let shape: Vec<usize> = [5, 3, 2, 4][..depth].iter().copied().chain([3]).collect();
                let plan = GatherNd::new().plan(&shape, &[rows, depth]).unwrap();
                of_index_type!(kind, I => {
                    let place = |n: usize| (0..depth).map(move |k| (n * 7 + n / 5 * k) % [5, 3, 2, 4][k]);
                    let indices: Vec<I> = (0..rows).flat_map(place).map(|value| I::try_from(value).unwrap()).collect();
                    let updates: Vec<u32> = (1..).take(rows * 3).collect();
                    let mut expected = vec![0; shape.iter().product()];
                    for n in 0..rows {
                        let row = place(n).zip(&shape).fold(0, |row, (at, dim)| row * dim + at);
                        for s in 0..3 {
                            expected[row * 3 + s] += updates[n * 3 + s];
                        }
                    }
                    let mut target = vec![0; expected.len()];
                    plan.scatter_reduce(Reduce::Add, &updates, &indices, &mut target).unwrap();
                    assert_eq!(target, expected, "{plan}, {kind}");
                });
            }
        }
    }
}

/// Rows of up to a million updates, for one row and for many, are those of the definition.
#[test]
fn halves_are_summed_as_f32s_and_rounded_once() {
    fn equal<T: Number>() {
        for count in [1, 1023, 1024, 1025, 2049, 5000, 1_000_000] {
            for (rows, len) in [(1, 1), (3, 2), (40, 3)] {
                if count == 1_000_000 && len > 1 {
                    continue;
                }
                let plan = Gather::new().plan(&[rows, len], &[count]).unwrap();
                // Most go to the first row.
                let row_of = |n: usize| if n % 7 == 3 { n % rows } else { 0 };
                let indices: Vec<u32> = (0..count)
                    .map(|n| u32::try_from(row_of(n)).unwrap())
                    .collect();
                let updates: Vec<T> = (0..count * len)
                    .map(|at| T::of(at * 29 + 1 + at % 3))
                    .collect();
                for reduce in [Reduce::Add, Reduce::Min, Reduce::Max] {
                    let old: Vec<T> = (0..rows * len).map(|at| T::of(at + 1)).collect();
                    let mut expected = old.clone();
                    for (at, element) in expected.iter_mut().enumerate() {
                        let of_row = (0..count).filter(|&n| row_of(n) == at / len);
                        let of_row: Vec<T> = of_row.map(|n| updates[n * len + at % len]).collect();
                        *element = element.after(reduce, &of_row);
                    }
                    let mut target = old;
                    plan.scatter_reduce(reduce, &updates, &indices, &mut target)
                        .unwrap();
                    let bits = |of: &[T]| of.iter().map(|of| of.bits()).collect::<Vec<_>>();
                    assert!(
                        bits(&target) == bits(&expected),
                        "{count} of {rows}, {len}: {reduce}"
                    );
                }
            }
        }
    }
    equal::<f16>();
    equal::<bf16>();
}

/// A row that meets more than 1,024 float updates gets them in parts, along any axis. A bad index that the count of rows finds
/// is an error before anything is written.
#[test]
fn elements_along_an_axis_are_summed_as_rows_are() {
    const ROWS: usize = 3;
    const COLUMNS: usize = 2;
    const COUNT: usize = 2100;
    fn along<T>(axis: i64, of: impl Fn(usize, usize) -> T) -> Vec<T> {
        let places = 0..COUNT * COLUMNS;
        match axis {
            0 => places.map(|at| of(at / COLUMNS, at % COLUMNS)).collect(),
            _ => places.map(|at| of(at % COUNT, at / COUNT)).collect(),
        }
    }
    let row_of = |n: usize, column: usize| (n * n + column) % 3 % 2;
    let update_of = |n: usize, column: usize| 1.0 / (1 + n * COLUMNS + column) as f32;
    let of_row = Gather::new().plan(&[ROWS], &[COUNT]).unwrap();
    let sums = [0, 1].map(|column| {
        let indices: Vec<usize> = (0..COUNT).map(|n| row_of(n, column)).collect();
        let updates: Vec<f32> = (0..COUNT).map(|n| update_of(n, column)).collect();
        let mut target = [0.5; ROWS];
        of_row
            .scatter_reduce(Reduce::Add, &updates, &indices, &mut target)
            .unwrap();
        target
    });
    for axis in [0, 1] {
        let (shape, of_indices) = match axis {
            0 => ([ROWS, COLUMNS], [COUNT, COLUMNS]),
            _ => ([COLUMNS, ROWS], [COLUMNS, COUNT]),
        };
        let plan = GatherElements::new()
            .axis(axis)
            .plan(&shape, &of_indices)
            .unwrap();
        let (updates, mut indices) = (along(axis, update_of), along(axis, row_of));
        let mut target = [0.5; ROWS * COLUMNS];
        plan.scatter_reduce(Reduce::Add, &updates, &indices, &mut target)
            .unwrap();
        let expected: Vec<f32> = match axis {
            0 => (0..ROWS * COLUMNS)
                .map(|at| sums[at % COLUMNS][at / COLUMNS])
                .collect(),
            _ => sums.concat(),
        };
        assert_eq!(target[..], expected, "{plan}");
        indices[4000] = ROWS;
        let bad = plan.scatter_reduce(Reduce::Add, &updates, &indices, &mut target);
        assert!(matches!(bad, Err(RunError::BadIndex(bad)) if bad.row == 4000));
        assert_eq!(target[..], expected, "{plan}");
    }
}

#[test]
fn elements_of_any_type_are_assigned() {
    let plan = GatherNd::new().plan(&[3], &[3, 1]).unwrap();
    let mut texts = ["a", "b", "c"];
    plan.scatter(&["x", "y", "z"], &[2, 0, 2], &mut texts)
        .unwrap();
    assert_eq!(texts, ["y", "b", "z"]);
    let mut units = [(); 3];
    // Slices without bytes: indices are not looked at.
    plan.scatter(&[(); 3], &[7, 7, 7], &mut units).unwrap();
    let mut wide = [[0_u64; 5]; 3];
    plan.scatter(&[[1; 5], [2; 5], [3; 5]], &[1, 1, 0], &mut wide)
        .unwrap();
    assert_eq!(wide, [[3; 5], [2; 5], [0; 5]]);
    // A NaN and a zero keep their bits.
    let mut floats = [1.0_f32; 3];
    plan.scatter(
        &[f32::from_bits(0xffc1_2345), -0.0, 2.0],
        &[0_u8, 1, 2],
        &mut floats,
    )
    .unwrap();
    assert_eq!(
        floats.map(f32::to_bits),
        [0xffc1_2345, 0x8000_0000, 0x4000_0000]
    );
}

#[test]
fn bytes_are_assigned_as_elements_are() {
    for case in cases::table()
        .into_iter()
        .filter(Case::check_plan)
        .filter(|case| !case.has_no_scatter())
    {
        for sample in case.samples(&[1, 3, 16], &[IndexKind::I64, IndexKind::U8], POLICIES) {
            let width = sample.element_bytes;
            let updates: Vec<u8> = numbers(5, sample.output.len());
            let mut by_bytes: Vec<u8> = numbers(0, sample.params.len());
            let mut target = by_bytes.clone();
            let types = ElementTypes::new(width as u64, sample.index_kind);
            let found = sample
                .plan
                .scatter_bytes(types, &updates, &sample.indices, &mut by_bytes);
            let expected = of_index_type!(sample.index_kind, I => {
                let indices: Vec<I> = bytemuck::pod_collect_to_vec(&sample.indices);
                match width {
                    1 => sample.plan.scatter(&updates, &indices, &mut target),
                    3 => sample.plan.scatter(updates.as_chunks::<3>().0, &indices, target.as_chunks_mut::<3>().0),
                    _ => sample.plan.scatter(updates.as_chunks::<16>().0, &indices, target.as_chunks_mut::<16>().0),
                }
            });
            assert_eq!((found, &by_bytes), (expected, &target), "{sample}");
        }
    }
}

#[test]
fn errors_name_target_and_updates_and_leave_the_target() {
    let plan = Gather::new().plan(&[3, 2], &[2]).unwrap();
    let mut target = [1, 2, 3, 4, 5, 6];
    let mut text = |updates: &[i32], indices: &[i32], len: usize| {
        let found = plan.scatter(updates, indices, &mut target[..len]);
        let sums = plan.scatter_reduce(Reduce::Add, updates, indices, &mut target[..len]);
        assert_eq!(found, sums);
        assert_eq!(target, [1, 2, 3, 4, 5, 6]);
        found.unwrap_err().to_string()
    };
    assert_eq!(
        text(&[0; 3], &[0, 1], 6),
        "updates must have 4 elements, found 3"
    );
    assert_eq!(
        text(&[0; 4], &[0], 6),
        "indices must have 2 elements, found 1"
    );
    assert_eq!(
        text(&[0; 4], &[0, 1], 5),
        "target must have 6 elements, found 5"
    );
    assert_eq!(text(&[0; 4], &[0, 3], 6), "indices[1] = 3 is not in [0, 3)");
    let one = plan.one_update();
    let error = one.scatter(&[0; 4], &[0, 1], &mut target).unwrap_err();
    assert_eq!(error.to_string(), "updates must have 2 elements, found 4");

    let types = ElementTypes::new(2, IndexKind::U8);
    let mut bytes = [7; 12];
    let mut text = |types, updates: usize, indices: &[u8], target: usize| {
        let found = plan.scatter_bytes(types, &vec![0; updates], indices, &mut bytes[..target]);
        found.unwrap_err().to_string()
    };
    assert_eq!(
        text(types, 7, &[0, 1], 12),
        "updates must have 8 bytes, found 7"
    );
    assert_eq!(
        text(types, 8, &[0], 12),
        "indices must have 2 bytes, found 1"
    );
    assert_eq!(
        text(types, 8, &[0, 1], 11),
        "target must have 12 bytes, found 11"
    );
    let encoded = ElementTypes::encoded(Encoding::Q8_0, IndexKind::U8);
    assert_eq!(
        text(encoded, 8, &[0, 1], 12),
        "target must hold elements, found rows of Q8_0: a scatter encodes nothing"
    );
    assert_eq!(bytes, [7; 12]);

    let elements = GatherElements::new().broadcast(true);
    let text = |params: &[usize], indices: &[usize]| {
        let plan = elements.plan(params, indices).unwrap();
        let zeros = |shape: &[usize]| vec![0; shape.iter().product()];
        let updates = zeros(plan.output_shape());
        let found = plan.scatter(&updates, &zeros(indices), &mut zeros(params));
        found.map_err(|error| error.to_string())
    };
    let stretched =
        "target must not be stretched by broadcasting: its dim 1 must be 6 in a scatter, found 1";
    assert_eq!(text(&[9, 1], &[5, 6]), Err(stretched.into()));
    // The shapes decide, also where nothing would be written.
    assert_eq!(text(&[9, 1, 0], &[5, 6, 0]), Err(stretched.into()));
    // Each repetition of an index writes its own elements.
    assert_eq!(text(&[5, 7, 3], &[8, 1, 3]), Ok(()));
    assert_eq!(text(&[5, 7, 3], &[8, 1, 1]), Ok(()));
}

/// What TensorFlow says if a scatter is out of range.
#[test]
fn a_bad_row_is_named_in_the_words_of_tensorflow() {
    let plan = GatherNd::new().plan(&[4, 1], &[3, 1]).unwrap();
    let error = plan
        .scatter(&[1, 2, 3], &[0, 1, 100], &mut [0; 4])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "indices[2] = [100] does not index into shape [4,1]"
    );
}

#[test]
fn a_large_table_takes_no_counters() {
    let plan = Gather::new().plan(&[1_000_000_000], &[10]).unwrap();
    let mut table = vec![0_u8; 1_000_000_000];
    let indices: Vec<i64> = (0..10).map(|n| n * 99_999_999).collect();
    let took = allocation_counter::measure(|| {
        plan.scatter_reduce(Reduce::Add, &[3; 10], &indices, &mut table)
            .unwrap();
    });
    assert!(took.bytes_max < 10_000, "{took:?}");
    assert_eq!(
        indices
            .iter()
            .map(|&at| u32::from(table[usize::try_from(at).unwrap()]))
            .sum::<u32>(),
        30
    );
    // Float sums by few index rows take as little; those by many take a few bytes for each, even if few rows meet all updates.
    for (count, few, most) in [
        (1024, u32::MAX, 10_000),
        (200_000, u32::MAX, 9 * 200_000),
        (200_000, 2, 9 * 200_000),
    ] {
        let plan = Gather::new().plan(&[50_000_000], &[count]).unwrap();
        let mut table = vec![0.0_f32; 50_000_000];
        let indices: Vec<u32> = (0..)
            .take(count)
            .map(|n: u32| n.wrapping_mul(0x9e37_79b1) % 50_000_000 % few)
            .collect();
        let updates = vec![1.0; count];
        let took = allocation_counter::measure(|| {
            plan.scatter_reduce(Reduce::Add, &updates, &indices, &mut table)
                .unwrap();
        });
        assert!(took.bytes_max < most, "{took:?}");
    }
}

/// The CPU's scatters.
struct OnCpu;

impl Scatters for OnCpu {
    fn run<T: Number, I: Index>(
        &self,
        plan: &GatherPlan,
        told: Told,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Option<Result<(), RunError>> {
        Some(run(plan, told, updates, indices, target))
    }
}

/// What users of other libraries reported as wrong, with the right results.
#[test]
fn every_reported_scatter_is_right() {
    assert_eq!(check_recorded("scatter_reports.jsonl", &OnCpu), 72);
}

#[test]
fn every_recorded_scatter_of_other_libraries_is_equal() {
    assert_eq!(check_recorded("scatter.jsonl", &OnCpu), 673);
}
