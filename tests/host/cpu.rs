//! Gathers on the CPU, compared with the oracle and with results that documentations print.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use testkit::cases;
use testkit::element_types::check_element_types;
use testkit::indices::Hash;
use testkit::oracle::Case;
use testkit::samples::{Cpu, POLICIES, WIDTHS};
use testkit::sizes::run_filled;
use testkit::{random_shapes, small_shapes, sweep};
use wgpu_gather::{
    BadIndices, ElementTypes, Gather, GatherNd, GatherPlan, Index, IndexKind, Mask,
    NegativeIndices, Operand, RunError,
};

#[test]
fn documentation_examples_give_the_results_they_print() {
    for example in cases::documentation() {
        let (case, params) = (&example.case, &example.params);
        let plan = case.plan(BadIndices::DeviceDefault).unwrap();
        assert_eq!(plan.output_shape(), example.output_shape, "{case}");
        let output = plan.gather(params, &indices_of(case)).unwrap();
        assert_eq!(output, example.output, "{case}");

        let answer = case.answer().elements;
        let oracle: Vec<_> = answer.iter().map(|at| params[at.unwrap()]).collect();
        assert_eq!(oracle, example.output, "the oracle on {case}");
    }
}

#[test]
fn every_case_of_the_table_equals_the_oracle() {
    for case in cases::table() {
        if case.check_plan() {
            for sample in case.samples(&[1, 3, 4, 16], IndexKind::ALL, POLICIES) {
                sample.check(&Cpu);
            }
        }
    }
}

#[test]
fn gaps_after_slices_are_neither_read_nor_written() {
    for case in cases::table().into_iter().filter(Case::check_plan) {
        for sample in case.samples(&[1, 3, 4, 16], &[IndexKind::I64], POLICIES) {
            for gaps in [[1, 0], [0, 2], [5, 3]] {
                sample.with_gaps(gaps).check(&Cpu);
            }
        }
    }
}

#[test]
fn every_index_value_is_compared_at_full_width() {
    for case in cases::index_values() {
        for sample in case.samples(&[4], IndexKind::ALL, POLICIES) {
            sample.check(&Cpu);
        }
    }
}

/// Also for the policies that replace an index, and for an empty output.
#[test]
fn the_mask_has_the_bad_rows_of_the_oracle() {
    let cases = cases::table().into_iter().filter(Case::check_plan);
    for case in cases.chain(cases::index_values()) {
        for sample in case.samples(&[1], IndexKind::ALL, POLICIES) {
            sample.check_mask();
        }
    }
}

#[test]
fn usize_indices_have_a_mask_of_their_width() {
    let gather = GatherNd::new().negative_indices(NegativeIndices::FromEnd);
    let plan = gather.plan(&[3, 4], &[2, 2]).unwrap();
    let found = plan.out_of_range(&[2, 3, 2, usize::MAX]);
    assert_eq!(found, Ok(vec![false, true]));
}

#[test]
fn a_mask_needs_all_indices_and_memory() {
    let plan = Gather::new().plan(&[3], &[2]).unwrap();
    let error = plan.out_of_range(&[0]).unwrap_err();
    assert_eq!(error.to_string(), "indices must have 2 elements, found 1");
    // Index rows without values need memory only for the mask.
    let plan = GatherNd::new().plan(&[1], &[1 << 62, 0]).unwrap();
    let error = plan.out_of_range(&[0_i32; 0]).unwrap_err();
    let text = "mask of 4611686018427387904 elements of 1 bytes cannot be allocated";
    assert_eq!(error.to_string(), text);
}

#[test]
fn of_two_values_either_may_be_out_of_range() {
    let (rows, columns) = (3, 5);
    let values = [
        i32::MIN,
        -6,
        -5,
        -4,
        -3,
        -1,
        0,
        2,
        3,
        4,
        5,
        1 << 16,
        i32::MAX,
    ];
    for slice_len in [1, 2, 3, 4, 5, 8, 16] {
        let params: Vec<usize> = (1..=15 * slice_len).collect();
        for negative in [NegativeIndices::Invalid, NegativeIndices::FromEnd] {
            let from_end = negative == NegativeIndices::FromEnd;
            let place = |value: i32, dim: i32| match value {
                _ if (0..dim).contains(&value) => Some(value),
                _ if from_end && (-dim..0).contains(&value) => Some(value + dim),
                _ => None,
            };
            let indices = values.map(|row| values.map(|column| [row, column]));
            let places = indices.as_flattened().iter().map(|&[row, column]| {
                let row = place(row, rows)? * columns + place(column, columns)?;
                usize::try_from(row).ok()
            });
            let expected: Vec<usize> = places
                .flat_map(|row| {
                    (0..slice_len).map(move |at| row.map_or(0, |row| row * slice_len + at + 1))
                })
                .collect();
            let plan = GatherNd::new()
                .negative_indices(negative)
                .bad_indices(BadIndices::Fill)
                .plan(&[3, 5, slice_len], &[values.len(), values.len(), 2])
                .unwrap();
            let signed = indices.as_flattened().as_flattened();
            assert_eq!(
                plan.gather(&params, signed).unwrap(),
                expected,
                "{slice_len}"
            );
            if !from_end {
                let unsigned: Vec<u32> = signed.iter().map(|value| value.cast_unsigned()).collect();
                assert_eq!(
                    plan.gather(&params, &unsigned).unwrap(),
                    expected,
                    "{slice_len}"
                );
            }
        }
    }
}

#[test]
fn slices_of_every_length_are_copied_whole() {
    // Each element's value is a function of its place in params.
    check_slice_lengths(|place| u8::try_from(place % 251).unwrap() + 1);
    check_slice_lengths(|place| place + 1);
    check_slice_lengths(|place| u32::from(place) + 1);
    check_slice_lengths(|place| [u32::from(place) + 1, u32::from(place), 7]);
    check_slice_lengths(|place| f64::from(place) + 1.0);
}

fn check_slice_lengths<T>(element: impl Fn(u16) -> T)
where
    T: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync,
{
    for slice_len in 1..=132 {
        let params: Vec<T> = (0..).take(6 * slice_len).map(&element).collect();
        let indices: [i32; 7] = [4, 0, 6, 5, -1, 1, 4];
        let expected: Vec<T> = indices
            .iter()
            .flat_map(|&row| (0..slice_len).map(move |at| (row, at)))
            .map(|(row, at)| match usize::try_from(row) {
                Ok(row @ 0..6) => params[row * slice_len + at],
                _ => T::default(),
            })
            .collect();
        let gather = GatherNd::new().bad_indices(BadIndices::Fill);
        let plan = gather.plan(&[6, slice_len], &[7, 1]).unwrap();
        assert_eq!(
            plan.gather(&params, &indices).unwrap(),
            expected,
            "{slice_len}"
        );

        let pairs = indices.map(|row| [row.div_euclid(2), row.rem_euclid(2)]);
        let plan = gather.plan(&[3, 2, slice_len], &[7, 2]).unwrap();
        let found = plan.gather(&params, pairs.as_flattened()).unwrap();
        assert_eq!(found, expected, "{slice_len}");
    }
}

/// Params above 8 MiB, so that slices are prefetched, and more index rows than the CPU locates at a time.
#[test]
fn slices_of_large_params_are_copied() {
    for slice_len in [1, 2, 5, 8, 9, 16, 33, 128, 600] {
        let rows = (9 << 18) / slice_len;
        let params: Vec<u32> = (1..).take(rows * slice_len).collect();
        let value = |place: u64| match place % 100 {
            80 => i64::MAX,
            81 => i64::MIN,
            82 => -1,
            83 => i64::try_from(rows).unwrap(),
            _ => i64::try_from(place * 7919 % rows as u64).unwrap(),
        };
        let indices: Vec<i64> = (0..1000).map(value).collect();
        let row = |&index: &i64| usize::try_from(index).ok().filter(|&row| row < rows);
        let slice = |row: usize| params[row * slice_len..][..slice_len].to_vec();
        let zeros = || vec![0; slice_len];
        let expected: Vec<u32> = indices
            .iter()
            .flat_map(|index| row(index).map_or_else(zeros, slice))
            .collect();
        let zero = BadIndices::Fill;
        let gather = GatherNd::new().bad_indices(zero);
        let plan = gather.plan(&[rows, slice_len], &[1000, 1]).unwrap();
        let found = plan.gather(&params, &indices).unwrap();
        assert_eq!(found, expected, "{slice_len}");

        let pairs: Vec<i64> = indices.iter().flat_map(|&index| [0, index]).collect();
        let plan = gather.plan(&[1, rows, slice_len], &[1000, 2]).unwrap();
        let found = plan.gather(&params, &pairs).unwrap();
        assert_eq!(found, expected, "{slice_len}");

        // With `Clamp`, rows are located before they are copied.
        let gather = Gather::new().bad_indices(BadIndices::Clamp);
        let plan = gather.plan(&[rows, slice_len], &[1000]).unwrap();
        let last = i64::try_from(rows - 1).unwrap();
        let clamped: Vec<u32> = indices
            .iter()
            .flat_map(|&index| slice(usize::try_from(index.clamp(0, last)).unwrap()))
            .collect();
        assert_eq!(
            plan.gather(&params, &indices).unwrap(),
            clamped,
            "{slice_len}"
        );
    }
}

#[test]
fn outputs_of_fresh_memory_are_whole() {
    // 35 MiB, which malloc always maps anew (from 32 MiB on), in slices that take many memcpy calls.
    let slice_len = 1 << 18;
    let params: Vec<u8> = (0..=250).cycle().take(3 * slice_len).collect();
    let indices: Vec<i32> = (0..140).map(|place| place * 7 % 5 - 1).collect();
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    let plan = gather.plan(&[3, slice_len], &[140]).unwrap();
    let shard = plan.shard(1..2).unwrap();
    for (plan, held, params) in [
        (&plan, 0..3, &params[..]),
        (&shard, 1..2, &params[slice_len..2 * slice_len]),
    ] {
        let output = run_filled(plan, params, &indices, 255).unwrap();
        assert_eq!(output.len(), 140 * slice_len);
        for (&index, slice) in indices.iter().zip(output.chunks_exact(slice_len)) {
            let same = |value| slice.iter().all(|&byte| byte == value);
            let row = usize::try_from(index).ok().filter(|&row| row < 3);
            assert!(
                match row {
                    None => same(255),
                    Some(row) if held.contains(&row) => {
                        *slice == params[(row - held.start) * slice_len..][..slice_len]
                    }
                    Some(_) => same(0),
                },
                "{index} {held:?}"
            );
        }
    }
}

#[test]
fn long_slices_of_a_long_output_are_copied_whole() {
    // Slices of 2 KiB and more, each copied by one or several memcpy calls. Threads share the output.
    const ROWS: usize = 402;
    const INDICES: usize = 17_000;
    for slice_len in [1024, 1025, 1040, 1301] {
        let params: Vec<u16> = (0..u16::MAX).cycle().take(2 * ROWS * slice_len).collect();
        let index = |place: usize| i32::try_from(place * 7 % (ROWS + 2)).unwrap() - 1;
        let indices: Vec<i32> = (0..INDICES).map(index).collect();
        let pairs: Vec<i32> = indices
            .iter()
            .flat_map(|&index| [index.div_euclid(3), index.rem_euclid(3)])
            .collect();
        let zero = BadIndices::Fill;
        let (gather, gather_nd) = (
            Gather::new().bad_indices(zero),
            GatherNd::new().bad_indices(zero),
        );
        let half = INDICES / 2;
        let of_parts = gather.axis(1).plan(&[2, ROWS, slice_len], &[half]);
        let batches = gather_nd.batch_dims(1);
        let of_batches = batches.plan(&[2, ROWS, slice_len], &[2, half, 1]);
        let of_rows = gather.plan(&[2 * ROWS, slice_len], &[INDICES]);
        let of_pairs = gather_nd.plan(&[2 * ROWS / 3, 3, slice_len], &[INDICES, 2]);
        for (plan, indices, is_halved) in [
            (of_parts.unwrap(), &indices[..half], true),
            (of_batches.unwrap(), &indices[..], true),
            (of_rows.unwrap(), &indices[..], false),
            (of_pairs.unwrap(), &pairs[..], false),
        ] {
            let index_rows = if indices.len() == half { half } else { INDICES };
            let len: usize = plan.output_shape().iter().product();
            for start in [0, 1, 31] {
                let mut memory = vec![9; start + len + 40];
                let output = &mut memory[start..][..len];
                plan.fill(7).gather_into(&params, indices, output).unwrap();
                assert!(memory[..start].iter().all(|&value| value == 9));
                assert!(memory[start + len..].iter().all(|&value| value == 9));
                for (row, slice) in memory[start..][..len].chunks_exact(slice_len).enumerate() {
                    let index = index(row % index_rows);
                    // The second half of the output is gathered from the second half of params.
                    let (first, rows) = match is_halved {
                        true => (row / half * ROWS, ROWS),
                        false => (0, 2 * ROWS),
                    };
                    let row = usize::try_from(index).ok().filter(|&row| row < rows);
                    let same = match row {
                        Some(row) => *slice == params[(first + row) * slice_len..][..slice_len],
                        None => slice.iter().all(|&value| value == 7),
                    };
                    assert!(same, "{plan} {start} {index}");
                }
            }
        }
        let checked = Gather::new().plan(&[2 * ROWS, slice_len], &[INDICES]);
        let mut indices = indices;
        indices.iter_mut().for_each(|index| *index += 1);
        indices[INDICES - 3] = 804;
        let error = checked.unwrap().gather(&params, &indices).unwrap_err();
        assert_eq!(error.to_string(), "indices[16997] = 804 is not in [0, 804)");
    }
}

#[test]
fn bad_rows_hold_the_fill() {
    for case in cases::slice_lengths()
        .into_iter()
        .chain(cases::index_values())
    {
        for sample in case.samples(&[1, 4], &[IndexKind::I64], &[BadIndices::Fill]) {
            let sample = sample.filled();
            let indices: Vec<i64> = bytemuck::pod_collect_to_vec(&sample.indices);
            let filled = if sample.element_bytes == 1 {
                run_filled(&sample.plan, &sample.params, &indices, sample.fill[0]).unwrap()
            } else {
                let params: Vec<u32> = bytemuck::pod_collect_to_vec(&sample.params);
                let fill = bytemuck::pod_read_unaligned(&sample.fill);
                let filled = run_filled(&sample.plan, &params, &indices, fill).unwrap();
                let mut into = vec![7; filled.len()];
                sample
                    .plan
                    .fill(fill)
                    .gather_into(&params, &indices, &mut into)
                    .unwrap();
                assert_eq!(into, filled);
                bytemuck::cast_slice(&filled).to_vec()
            };
            assert_eq!(filled, sample.output, "{sample}");
        }
    }
}

#[test]
fn usize_indices_gather_as_numbers_of_their_width() {
    for case in cases::table().into_iter().filter(Case::check_plan) {
        for sample in case.samples(&[4], &[usize::KIND], POLICIES) {
            let params: Vec<u32> = bytemuck::pod_collect_to_vec(&sample.params);
            let indices: Vec<usize> = bytemuck::pod_collect_to_vec(&sample.indices);
            let types = ElementTypes::of::<u32, usize>();
            let expected = sample
                .plan
                .gather_bytes(types, &sample.params, &sample.indices);
            let found = sample.plan.gather(&params, &indices);
            let found = found.map(|output| bytemuck::cast_slice(&output).to_vec());
            assert_eq!(found, expected, "{sample}");
        }
    }
    let plan = Gather::new().plan(&[3], &[1]).unwrap();
    let text = format!("indices[0] = {} is not in [0, 3)", usize::MAX);
    let error = plan.gather(&[1, 2, 3], &[usize::MAX]).unwrap_err();
    assert_eq!(error.to_string(), text);
}

#[test]
fn bytes_are_gathered_as_elements_are() {
    for case in cases::table().into_iter().filter(Case::check_plan) {
        for sample in case.samples(&WIDTHS, IndexKind::ALL, POLICIES) {
            let (plan, params, indices) = (&sample.plan, &sample.params, &sample.indices);
            let types = ElementTypes::new(sample.element_bytes as u64, sample.index_kind);
            let mut output = vec![0xff; sample.output.len()];
            let into = plan.gather_bytes_into(types, params, indices, &mut output);
            let found = plan.gather_bytes(types, params, indices);
            assert_eq!(into.map(|()| output), found, "{sample}");
            let found = found.map_err(|error| error.to_string());
            let is_error = matches!(
                plan.bad_indices(),
                BadIndices::DeviceDefault | BadIndices::Error
            );
            let expected = match &sample.bad_index {
                Some(text) if is_error => Err(text.clone()),
                _ => Ok(sample.output.clone()),
            };
            assert_eq!(found, expected, "{sample}");
        }
    }
}

#[test]
fn bytes_are_gathered_into_rows_with_gaps() {
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    let plan = gather.plan(&[3, 2], &[3]).unwrap();
    let plan = plan.with_output_stride(3).unwrap();
    let types = ElementTypes::new(2, IndexKind::I16);
    let indices = [2_i16, 7, 0].map(i16::to_le_bytes).concat();
    // With the gap after the last row, with a part of it, or without.
    let whole = *b"ijkl--\0\0\0\0--abcd--";
    for len in [16, 17, 18] {
        let mut output = vec![b'-'; len];
        let into = plan.gather_bytes_into(types, b"abcdefghijkl", &indices, &mut output);
        assert_eq!(into, Ok(()));
        assert_eq!(output, whole[..len]);
    }
    for found in [0, 12, 15, 19] {
        let into = plan.gather_bytes_into(types, b"abcdefghijkl", &indices, &mut vec![0; found]);
        let length = RunError::ByteLength {
            operand: Operand::Output,
            expected: 16..=18,
            found,
        };
        assert_eq!(into, Err(length));
    }
    // Params may have gaps too.
    let wide = plan.with_params_stride(4).unwrap();
    let mut output = [b'-'; 16];
    let into = wide.gather_bytes_into(types, b"abcd++++efgh++++ijkl", &indices, &mut output);
    assert_eq!((into, &output[..]), (Ok(()), &whole[..16]));
}

#[test]
fn bytes_of_another_length_are_named() {
    let plan = Gather::new().plan(&[3, 2], &[2]).unwrap();
    let run = |element_bytes, params: &[u8], indices: &[u8]| {
        plan.gather_bytes(
            ElementTypes::new(element_bytes as u64, IndexKind::I32),
            params,
            indices,
        )
        .map_err(|error| error.to_string())
    };
    let error = |text: &str| Err(text.to_owned());
    assert_eq!(run(2, &[7; 12], &[0; 8]), Ok(vec![7; 8]));
    assert_eq!(
        run(2, &[7; 11], &[0; 8]),
        error("params must have 12 bytes, found 11")
    );
    assert_eq!(
        run(2, &[7; 12], &[0; 7]),
        error("indices must have 8 bytes, found 7")
    );
    assert_eq!(run(0, &[], &[0; 8]), Ok(vec![]));
    assert_eq!(
        run(0, &[1], &[0; 8]),
        error("params must have 0 bytes, found 1")
    );
    assert_eq!(
        run(0, &[], &[9; 8]),
        error("indices[0] = 151587081 is not in [0, 3)")
    );
    assert_eq!(
        run(usize::MAX, &[], &[0; 8]),
        error(&format!(
            "params of 6 elements of {} bytes cannot be allocated",
            usize::MAX
        ))
    );
}

/// A shard writes zeros for a row that another shard holds, and the fill for a bad row.
#[test]
fn a_fill_is_for_bad_rows_only() {
    let plan = Gather::new()
        .bad_indices(BadIndices::Fill)
        .plan(&[4], &[5])
        .unwrap();
    let indices = [3, 0, 4, -1, 1];
    let shards = [
        (0..2, vec![0, 10, 99, 99, 11]),
        (2..4, vec![13, 0, 99, 99, 0]),
        (2..2, vec![0, 0, 99, 99, 0]),
    ];
    for (rows, expected) in shards {
        let params = &[10, 11, 12, 13][rows.clone()];
        let shard = plan.shard(rows).unwrap();
        assert_eq!(run_filled(&shard, params, &indices, 99).unwrap(), expected);
    }
}

#[test]
fn elements_of_every_width_are_moved_whole() {
    for case in cases::slice_lengths() {
        for sample in case.samples(&WIDTHS, &[IndexKind::I32], POLICIES) {
            sample.check(&Cpu);
        }
    }
}

#[test]
fn elements_of_every_type_are_moved_bit_for_bit() {
    check_element_types(&Cpu);
}

#[test]
fn any_copy_type_is_gathered_with_its_default() {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Card {
        Joker,
        Number(u8, &'static str),
    }
    impl Default for Card {
        fn default() -> Self {
            Self::Number(1, "ace")
        }
    }

    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[2], &[3]).unwrap();
    let cards = [Card::Joker, Card::Number(7, "hearts")];
    assert_eq!(
        plan.gather(&cards, &[1, 2, 0]).unwrap(),
        [cards[1], Card::Number(1, "ace"), cards[0]]
    );
    assert_eq!(
        plan.gather(&["a", "b"], &[1, 2, 0]).unwrap(),
        ["b", "", "a"]
    );
    assert_eq!(plan.gather(&[(), ()], &[1, 2, 0]).unwrap(), [(), (), ()]);
}

#[test]
fn operands_of_another_length_are_named() {
    let plan = GatherNd::new().plan(&[2, 3], &[4, 1]).unwrap();
    let check = |params: usize, indices: usize, output: usize, operand, expected, found| {
        let (params, indices) = (vec![1_u8; params], vec![0_i32; indices]);
        let error = plan.gather_into(&params, &indices, &mut vec![0; output]);
        let length = RunError::Length {
            operand,
            expected: expected..=expected,
            found,
        };
        assert_eq!(error, Err(length.clone()));
        if operand != Operand::Output {
            assert_eq!(plan.gather(&params, &indices), Err(length));
        }
        error.unwrap_err().to_string()
    };
    let text = check(5, 4, 12, Operand::Params, 6, 5);
    assert_eq!(text, "params must have 6 elements, found 5");
    check(7, 4, 12, Operand::Params, 6, 7);
    let text = check(6, 3, 12, Operand::Indices, 4, 3);
    assert_eq!(text, "indices must have 4 elements, found 3");
    check(6, 5, 12, Operand::Indices, 4, 5);
    let text = check(6, 4, 11, Operand::Output, 12, 11);
    assert_eq!(text, "output must have 12 elements, found 11");
    check(6, 4, 13, Operand::Output, 12, 13);
    check(0, 0, 0, Operand::Params, 6, 0);
    let text = |plan: Result<GatherPlan, _>| {
        let run = plan.unwrap().gather(&[0_u8; 34], &[0_i32; 2]);
        run.unwrap_err().to_string()
    };
    let table = Gather::new().plan(&[5, 3], &[2]).unwrap();
    assert_eq!(
        text(table.with_params_stride(8)),
        "params must have 35 to 40 elements, found 34"
    );
}

#[test]
fn operands_of_empty_gathers_have_lengths_too() {
    let plan = Gather::new().plan(&[3, 0], &[2]).unwrap();
    assert_eq!(plan.gather::<u8, _>(&[], &[9, 9]), Ok(vec![]));
    let text = plan.gather::<u8, i32>(&[], &[]).unwrap_err().to_string();
    assert_eq!(text, "indices must have 2 elements, found 0");
    let text = plan.gather(&[1_u8], &[0, 0]).unwrap_err().to_string();
    assert_eq!(text, "params must have 0 elements, found 1");
}

#[test]
fn an_output_that_no_memory_holds_is_an_error() {
    let plan = GatherNd::new().plan(&[1], &[1 << 60, 0]).unwrap();
    assert_eq!(
        plan.gather(&[[0_u8; 32]], &[0_i32; 0])
            .unwrap_err()
            .to_string(),
        "output of 1152921504606846976 elements of 32 bytes cannot be allocated"
    );
}

/// No memory holds these outputs, so a gather that allocated before it read an index would give `OutOfMemory`.
#[test]
fn params_without_rows_ask_for_no_output() {
    // 1 GiB.
    let plan = Gather::new().plan(&[0, 1 << 27], &[1]).unwrap();
    let asked = allocation_counter::measure(|| assert!(plan.gather::<u64, _>(&[], &[0]).is_err()));
    assert!(asked.bytes_max < 1 << 20, "{asked:?}");
}

#[test]
fn a_bad_first_row_is_found_before_allocating() {
    let gather = Gather::new();
    for (gather, text) in [
        (gather, "indices[0] = 0 is not in [0, 0)"),
        (
            gather.bad_indices(BadIndices::Error),
            "indices[0] = 0 is not in [0, 0)",
        ),
        (
            gather.bad_indices(BadIndices::Fill),
            "output of 1152921504606846976 elements of 8 bytes cannot be allocated",
        ),
    ] {
        let plan = gather.plan(&[0, 1 << 60], &[1]).unwrap();
        let error = plan.gather::<u64, _>(&[], &[0]).unwrap_err();
        assert_eq!(error.to_string(), text);
        let shard = plan.shard(0..0).unwrap();
        assert_eq!(shard.gather::<u64, _>(&[], &[0]), Err(error));
    }
    let none_held = gather.plan(&[1, 1 << 60], &[1]).unwrap().shard(0..0);
    assert_eq!(
        none_held.unwrap().gather::<u64, _>(&[], &[0]).unwrap_err(),
        RunError::OutOfMemory {
            operand: Operand::Output,
            elements: 1 << 60,
            element_bytes: 8
        }
    );
}

/// A loop over the 2^62 elements would take decades.
#[test]
fn elements_without_bytes_take_no_time_to_copy() {
    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    struct Unit;

    const MANY: usize = 1 << 62;
    for &policy in POLICIES {
        let gather_nd = GatherNd::new().bad_indices(policy);
        let depth_0 = gather_nd.plan(&[1], &[MANY, 0]).unwrap();
        assert_eq!(depth_0.gather::<_, i32>(&[Unit], &[]).unwrap().len(), MANY);
        let mut output = [Unit; MANY];
        assert_eq!(
            depth_0.gather_into::<_, i32>(&[Unit], &[], &mut output),
            Ok(())
        );

        let gather = Gather::new().bad_indices(policy);
        let outer = gather.axis(1).plan(&[MANY / 2, 2], &[2]).unwrap();
        let params = [Unit; MANY];
        assert_eq!(outer.gather(&params, &[1, 0]).unwrap().len(), MANY);
        let bad = outer.gather(&params, &[1, 2]).map(|output| output.len());
        let into = outer.gather_into(&params, &[1, 2], &mut output);
        if matches!(policy, BadIndices::DeviceDefault | BadIndices::Error) {
            let text = "indices[1] = 2 is not in [0, 2)";
            assert_eq!(bad.unwrap_err().to_string(), text);
            assert_eq!(into.unwrap_err().to_string(), text);
        } else {
            assert_eq!((bad, into), (Ok(MANY), Ok(())));
        }
    }
}

/// Threads share several MB of output, so a later bad row is often found first.
#[test]
fn the_smallest_of_many_bad_rows_is_named() {
    // 6 blocks with 5000 64-byte slices each, 1.9 MB; for gather_nd 2 blocks with 15,000.
    let gather = Gather::new().batch_dims(1).axis(2);
    let gather = gather.plan(&[2, 3, 7, 16], &[2, 5000]).unwrap();
    let gather_nd = GatherNd::new().batch_dims(1);
    let gather_nd = gather_nd.plan(&[2, 7, 16], &[2, 15_000, 1]).unwrap();
    for (bad_row, text) in [
        (4321, "indices[0,4321] = 7 is not in [0, 7)"),
        (6543, "indices[1,1543] = 7 is not in [0, 7)"),
        (9999, "indices[1,4999] = 7 is not in [0, 7)"),
    ] {
        check_first_bad_row(&gather, bad_row, text);
    }
    // One block of 30,000 index rows.
    let one_part = Gather::new().plan(&[7, 16], &[30_000]).unwrap();
    for (bad_row, text) in [
        (0, "indices[0] = 7 is not in [0, 7)"),
        (15_123, "indices[15123] = 7 is not in [0, 7)"),
    ] {
        check_first_bad_row(&one_part, bad_row, text);
    }
    for (bad_row, text) in [
        (
            0,
            "indices[0,0] = [0, 7] does not index into param shape [2,7,16]",
        ),
        (
            14_999,
            "indices[0,14999] = [0, 7] does not index into param shape [2,7,16]",
        ),
        (
            15_001,
            "indices[1,1] = [1, 7] does not index into param shape [2,7,16]",
        ),
    ] {
        check_first_bad_row(&gather_nd, bad_row, text);
    }
}

/// Makes every index row from `bad_row` on bad, and checks that `bad_row` is named.
#[track_caller]
fn check_first_bad_row(plan: &GatherPlan, bad_row: usize, text: &str) {
    let params = vec![1_u32; plan.params_len()];
    let mut indices = vec![6_i32; plan.indices_len()];
    indices[bad_row] = 7;
    indices[bad_row + 1..].fill(-1);
    for _ in 0..20 {
        let RunError::BadIndex(bad) = plan.gather(&params, &indices).unwrap_err() else {
            panic!("another error");
        };
        assert_eq!(bad.row, bad_row);
        assert_eq!(bad.to_string(), text);
    }
}

/// Index rows with 8 values: each thread is still at its first rows when the next thread begins.
#[test]
fn threads_agree_on_the_first_bad_row() {
    const ROWS: usize = 1 << 16;
    let plan = GatherNd::new().plan(&[2; 8], &[ROWS, 8]).unwrap();
    let (params, indices) = ([1_u64; 1 << 8], vec![2_i64; ROWS * 8]);
    for _ in 0..3000 {
        let text = plan.gather(&params, &indices).unwrap_err().to_string();
        assert!(text.starts_with("indices[0] = [2, 2, "), "{text}");
    }
}

#[test]
fn large_gathers_equal_the_oracle() {
    let case = cases::many_rows();
    for sample in case.samples(&[4], &[IndexKind::U32], &[BadIndices::Fill]) {
        sample.check(&Cpu);
    }
}

#[test]
fn shards_put_together_are_the_whole() {
    let mut hash = Hash::new(1);
    let cases = cases::table().into_iter().chain(cases::index_values());
    for case in cases.filter(Case::check_plan) {
        for sample in case.samples(&[3, 4], &[IndexKind::I64], POLICIES) {
            sample.check_shards(&Cpu, &mut hash);
        }
    }
}

#[test]
fn random_shapes_equal_the_oracle() {
    random_shapes::check_random_samples(4000, |sample| sample.check(&Cpu));
}

#[test]
fn all_small_shapes_equal_the_oracle() {
    let start = Instant::now();
    let params_shapes = small_shapes::params_shapes();
    let [shapes, planned, gathers] = [const { AtomicU64::new(0) }; 3];
    sweep::on_all_cores(&params_shapes, |number, params_shape| {
        // One shape of indices in 127 runs; which ones, depends on the params shape.
        for case in sweep::some(0, 127, number, small_shapes::small_shapes(params_shape)) {
            shapes.fetch_add(1, Relaxed);
            if case.check_plan() {
                planned.fetch_add(1, Relaxed);
                for sample in small_shapes::samples_of(case, &[BadIndices::Error, BadIndices::Fill])
                {
                    sample.check(&Cpu);
                    gathers.fetch_add(1, Relaxed);
                }
            }
        }
    });
    let (shapes, planned) = (shapes.into_inner(), planned.into_inner());
    // The test harness hides `println!` of a passing test, but not a direct write to stderr.
    let printed = writeln!(
        io::stderr(),
        "sweep: {shapes} shape cases on the CPU equal to the oracle, {} of them rejected shapes; {} gathers in {:.1} s",
        shapes - planned,
        gathers.into_inner(),
        start.elapsed().as_secs_f64()
    );
    printed.expect("stderr takes a line");
    assert!(planned >= 20_000, "the sweep has lost its shapes");
}

fn indices_of(case: &Case) -> Vec<i64> {
    let values = case.indices.iter();
    values.map(|&value| i64::try_from(value).unwrap()).collect()
}

#[test]
fn threads_copy_blocks_that_share_index_rows() {
    // Tasks begin and end within blocks.
    let (blocks, row_count) = (70_001, 30);
    let params: Vec<u32> = (0..).take(blocks * row_count).collect();
    let indices: [u8; 7] = [29, 0, 3, 3, 28, 1, 0];
    let plan = Gather::new()
        .axis(1)
        .plan(&[blocks, row_count], &[7])
        .unwrap();
    let expected: Vec<u32> = (params.chunks(row_count))
        .flat_map(|block| indices.map(|index| block[usize::from(index)]))
        .collect();
    assert_eq!(plan.gather(&params, &indices), Ok(expected.clone()));
    assert_eq!(plan.gather(&params, &indices.map(i64::from)), Ok(expected));
    let bad: [i32; 7] = [29, 0, 3, 30, 28, 31, 0];
    let error = plan.gather(&params, &bad).unwrap_err().to_string();
    assert_eq!(error, "indices[3] = 30 is not in [0, 30)");
    // A fill in each block.
    let plan = Gather::new().axis(1).bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[blocks, row_count], &[7]).unwrap();
    let filled = plan.gather(&params, &bad).unwrap();
    let of_block = filled
        .as_chunks::<7>()
        .0
        .iter()
        .zip(params.chunks(row_count));
    for (found, block) in of_block {
        assert_eq!(
            *found,
            [block[29], block[0], block[3], 0, block[28], 0, block[0]]
        );
    }
}

#[test]
fn recorded_masks_select_what_other_libraries_select() {
    let masks = testkit::data::masks();
    for (line, entries) in &masks {
        let numbers = |name: &str| -> Vec<i64> {
            let array = line[name].as_array().unwrap();
            array.iter().filter_map(serde_json::Value::as_i64).collect()
        };
        let size = |number: &i64| usize::try_from(*number).unwrap();
        let mask = Mask::from(entries.as_slice());
        let found = mask.nonzero().unwrap();
        let mut found: Vec<_> = found.into_iter().map(i64::from).collect();
        if let Some(fill) = line["fill"].as_i64() {
            found.resize(size(&line["size"].as_i64().unwrap()), fill);
            assert_eq!(found, numbers("numbers"), "{line}");
            continue;
        }
        assert_eq!(found, numbers("numbers"), "{line}");
        let shape: Vec<_> = numbers("shape").iter().map(size).collect();
        let axis = size(&line["axis"].as_i64().unwrap());
        let mut params: Vec<_> = (0..).take(shape.iter().product()).collect();
        let found = mask.compress(&params, &shape, axis);
        assert_eq!(found.unwrap(), numbers("selected"), "{line}");
        if line["assigned"].is_null() {
            continue;
        }
        let updates = (1..).map(|at| -at).take(numbers("selected").len());
        let updates: Vec<i64> = updates.collect();
        let done = mask.scatter(&updates, &shape, axis, &mut params);
        done.unwrap();
        assert_eq!(params, numbers("assigned"), "{line}");
    }
    assert_eq!(masks.len(), 200);
}
