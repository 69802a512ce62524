//! Sums over bags on the CPU, compared with their definition.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use half::{bf16, f16};
use testkit::bags::BagsCase;
use testkit::encoded::{encoded, row_bytes, row_len};
use testkit::indices::Hash;
use testkit::sweep::{some, takes_every_case};
use wgpu_gather::{
    BadIndices, Bags, BlockQuantized, Encoded, Encoding, Gather, GatherElements, GatherNd, Offsets,
    PlanError, RunError,
};

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// Runs a case in all types of offsets and indices, and compares.
fn check(case: &BagsCase, hash: &mut Hash) {
    let plan = case.plan();
    let expected = bits(&case.expected(|at| case.params[at]));
    let longs: Vec<i64> = case.offsets.iter().map(|&at| at.into()).collect();
    let offsets = Offsets::from(&case.offsets[..]);
    let bags = case.bags(offsets, &case.weights[..]);
    let found = plan.gather_bags(&case.params, &case.indices, bags).unwrap();
    assert_eq!(bits(&found), expected, "{case:?}");
    let indices: Vec<i64> = case.indices.iter().map(|&index| index.into()).collect();
    let bags = case.bags(Offsets::from(&longs[..]), &case.weights[..]);
    let mut found = vec![f32::NAN; expected.len()];
    plan.gather_bags_into(&case.params, &indices, bags, &mut found)
        .unwrap();
    assert_eq!(bits(&found), expected, "{case:?}");
    // Rows with gaps between them, at any byte.
    let stride = case.slice_len + 1 + hash.below(3);
    let mut bytes = vec![0x5a];
    for row in case.params.chunks(case.slice_len) {
        bytes.extend(row.iter().flat_map(|float| float.to_le_bytes()));
        bytes.resize(bytes.len() + 4 * (stride - case.slice_len), 0xff);
    }
    let table = Encoded::new(Encoding::F32, &bytes[1..]);
    let with_gaps = plan.with_params_stride(stride).unwrap();
    let bags = case.bags(offsets, &case.weights[..]);
    let found = with_gaps.gather_bags_encoded(&table, &case.indices, bags);
    assert_eq!(bits(&found.unwrap()), expected, "{case:?}");
}

#[test]
fn random_bags_equal_the_definition() {
    let cases = if takes_every_case() { 2000 } else { 300 };
    let mut hash = Hash::new(91);
    for _ in 0..cases {
        check(&BagsCase::random(&mut hash), &mut hash);
    }
}

#[test]
fn bags_may_end_with_a_block_and_hold_a_million_rows() {
    let mut hash = Hash::new(92);
    for _ in 0..6 {
        let sizes = [0, 1, 1023, 1024, 1025, 0, 2047, 2048, 2049, 5, 0];
        check(&BagsCase::of(&sizes, 5, &mut hash), &mut hash);
    }
    check(&BagsCase::of(&[7, 1_000_000, 3], 2, &mut hash), &mut hash);
}

#[test]
fn halves_are_widened_and_rounded_once() {
    let mut hash = Hash::new(96);
    for _ in 0..60 {
        let case = BagsCase::random(&mut hash);
        let bags = || case.bags(Offsets::from(&case.offsets[..]), &case.weights[..]);
        macro_rules! check {
            ($half:ident, $nan:literal) => {
                let params: Vec<_> = case.params.iter().map(|&x| $half::from_f32(x)).collect();
                let found = case
                    .plan()
                    .gather_bags(&params, &case.indices, bags())
                    .unwrap();
                let expected = case.expected(|at| params[at].to_f32()).into_iter();
                let expected = expected.map(|x| {
                    if x.is_nan() {
                        $nan
                    } else {
                        $half::from_f32(x).to_bits()
                    }
                });
                let found: Vec<_> = found.into_iter().map($half::to_bits).collect();
                assert_eq!(found, expected.collect::<Vec<_>>(), "{case:?}");
            };
        }
        check!(f16, 0x7e00);
        check!(bf16, 0x7fc0);
    }
}

/// Rows of each encoding are decoded as a gather decodes them.
#[test]
fn encoded_rows_are_summed_as_they_are_decoded() {
    let mut hash = Hash::new(97);
    let quantized = BlockQuantized::new(4, 32).unwrap().with_zero_points();
    let encodings = Encoding::ALL.iter().copied();
    for encoding in encodings.chain([Encoding::BlockQuantized(quantized)]) {
        let len = 2 * row_len(encoding).next_multiple_of(8).max(16);
        let len = len.next_multiple_of(usize::try_from(encoding.block_len()).unwrap());
        let mut case = BagsCase::of(&[0, 1, 3, 40, 2], len, &mut hash);
        case.policy = BadIndices::Fill;
        let bytes = row_bytes(encoding, len).map(|of_row| {
            let bytes = (0..case.rows * of_row).map(|_| u8::try_from(hash.below(256)).unwrap());
            bytes.collect::<Vec<_>>()
        });
        let [rows, scales, zero_points] = bytes;
        let qparams = [scales, zero_points];
        let table = encoded(encoding, &rows, &qparams);
        let all: Vec<u32> = (0..u32::try_from(case.rows).unwrap()).collect();
        let plan = Gather::new().plan(&[case.rows, len], &[case.rows]).unwrap();
        let decoded = plan.gather_encoded(&table, &all).unwrap();
        let bags = || case.bags(Offsets::from(&case.offsets[..]), &case.weights[..]);
        let found = case
            .plan()
            .gather_bags_encoded(&table, &case.indices, bags())
            .unwrap();
        let expected = case.expected(|at| decoded[at]);
        assert_eq!(bits(&found), bits(&expected), "{encoding}");
        let found = case
            .plan()
            .gather_bags_encoded(&table.to::<bf16>(), &case.indices, bags());
        let expected = expected.into_iter().map(|x| {
            if x.is_nan() {
                bf16::from_bits(0x7fc0)
            } else {
                bf16::from_f32(x)
            }
        });
        let of_bits = |halves: Vec<bf16>| halves.into_iter().map(bf16::to_bits).collect::<Vec<_>>();
        assert_eq!(
            of_bits(found.unwrap()),
            of_bits(expected.collect()),
            "{encoding}"
        );
    }
}

#[test]
fn mistakes_are_typed_errors() {
    let plan = Gather::new().plan(&[3, 2], &[4]).unwrap();
    let (params, ids) = ([1.0_f32; 6], [0_u8, 1, 2, 1]);
    let error = |bags: Bags<&[u8], &[f32]>| {
        plan.gather_bags(&params, &ids, bags)
            .unwrap_err()
            .to_string()
    };
    let sum = |offsets: &[i64]| {
        let bags = Bags::sum(offsets);
        plan.gather_bags(&params, &ids, bags)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(sum(&[1, 4]), "offsets[0] must be 0, found 1");
    assert_eq!(sum(&[0, 3, 2]), "offsets[2] must be 3 to 4, found 2");
    assert_eq!(sum(&[0, 5]), "offsets[1] must be 0 to 4, found 5");
    assert_eq!(sum(&[0, -1]), "offsets[1] must be 0 to 4, found -1");
    assert_eq!(sum(&[]), "offsets must have at least 1 elements, found 0");
    let large = error(Bags::sum(&[0, u64::MAX][..]));
    assert_eq!(
        large,
        "offsets[1] must be 0 to 4, found 18446744073709551615"
    );
    let each = error(Bags::sum(Offsets::each(3, 2)));
    assert_eq!(each, "indices must have 6 elements, found 4");
    let weights = error(Bags::weighted(&[0, 4][..], &[1.0; 3][..]));
    assert_eq!(weights, "weights must have 4 elements, found 3");
    let bytes = error(Bags::sum(Offsets::new(
        &[0_u8; 9][..],
        wgpu_gather::IndexKind::I64,
        1,
    )));
    assert_eq!(bytes, "offsets must have 8 bytes, found 9");
    // Nothing is written.
    let mut output = [7.0; 2];
    let bad = plan.gather_bags_into(&params, &[0, 9, 8, 0], Bags::sum(&[0, 4][..]), &mut output);
    assert_eq!(
        bad.unwrap_err().to_string(),
        "indices[1] = 9 is not in [0, 3)"
    );
    assert_eq!(output, [7.0; 2]);
    let short = plan.gather_bags_into(&params, &ids, Bags::sum(&[0, 4][..]), &mut [0.0]);
    assert_eq!(
        short.unwrap_err().to_string(),
        "output must have 2 elements, found 1"
    );
    let refused = |plan: Result<wgpu_gather::GatherPlan, PlanError>, len: usize| {
        let plan = plan.unwrap();
        let (params, ids) = (vec![1.0_f32; len], vec![0_u8; plan.indices_len()]);
        let bags = Bags::sum(Offsets::each(1, ids.len()));
        match plan.gather_bags(&params, &ids, bags) {
            Err(RunError::Plan(error @ PlanError::Bags { .. })) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let text = |part: &str| format!("a plan for bags must have {part}");
    let gather = Gather::new();
    assert_eq!(
        refused(gather.axis(1).plan(&[3, 2], &[4]), 6),
        text("axis 0, found 1")
    );
    let batched = gather.batch_dims(1).plan(&[2, 3], &[2, 2]);
    assert_eq!(refused(batched, 6), text("batch_dims 0, found 1"));
    let two = GatherNd::new().plan(&[3, 2], &[4, 2]);
    assert_eq!(refused(two, 6), text("index depth 1, found 2"));
    let shard = plan.shard(0..2);
    assert_eq!(refused(shard, 4), text("rows in its shard 3, found 2"));
    let gaps = plan.with_output_stride(3);
    assert_eq!(refused(gaps, 6), text("output stride 2, found 3"));
    let elements = GatherElements::new().axis(0).plan(&[3, 2], &[3, 2]);
    assert!(refused(elements, 6).starts_with("a plan for bags must have "));
}

/// PyTorch's embedding_bag, whose padded ids become bad rows, and JAX's segment_sum of sorted ids.
#[test]
fn recorded_bags_are_those_of_other_libraries() {
    let text = std::fs::read_to_string(testkit::data::file("bags.jsonl")).unwrap();
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let numbers = |name: &str| -> Vec<f32> {
            serde_json::from_value::<Option<_>>(case[name].clone())
                .unwrap()
                .unwrap_or_default()
        };
        let counts = |name: &str| -> Vec<i64> {
            serde_json::from_value::<Option<_>>(case[name].clone())
                .unwrap()
                .unwrap_or_default()
        };
        let shape: Vec<usize> = serde_json::from_value(case["shape"].clone()).unwrap();
        let (weights, of_row) = (numbers("weights"), counts("of_row"));
        let gather = Gather::new().bad_indices(BadIndices::Fill);
        let (ids, offsets) = match case["call"].as_str().unwrap() {
            "segment_sum" => {
                let segments = case["segments"].as_i64().unwrap();
                let first = |segment| of_row.partition_point(|&of| of < segment);
                let offsets = (0..=segments).map(|segment| i64::try_from(first(segment)).unwrap());
                ((0_i64..).take(shape[0]).collect(), offsets.collect())
            }
            _ => {
                let padding = case["padding"].as_i64();
                let id = |id| if Some(id) == padding { -1 } else { id };
                (
                    counts("ids").into_iter().map(id).collect::<Vec<_>>(),
                    counts("offsets"),
                )
            }
        };
        let mut of_bags = Offsets::from(&offsets[..]);
        if case["has_last"] == false {
            of_bags = of_bags.without_last();
        }
        let bags = match case["mode"].as_str() {
            Some("mean") => Bags::mean(of_bags),
            Some("max") => Bags::max(of_bags),
            _ if weights.is_empty() => Bags::sum(of_bags),
            _ => Bags::weighted(of_bags, &weights[..]),
        };
        let plan = gather.plan(&shape, &[ids.len()]).unwrap();
        let found = plan.gather_bags(&numbers("table"), &ids, bags).unwrap();
        assert_eq!(found, numbers("bags"), "{line}");
    }
    assert_eq!(text.lines().count(), 80);
}

/// Indices after the last bag are judged too; bags without elements give none.
#[test]
fn bags_may_be_empty() {
    let plan = Gather::new().plan(&[3, 2], &[4]).unwrap();
    let bags = Bags::sum(&[0, 0, 1][..]);
    let found = plan.gather_bags(&[1.0_f32; 6], &[2, 0, 0, 0], bags);
    assert_eq!(found.unwrap(), [0.0, 0.0, 1.0, 1.0]);
    let bad = plan.gather_bags(&[1.0_f32; 6], &[2, 0, 9, 0], bags);
    assert_eq!(
        bad.unwrap_err().to_string(),
        "indices[2] = 9 is not in [0, 3)"
    );
    let none = plan.gather_bags(&[1.0_f32; 6], &[0; 4], Bags::max(&[0][..]));
    assert!(none.unwrap().is_empty());
    let narrow = Gather::new().plan(&[3, 0], &[4]).unwrap();
    let none = narrow.gather_bags(&[0.0_f32; 0], &[7; 4], Bags::mean(Offsets::each(2, 2)));
    assert!(none.unwrap().is_empty());
    // Params has no elements, although its rows would start 2^20 elements apart.
    let apart = narrow.with_params_stride(1 << 20).unwrap();
    let none = apart.gather_bags(&[0.0_f32; 0], &[7; 4], Bags::sum(Offsets::each(2, 2)));
    assert!(none.unwrap().is_empty());
    let no_indices = Gather::new().plan(&[3, 2], &[0]).unwrap();
    let zeros = no_indices.gather_bags(&[1.0_f32; 6], &[0_i32; 0], Bags::max(&[0, 0][..]));
    assert_eq!(zeros.unwrap(), [0.0, 0.0]);
    for (sizes, count) in some(10, 1, 0, [(0, 0), (0, 5), (usize::MAX, 0)]) {
        let bags = Bags::sum(Offsets::each(count, sizes));
        let found = no_indices.gather_bags(&[1.0_f32; 6], &[0_i32; 0], bags);
        assert_eq!(found.unwrap(), vec![0.0; 2 * count]);
    }
}
