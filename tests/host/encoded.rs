//! Gathers encoded rows on the CPU.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use half::{bf16, f16};
use testkit::cases;
use testkit::encoded::{Recorded, encoded, row_bytes, row_len};
use testkit::indices::Hash;
use testkit::oracle::Case;
use testkit::quantized::Quantized;
use testkit::samples::{Cpu, POLICIES};
use testkit::sweep;
use wgpu_gather::{
    BadIndices, BlockQuantized, ElementTypes, Encoded, Encoding, FloatKind, Gather, GatherElements,
    GatherNd, GatherPlan, IndexKind, NegativeIndices, PlanError, RunError,
};

#[test]
fn recorded_rows_are_decoded() {
    for &encoding in Encoding::ALL {
        let recorded = Recorded::of(encoding);
        let [_, row_len] = recorded.shape;
        let (indices, plan) = recorded.reordered();
        let found = plan
            .gather_encoded(&Encoded::new(encoding, &recorded.rows), &indices)
            .unwrap();
        recorded.check(&indices, &found);
        // Output rows with gaps, and bytes.
        let gaps = plan.with_output_stride(row_len + 3).unwrap();
        let mut output = vec![7.0; gaps.output_len()];
        gaps.gather_encoded_into(
            &Encoded::new(encoding, &recorded.rows),
            &indices,
            &mut output,
        )
        .unwrap();
        for (found, row) in output.chunks(row_len + 3).zip(found.chunks(row_len)) {
            assert!(
                found
                    .iter()
                    .zip(row)
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            );
            assert!(found[row_len..].iter().all(|&gap| gap == 7.0));
        }
        let types = ElementTypes::encoded(encoding, IndexKind::I32);
        let bytes = plan
            .gather_bytes(types, &recorded.rows, bytemuck::cast_slice(&indices))
            .unwrap();
        recorded.check(&indices, &bytemuck::pod_collect_to_vec(&bytes));
        let mut wide = vec![7; output.len() * 4];
        gaps.gather_bytes_into(
            types,
            &recorded.rows,
            bytemuck::cast_slice(&indices),
            &mut wide,
        )
        .unwrap();
        for (found, row) in wide
            .chunks((row_len + 3) * 4)
            .zip(bytes.chunks(row_len * 4))
        {
            assert!(found.starts_with(row) && found[row.len()..].iter().all(|&gap| gap == 7));
        }
    }
}

/// ml_dtypes and NumPy round the recorded values to the same halves as the crate `half`, and so do we.
#[test]
fn recorded_rows_are_decoded_to_halves() {
    let sums = testkit::data::file("encoded/halves.json");
    let sums = std::fs::read_to_string(sums).unwrap();
    let sums: serde_json::Value = serde_json::from_str(&sums).unwrap();
    for &encoding in Encoding::ALL {
        let recorded = Recorded::of(encoding);
        let [rows, row_len] = recorded.shape;
        let (indices, plan) = recorded.reordered();
        for to in [FloatKind::F16, FloatKind::Bf16] {
            let all = (0..rows).flat_map(|row| recorded.halves_of_row(row, to));
            let all: Vec<u16> = bytemuck::pod_collect_to_vec(&all.collect::<Vec<u8>>());
            let numbered = (1_u64..).zip(&all).map(|(n, &half)| n * u64::from(half));
            let name = (encoding.to_string().to_lowercase(), to.to_string());
            assert_eq!(sums[&name.0][&name.1], numbered.sum::<u64>(), "{name:?}");

            let types = ElementTypes::decoded(encoding, to, IndexKind::I32);
            let indices_bytes = bytemuck::cast_slice(&indices);
            let found = plan.gather_bytes(types, &recorded.rows, indices_bytes);
            recorded.check_halves(to, &indices, &found.unwrap());
            // An output with a gap of three values after each row.
            let gaps = plan.with_output_stride(row_len + 3).unwrap();
            let mut wide = vec![7; gaps.output_len() * 2];
            gaps.gather_bytes_into(types, &recorded.rows, indices_bytes, &mut wide)
                .unwrap();
            for (&index, wide) in indices.iter().zip(wide.chunks((row_len + 3) * 2)) {
                let (row, gap) = wide.split_at(row_len * 2);
                recorded.check_halves(to, &[index], row);
                assert!(gap.iter().all(|&byte| byte == 7));
            }
        }
    }
}

/// As the crate `half` rounds, except for NaNs: by default 15 floats for each high half of one, with `GATHER_EVERY_CASE` all 2^32.
#[test]
fn every_f32_is_rounded_to_halves() {
    const LOWS: [u16; 15] = [
        0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x3001, 0x7fff, 0x8000, 0x8001,
        0xefff, 0xf000, 0xffff,
    ];
    let lows: Vec<u16> = match testkit::sweep::takes_every_case() {
        true => (0..=u16::MAX).collect(),
        false => LOWS.to_vec(),
    };
    let plan = Gather::new().plan(&[1, 1 << 16], &[1]).unwrap();
    for low in lows {
        let floats = (0..=u16::MAX).map(|high| u32::from(high) << 16 | u32::from(low));
        let floats: Vec<f32> = floats.map(f32::from_bits).collect();
        let table = Encoded::new(Encoding::F32, bytemuck::cast_slice(&floats));
        let halves = plan.gather_encoded(&table.to::<f16>(), &[0]).unwrap();
        let high_halves = plan.gather_encoded(&table.to::<bf16>(), &[0]).unwrap();
        for (&value, (half, high_half)) in floats.iter().zip(halves.into_iter().zip(high_halves)) {
            let (expected, high) = match value.is_nan() {
                true => (0x7e00, 0x7fc0),
                false => (
                    f16::from_f32(value).to_bits(),
                    bf16::from_f32(value).to_bits(),
                ),
            };
            let found = [half.to_bits(), high_half.to_bits()];
            assert_eq!(found, [expected, high], "{:#010x}", value.to_bits());
        }
    }
}

#[test]
fn every_half_float_is_decoded() {
    let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let table = Encoded::new(Encoding::F16, halves);
    let plan = Gather::new().plan(&[1, 1 << 16], &[1]).unwrap();
    let values = plan.gather_encoded(&table, &[0]).unwrap();
    for (half, found) in (0..=u16::MAX).zip(values) {
        let (exponent, fraction) = (i32::from(half >> 10 & 31), half & 0x3ff);
        let magnitude = match exponent {
            0 => f32::from(fraction) * 2.0_f32.powi(-24),
            31 => f32::from_bits(0x7f80_0000 | u32::from(fraction) << 13),
            _ => f32::from(1024 + fraction) * 2.0_f32.powi(exponent - 25),
        };
        let bits = magnitude.to_bits() | u32::from(half >> 15) << 31;
        assert_eq!(found.to_bits(), bits, "{half:#06x}");
    }
}

/// Rows are prefetched out of more than 1 MiB, both by indices themselves and by rows that are located first. The large table
/// repeats a small one's rows.
#[test]
fn rows_of_a_large_table_are_decoded() {
    const LEN: usize = 96;
    const ROWS: usize = 251;
    const LARGE: usize = ROWS * 200;
    let mut hash = Hash::new(59);
    let encodings = [Encoding::Q4_0, Encoding::F16, Encoding::RowWise8].into_iter();
    for encoding in encodings.chain(quantized()) {
        let [params, scales, zero_points] = row_bytes(encoding, LEN).map(|of_row| {
            // No byte has its bit 6, the top bit of a float's exponent, so no scale is an infinity or a NaN.
            let byte = |_| u8::try_from(hash.below(256)).unwrap() & 0xbf;
            (0..of_row * ROWS).map(byte).collect::<Vec<u8>>()
        });
        let qparams = [scales, zero_points];
        let all: Vec<usize> = (0..ROWS).collect();
        let plan = Gather::new().plan(&[ROWS, LEN], &[ROWS]).unwrap();
        let values = plan.gather_encoded(&encoded(encoding, &params, &qparams), &all);
        let values = values.unwrap();

        let params = params.repeat(LARGE / ROWS);
        let qparams = qparams.map(|bytes| bytes.repeat(LARGE / ROWS));
        assert!(params.len() > 1 << 20);
        let indices: Vec<i32> = (0..5000)
            .map(|n| n * 7919 % i32::try_from(LARGE).unwrap() - 9)
            .collect();
        let from_end = Gather::new().negative_indices(NegativeIndices::FromEnd);
        let fills = Gather::new().bad_indices(BadIndices::Fill);
        let [from_end, fills] =
            [from_end, fills].map(|op| op.plan(&[LARGE, LEN], &[5000]).unwrap());
        let held = 7..LARGE - 100;
        for (plan, held, is_from_end) in [
            (&from_end, 0..LARGE, true),
            (&fills, 0..LARGE, false),
            (&fills.shard(held.start..held.end).unwrap(), held, false),
        ] {
            let of_rows = |bytes: &Vec<u8>| {
                let of_row = bytes.len() / LARGE;
                bytes[held.start * of_row..held.end * of_row].to_vec()
            };
            let table = (of_rows(&params), qparams.each_ref().map(of_rows));
            let found = plan
                .gather_encoded(&encoded(encoding, &table.0, &table.1), &indices)
                .unwrap();
            for (found, &index) in found.chunks(LEN).zip(&indices) {
                let row = match index {
                    0.. => index,
                    _ if is_from_end => index + i32::try_from(LARGE).unwrap(),
                    _ => -1,
                };
                let row = usize::try_from(row).ok().filter(|row| held.contains(row));
                let expected =
                    row.map_or(&[0.0; LEN][..], |row| &values[row % ROWS * LEN..][..LEN]);
                let is_same =
                    |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                assert!(
                    found.iter().zip(expected).all(is_same),
                    "{encoding}, index {index}"
                );
            }
        }
    }
}

/// Quantised values with scales and zero points of each kind.
fn quantized() -> [Encoding; 4] {
    let of = |bits, block_len| BlockQuantized::new(bits, block_len).unwrap();
    let signed = of(8, 64).with_scales(FloatKind::Bf16).signed();
    [
        of(2, 16),
        of(4, 32).with_scales(FloatKind::F16).with_zero_points(),
        signed.with_zero_points(),
        of(4, 16).with_zero_point_0(),
    ]
    .map(Encoding::BlockQuantized)
}

#[test]
fn recorded_rows_of_onnx_runtime_are_decoded() {
    for case in Quantized::all() {
        let found = (case.plan).gather_encoded(&case.encoded(), &case.indices);
        case.check(&found.unwrap());
        let (params, plan) = (case.encoded(), &case.plan);
        let halves: Vec<u8> = match case.scales {
            FloatKind::F16 => {
                let found = plan.gather_encoded(&params.to::<f16>(), &case.indices);
                bytemuck::cast_slice(&found.unwrap()).to_vec()
            }
            FloatKind::Bf16 => {
                let found = plan.gather_encoded(&params.to::<bf16>(), &case.indices);
                bytemuck::cast_slice(&found.unwrap()).to_vec()
            }
            _ => continue,
        };
        case.check_bytes(&halves);
    }
}

/// For 8 bits PyTorch rounds q * scale + bias once, and so differs by at most the product's last bit. For 4 bits the product is
/// exact. PyTorch starts with 0, so none of its values is -0.
#[test]
fn row_wise_rows_are_pytorchs_to_the_last_bit() {
    for (encoding, is_exact) in [(Encoding::RowWise8, false), (Encoding::RowWise4, true)] {
        let recorded = Recorded::of(encoding);
        let torch = recorded.array("torch");
        let [rows, row_len] = recorded.shape;
        let row_bytes = recorded.rows.len() / rows;
        let mut differ = 0;
        for (row, torch) in torch.chunks(row_len).enumerate() {
            let ours = &recorded.values[row * row_len..];
            let end = &recorded.rows[(row + 1) * row_bytes - 4..][..4];
            let bias = f32::from_le_bytes(end.try_into().unwrap());
            for (&ours, &torch) in ours.iter().zip(torch) {
                let [ours, torch] = [ours, torch].map(f32::from_bits);
                if is_exact {
                    let are_nans = ours.is_nan() && torch.is_nan();
                    assert!(ours == torch || are_nans, "{ours:e}, {torch:e}, row {row}");
                    continue;
                }
                if ours.is_nan() && torch.is_nan() || ours == torch {
                    continue;
                }
                let product = (torch - bias).abs().max(torch.abs());
                let last_bit = product * f32::EPSILON;
                assert!(
                    (ours - torch).abs() <= last_bit,
                    "{ours:e}, {torch:e}, row {row}"
                );
                differ += 1;
            }
        }
        println!(
            "{encoding}: {differ} of {} values differ from PyTorch's",
            torch.len()
        );
        assert!(is_exact || differ > 0);
    }
}

#[test]
fn scales_of_other_lengths_are_refused() {
    let plan = Gather::new().plan(&[3, 40], &[1]).unwrap();
    let of = BlockQuantized::new(4, 16).unwrap();
    let refused =
        |params: Encoded<&[u8]>| plan.gather_encoded(&params, &[0]).unwrap_err().to_string();
    let (rows, scales) = ([0; 60], [0; 36]);
    let params = |of| Encoded::new(Encoding::BlockQuantized(of), &rows[..]);
    let missing = |operand| {
        format!(
            "{operand} must be given, in an Encoded: the encoding has them in an operand of their own"
        )
    };
    assert_eq!(refused(params(of)), missing("scales"));
    let halves = of.with_scales(FloatKind::F16);
    assert_eq!(
        refused(params(halves).scales(&scales)),
        "scales must have 18 bytes, found 36"
    );
    assert_eq!(
        refused(params(of.with_zero_points()).scales(&scales)),
        missing("zero points")
    );
    for zero_points in [&[0; 6][..], &[]] {
        assert_eq!(
            refused(params(of).scales(&scales).zero_points(zero_points)),
            "zero points must not be given: the encoding has none"
        );
    }
    assert_eq!(
        refused(Encoded::new(Encoding::BlockQuantized(of), &rows[..59]).scales(&scales)),
        "params must have 60 bytes, found 59"
    );
    for scales in [&scales[..], &[]] {
        let halves = Encoded::new(Encoding::F16, &[0; 240][..]).scales(scales);
        let halves = plan.gather_encoded(&halves, &[0]);
        let text = "scales must not be given: the encoding has none";
        assert_eq!(halves.unwrap_err().to_string(), text);
    }
    let types = ElementTypes::encoded(Encoding::BlockQuantized(of), IndexKind::U8);
    let bytes = plan.gather_bytes(types, &rows, &[0]).unwrap_err();
    assert_eq!(bytes.to_string(), missing("scales"));
}

/// Rows without values have scales without bytes, which may be given or left out.
#[test]
fn scales_without_bytes_may_be_given() {
    let plan = Gather::new().plan(&[3, 0], &[1]).unwrap();
    let of = Encoding::BlockQuantized(BlockQuantized::new(4, 16).unwrap());
    let rows = Encoded::new(of, &[][..]);
    for params in [rows, rows.scales(&[])] {
        assert_eq!(plan.gather_encoded(&params, &[0]), Ok(vec![]));
    }
}

#[test]
fn other_numbers_of_bits_and_blocks_are_refused() {
    let refused = |bits, block_len| BlockQuantized::new(bits, block_len).unwrap_err();
    assert_eq!(refused(3, 32), PlanError::QuantizedBits { found: 3 });
    for found in [0, 8, 48, 512, 1 << 40] {
        assert_eq!(refused(4, found), PlanError::QuantizedBlockLen { found });
    }
}

#[test]
fn every_case_of_the_table_with_blocks_equals_the_oracle() {
    let cases: Vec<_> = cases::table()
        .into_iter()
        .filter(Case::check_plan)
        .collect();
    let checked = AtomicUsize::new(0);
    sweep::on_all_cores(&cases, |number, case| {
        let mut hash = Hash::new(number as u64);
        let mut count = number;
        let elements: usize = case.output_shape().unwrap().iter().product();
        for &encoding in Encoding::ALL.iter().chain(&quantized()) {
            if elements * row_len(encoding) > 1 << 15 {
                continue;
            }
            let to = FloatKind::ALL[count % 3];
            let kinds = [IndexKind::I64, IndexKind::U8];
            for sample in case.encoded_samples(encoding, to, &kinds, POLICIES) {
                if !sample.fill.is_empty() {
                    continue;
                }
                sample.check(&Cpu);
                count += 1;
                if count % 7 == 0 && sample.plan.slice_len() > 0 {
                    sample.with_gaps([1, 3]).check(&Cpu);
                    sample.check_shards(&Cpu, &mut hash);
                }
            }
        }
        checked.fetch_add(count - number, Relaxed);
    });
    assert!(checked.into_inner() > 1000, "the table has lost its cases");
}

#[test]
fn threads_share_a_gather_of_encoded_rows() {
    for &encoding in Encoding::ALL {
        let recorded = Recorded::of(encoding);
        let [rows, row_len] = recorded.shape;
        let count = (1 << 21) / row_len;
        let indices: Vec<i32> = (0..count)
            .map(|n| i32::try_from(n * 31 % rows).unwrap())
            .collect();
        let plan = Gather::new().plan(&[rows, row_len], &[count]).unwrap();
        let found = plan
            .gather_encoded(&Encoded::new(encoding, &recorded.rows), &indices)
            .unwrap();
        recorded.check(&indices, &found);
    }
}

#[test]
fn a_plan_that_cuts_blocks_is_refused() {
    let gather = |params: &[usize], axis| Gather::new().axis(axis).plan(params, &[1]).unwrap();
    let refused = |plan: GatherPlan, encoding, part, block_len, found| {
        let table = Encoded::new(encoding, []);
        let error = plan.gather_encoded(&table, &[0]).unwrap_err();
        let expected = PlanError::CutBlock {
            part,
            encoding: encoding.to_string(),
            block_len,
            found,
        };
        assert_eq!(error, RunError::Plan(expected), "{plan}");
        error.to_string()
    };
    let [last_dim, slices, stride] = ["the last dim of params", "slices", "the params stride"];
    let (q4_0, q6k) = (Encoding::Q4_0, Encoding::Q6K);
    // Slices of 64 values, but blocks of 32 would lie across rows of 16.
    assert_eq!(
        refused(gather(&[3, 4, 16], 0), q4_0, last_dim, 32, 16),
        "the last dim of params must be whole blocks of Q4_0, of 32 values each, found 16"
    );
    refused(gather(&[3, 64], 1), q4_0, slices, 32, 1);
    refused(gather(&[3, 128], 0), q6k, last_dim, 256, 128);
    let nd = GatherNd::new().plan(&[3, 256], &[1, 2]).unwrap();
    refused(nd, q6k, slices, 256, 1);
    let gaps = gather(&[3, 64], 0).with_params_stride(80).unwrap();
    assert_eq!(
        refused(gaps, q4_0, stride, 32, 80),
        "the params stride must be whole blocks of Q4_0, of 32 values each, found 80"
    );
    // Rows that share scales are not cut, and start at bytes.
    let [rows, packed] = [Encoding::RowWise8, quantized()[1]];
    assert_eq!(
        refused(gather(&[3, 64], 1), rows, slices, 64, 1),
        "slices must be whole blocks of ROW_WISE_8, of 64 values each, found 1"
    );
    let gaps = gather(&[3, 64], 0).with_params_stride(96).unwrap();
    assert_eq!(
        refused(gaps, packed, stride, 64, 96),
        "the params stride must be whole blocks of values of 4 bits in blocks of 32, of 64 values each, found 96"
    );
    assert_eq!(
        refused(gather(&[3, 63], 0), packed, last_dim, 2, 63),
        "the last dim of params must be whole blocks of values of 4 bits in blocks of 32, of 2 values each, found 63"
    );
    let elements = GatherElements::new().plan(&[3, 64], &[1, 64]).unwrap();
    for encoding in [q4_0, Encoding::F16] {
        let block_len = encoding.block_len();
        let error = elements.gather_encoded(&Encoded::new(encoding, []), &[0]);
        let expected = PlanError::EncodedElements {
            encoding: encoding.to_string(),
            block_len,
            found: 1,
        };
        assert_eq!(error, Err(RunError::Plan(expected)));
    }
}

#[test]
fn lengths_of_encoded_params_are_in_bytes() {
    let plan = Gather::new().plan(&[3, 64], &[1]).unwrap();
    let run =
        |bytes: usize| plan.gather_encoded(&Encoded::new(Encoding::Q4_0, vec![0; bytes]), &[2]);
    assert_eq!(run(108), Ok(vec![0.0; 64]));
    for bytes in [0, 107, 109, 3 * 64 * 4] {
        let text = format!("params must have 108 bytes, found {bytes}");
        assert_eq!(run(bytes).unwrap_err().to_string(), text);
    }
    // With the gap after the last row, or without.
    let gaps = plan.with_params_stride(96).unwrap();
    let run =
        |bytes: usize| gaps.gather_encoded(&Encoded::new(Encoding::Q4_0, vec![0; bytes]), &[2]);
    assert!(run(2 * 54 + 36).is_ok() && run(3 * 54).is_ok());
    assert_eq!(
        run(143).unwrap_err().to_string(),
        "params must have 144 to 162 bytes, found 143"
    );
    let table = Encoded::new(Encoding::Q4_0, [0; 108]);
    let bad = plan.gather_encoded(&table, &[3]).unwrap_err();
    assert_eq!(bad.to_string(), "indices[0] = 3 is not in [0, 3)");
    let empty = Gather::new()
        .bad_indices(BadIndices::Fill)
        .plan(&[0, 64], &[2])
        .unwrap();
    let mut output = [9.0; 128];
    empty
        .fill(-3.0)
        .gather_encoded_into(&Encoded::new(Encoding::Q8_0, []), &[0, 1], &mut output)
        .unwrap();
    assert_eq!(output, [-3.0; 128]);
    let short = plan.gather_encoded_into(&table, &[2], &mut [0.0; 63]);
    assert_eq!(
        short.unwrap_err().to_string(),
        "output must have 64 elements, found 63"
    );
}

#[test]
fn gguf_type_numbers_are_those_of_the_guide() {
    let page = include_str!("../../src/guide/encoded_rows.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let name = cells.next()?.split(", ").next()?;
        Some((cells.next()?.parse::<u32>().ok()?, name))
    });
    let named: BTreeMap<u32, &str> = rows.collect();
    assert_eq!(named.len(), 16);
    for number in (0..100).chain([u32::MAX]) {
        let encoding = Encoding::from_gguf_type(number).map(|encoding| encoding.to_string());
        assert_eq!(encoding.as_deref(), named.get(&number).copied(), "{number}");
    }
}
