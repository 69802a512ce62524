//! Sums over bags, beside their definition and the CPU.

use half::{bf16, f16};
use libtest_mimic::Trial;
use testkit::bags::BagsCase;
use testkit::encoded::{encoded, rounded, row_bytes, row_len};
use testkit::gpu::{Gpu, buffers_of};
use testkit::indices::Hash;
use testkit::sweep::{some, takes_every_case};
use wgpu_gather::{
    BadIndices, BadRows, Bags, BlockQuantized, Buffers, ElementTypes, Encoding, Executor,
    FloatKind, Gather, GatherError, GpuError, IndexKind, Offsets, Operand,
};

use crate::batch::{read_back, upload};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("bags_of_random_rows", random),
        trial("bags_of_many_rows", long),
        trial("bags_of_encoded_rows", encoded_rows),
        trial("bags_of_offsets_that_are_not_in_order", bad_offsets),
        trial("bags_report_bad_rows", reports),
        trial("bags_are_counted_on_the_gpu", counted),
        trial("an_executor_combines_bags", executors),
        trial("mistakes_in_bags_are_typed_errors", mistakes),
    ]
}

/// Operands of a call, each in a buffer between other bytes.
struct Operands {
    types: ElementTypes,
    params: Vec<u8>,
    qparams: [Vec<u8>; 2],
    indices: Vec<u8>,
    /// How many offsets there are, with their bytes; `None` for bags of one size.
    offsets: Option<(usize, IndexKind, Vec<u8>)>,
    each: (usize, usize),
    output_bytes: usize,
    /// Bytes before each operand.
    start: usize,
    /// True if all operands lie in one buffer.
    shares: bool,
    count: Option<u32>,
}

impl Operands {
    /// The floats of a case, with indices and offsets of `i32`.
    fn of(case: &BagsCase, output_bytes: usize) -> Self {
        Self {
            types: ElementTypes::of::<f32, i32>(),
            params: words(&case.params),
            qparams: [Vec::new(), Vec::new()],
            indices: words(&case.indices),
            offsets: Some((case.offsets.len(), IndexKind::I32, words(&case.offsets))),
            each: (0, 0),
            output_bytes,
            start: 0,
            shares: false,
            count: None,
        }
    }

    /// Runs some times, and returns the output, before and after which no byte may change; and the report.
    fn run(&self, gpu: &Gpu, case: &BagsCase) -> (Vec<u8>, Vec<u8>) {
        let weights = words(&case.weights);
        let offsets = self.offsets.as_ref().map(|(_, _, bytes)| bytes.as_slice());
        let old = vec![0x5a; self.output_bytes];
        let [scales, zero_points] = &self.qparams;
        let parts = [
            &self.params,
            &self.indices,
            &old,
            &weights,
            scales,
            zero_points,
        ];
        let parts = parts
            .map(Vec::as_slice)
            .into_iter()
            .chain([offsets.unwrap_or_default()]);
        let (mut images, mut places) = (vec![Vec::new(); 7], Vec::new());
        for (number, part) in parts.enumerate() {
            let image = if self.shares { 0 } else { number };
            let all = &mut images[image];
            all.resize(all.len().next_multiple_of(256) + self.start, 0xa5);
            places.push((image, all.len()));
            all.extend(part);
            all.resize(all.len().next_multiple_of(4) + 8, 0xa5);
        }
        let made: Vec<_> = images.iter().map(|image| upload(gpu, image)).collect();
        let slice = |number: usize| made[places[number].0].slice(places[number].1 as u64..);
        let report = upload(gpu, &[0; 80]);
        let count = upload(gpu, &self.count.unwrap_or(0).to_le_bytes());
        let mut buffers = buffers_of(self.types, [0, 1, 2].map(slice)).report(report.slice(..));
        if !self.qparams[0].is_empty() {
            buffers = buffers.scales(slice(4));
        }
        if !self.qparams[1].is_empty() {
            buffers = buffers.zero_points(slice(5));
        }
        if self.count.is_some() {
            buffers = buffers.index_count(count.slice(..));
        }
        let offsets = match &self.offsets {
            Some((len, kind, _)) => Offsets::new(slice(6), *kind, *len),
            None => Offsets::each(self.each.0, self.each.1),
        };
        let bags = case.bags(offsets, slice(3));
        let prepared = gpu
            .gatherer()
            .prepare_bags(&case.plan(), &buffers, bags)
            .unwrap();
        let mut first = None;
        for _ in 0..if takes_every_case() { 10 } else { 3 } {
            gpu.submit(|encoder| prepared.encode(encoder));
            let (image, start) = places[2];
            let [written, report] = read_back(gpu, [&made[image], &report]);
            let (before, rest) = written.split_at(start);
            let (found, after) = rest.split_at(self.output_bytes);
            let was = &images[image];
            assert!(
                before == &was[..start] && after == &was[was.len() - after.len()..],
                "{case:?}"
            );
            let found = (found.to_vec(), report);
            assert!(
                first.get_or_insert_with(|| found.clone()) == &found,
                "runs differ"
            );
        }
        first.unwrap()
    }
}

fn words<T: bytemuck::NoUninit>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

/// Runs a case with offsets and indices of some types, and compares with the definition.
fn check(gpu: &Gpu, case: &BagsCase, number: usize) {
    let expected = case.expected(|at| case.params[at]);
    let longs: Vec<i64> = case.offsets.iter().map(|&at| at.into()).collect();
    let (len, narrow, wide) = (case.offsets.len(), words(&case.offsets), words(&longs));
    let offsets = match number % 4 {
        0 => (len, IndexKind::I32, narrow),
        1 => (len, IndexKind::U32, narrow),
        2 => (len, IndexKind::I64, wide),
        _ => (len, IndexKind::U64, wide),
    };
    let of_i64: Vec<i64> = case.indices.iter().map(|&index| index.into()).collect();
    let fits = case.rows < 128
        && case
            .indices
            .iter()
            .all(|&index| i8::try_from(index).is_ok());
    // llvmpipe ends a lane after 65,535 turns of its loops, of which a remainder of 64 bits takes 64.
    let (index_kind, indices) = match number % 3 {
        0 if case.policy != BadIndices::Wrap || case.indices.len() < 1000 => {
            (IndexKind::I64, words(&of_i64))
        }
        1 if fits => {
            let of_i8 = case
                .indices
                .iter()
                .map(|&index| i8::try_from(index).unwrap());
            (IndexKind::I8, words(&of_i8.collect::<Vec<_>>()))
        }
        _ => (IndexKind::I32, words(&case.indices)),
    };
    let to = FloatKind::ALL[number % 5 % 3];
    let output = expected.into_iter().flat_map(|x| rounded(x, to));
    let expected: Vec<u8> = output.collect();
    let types = match (to, number % 2) {
        (FloatKind::F32, 0) => ElementTypes::new(4, index_kind),
        _ => ElementTypes::decoded(Encoding::F32, to, index_kind),
    };
    let operands = Operands {
        types,
        indices,
        offsets: Some(offsets),
        start: number % 7 * 4,
        shares: number % 4 == 3,
        ..Operands::of(case, expected.len())
    };
    let (found, report) = operands.run(gpu, case);
    let width = usize::try_from(to.bytes()).unwrap();
    let mut both = found.chunks(width).zip(expected.chunks(width));
    let differ = both.position(|(found, expected)| found != expected);
    if let Some(at) = differ {
        let [found, expected] = [&found, &expected].map(|of| &of[at * width..][..width]);
        panic!("{number}, {to}: {found:02x?} for {expected:02x?} at {at} of {case:?}");
    }
    let plan = case.plan();
    let bad = plan.out_of_range(&case.indices).unwrap();
    let bad = match case.policy {
        BadIndices::Fill if !expected.is_empty() => bad.iter().filter(|&&bad| bad).count(),
        _ => 0,
    };
    let found = BadRows::from_report(&plan, index_kind, &report).unwrap();
    assert_eq!(found.map_or(0, |bad| bad.count), bad, "{case:?}");
}

fn random(gpu: &'static Gpu) {
    let mut hash = Hash::new(911);
    for number in 0..if takes_every_case() { 2000 } else { 30 } {
        check(gpu, &BagsCase::random(&mut hash), number);
    }
}

fn long(gpu: &'static Gpu) {
    let mut hash = Hash::new(912);
    for number in 0..5 {
        let sizes = [0, 1, 1023, 1024, 1025, 0, 2047, 2048, 2049, 5, 0];
        check(
            gpu,
            &BagsCase::of(&sizes, [4, 3, 300][number % 3], &mut hash),
            number,
        );
    }
    for number in 0..if takes_every_case() { 4 } else { 1 } {
        check(gpu, &BagsCase::of(&[7, 1_000_000, 3], 2, &mut hash), number);
    }
}

/// Rows of each encoding, into each float type, beside the CPU. Scales are powers of two, so that no device flushes.
fn encoded_rows(gpu: &'static Gpu) {
    let mut hash = Hash::new(913);
    let quantized = BlockQuantized::new(4, 32).unwrap().with_zero_points();
    let encodings = Encoding::ALL.iter().copied();
    for (number, encoding) in encodings
        .chain([Encoding::BlockQuantized(quantized)])
        .enumerate()
    {
        let block = usize::try_from(encoding.block_len()).unwrap();
        let len = (2 * row_len(encoding).next_multiple_of(8)).next_multiple_of(block);
        // Values that fill no unit, where blocks are short.
        let len = if block <= 2 && number % 2 == 0 {
            len + 2
        } else {
            len
        };
        let mut case = BagsCase::of(&[0, 1, 3, 40, 2], len, &mut hash);
        case.policy = BadIndices::Fill;
        case.rows = case.rows.max(2);
        let rows = plain_rows(encoding, case.rows, len, &mut hash);
        let [rows, scales, zero_points] = rows.expect("rows of finite values");
        let qparams = [scales, zero_points];
        for to in some(0, 3, number, FloatKind::ALL) {
            let table = encoded(encoding, &rows, &qparams);
            let bags = || case.bags(Offsets::from(&case.offsets[..]), &case.weights[..]);
            let (plan, ids) = (case.plan(), &case.indices);
            let expected = match to {
                FloatKind::F32 => words(&plan.gather_bags_encoded(&table, ids, bags()).unwrap()),
                FloatKind::F16 => {
                    let halves = plan.gather_bags_encoded(&table.to::<f16>(), ids, bags());
                    words(&halves.unwrap())
                }
                _ => words(
                    &plan
                        .gather_bags_encoded(&table.to::<bf16>(), ids, bags())
                        .unwrap(),
                ),
            };
            let operands = Operands {
                types: ElementTypes::decoded(encoding, *to, IndexKind::I32),
                params: rows.clone(),
                qparams: qparams.clone(),
                start: 4 * (number % 3),
                shares: number % 4 == 2,
                ..Operands::of(&case, expected.len())
            };
            assert!(
                operands.run(gpu, &case).0 == expected,
                "{encoding} to {to}: {case:?}"
            );
        }
    }
}

/// Rows whose values are finite and not subnormal.
fn plain_rows(
    encoding: Encoding,
    rows: usize,
    len: usize,
    hash: &mut Hash,
) -> Option<[Vec<u8>; 3]> {
    let plan = Gather::new().plan(&[rows, len], &[rows]).unwrap();
    let all: Vec<u32> = (0..u32::try_from(rows).unwrap()).collect();
    (0..4000).find_map(|_| {
        let found = row_bytes(encoding, len).map(|of_row| {
            // Bytes that make floats near 1, wherever scales lie.
            let byte = |_| u8::try_from(0x30 + hash.below(0x10)).unwrap();
            (0..rows * of_row).map(byte).collect::<Vec<_>>()
        });
        let qparams = [found[1].clone(), found[2].clone()];
        let values = plan.gather_encoded(&encoded(encoding, &found[0], &qparams), &all);
        let are_plain = values.unwrap().iter().all(|x| x.is_normal() || *x == 0.0);
        are_plain.then_some(found)
    })
}

/// Each end is clamped into the bag's start and the number of indices.
fn bad_offsets(gpu: &'static Gpu) {
    let mut hash = Hash::new(914);
    for offsets in [
        vec![0, 5, 2, 9],
        vec![3, 3000, 100, 3000, -7, i32::MAX, 0],
        vec![i32::MIN, 20],
        vec![9_000, 4, 1],
    ] {
        let mut case = BagsCase::of(&[2900, 100], 3, &mut hash);
        let places = i32::try_from(case.indices.len()).unwrap();
        let clamped: Vec<i32> = offsets.iter().map(|&at| at.clamp(0, places)).collect();
        let ends = clamped
            .windows(2)
            .map(|ends| (ends[0], ends[1].max(ends[0])));
        case.policy = BadIndices::Clamp;
        let expected: Vec<f32> = ends
            .flat_map(|(first, end)| {
                case.offsets = vec![first, end];
                case.expected(|at| case.params[at])
            })
            .collect();
        case.offsets = vec![0, 0];
        let wide: Vec<i64> = offsets.iter().map(|&at| at.into()).collect();
        for (kind, bytes) in [
            (IndexKind::I32, words(&offsets)),
            (IndexKind::I64, words(&wide)),
        ] {
            let operands = Operands {
                offsets: Some((offsets.len(), kind, bytes)),
                start: 8,
                ..Operands::of(&case, 4 * expected.len())
            };
            assert!(
                operands.run(gpu, &case).0 == words(&expected),
                "{offsets:?} of {kind}"
            );
        }
    }
}

/// The first bad row is named, and all are counted.
fn reports(gpu: &'static Gpu) {
    let mut case = BagsCase::of(&[3, 0, 5], 4, &mut Hash::new(915));
    case.indices = vec![0, 99, -4, 0, 0, 77, 0, 0, 55, 55];
    case.offsets = vec![0, 3, 3, 8];
    (case.policy, case.from_end) = (BadIndices::Error, false);
    case.weights.clear();
    let (_, report) = Operands::of(&case, 3 * 4 * 4).run(gpu, &case);
    let bad = BadRows::from_report(&case.plan(), IndexKind::I32, &report)
        .unwrap()
        .unwrap();
    let error = case
        .plan()
        .gather_bags(&case.params, &case.indices, Bags::sum(&case.offsets[..]));
    assert_eq!((bad.count, Err(bad.first.into())), (5, error));
}

/// The index count counts bags; those after it keep their output.
fn counted(gpu: &'static Gpu) {
    let mut case = BagsCase::of(&[4; 50], 6, &mut Hash::new(916));
    (case.policy, case.combine) = (BadIndices::Fill, testkit::Combine::Sum);
    case.indices.truncate(200);
    case.weights.truncate(200);
    let all = case.expected(|at| case.params[at]);
    for to in [FloatKind::F32, FloatKind::Bf16] {
        for count in [0, 1, 17, 50, 51, u32::MAX] {
            let kept = 6 * (count.min(50) as usize);
            let bytes = usize::try_from(to.bytes()).unwrap();
            let of = all[..kept].iter().flat_map(|&x| rounded(x, to));
            let mut expected: Vec<u8> = of.collect();
            expected.resize(bytes * all.len(), 0x5a);
            let operands = Operands {
                types: ElementTypes::decoded(Encoding::F32, to, IndexKind::I32),
                offsets: None,
                each: (50, 4),
                start: 4,
                count: Some(count),
                ..Operands::of(&case, expected.len())
            };
            assert!(operands.run(gpu, &case).0 == expected, "{count} of {to}");
        }
    }
}

/// An executor on a GPU and one on the CPU: to the host, into a tensor, of floats, halves and encoded rows.
fn executors(gpu: &'static Gpu) {
    let mut hash = Hash::new(917);
    for executor in [gpu.executor(), Executor::cpu()] {
        for _ in 0..if takes_every_case() { 60 } else { 5 } {
            let case = BagsCase::random(&mut hash);
            let (plan, ids) = (case.plan(), &case.indices);
            let expected = case.expected(|at| case.params[at]);
            let table = executor.upload(&case.params, plan.params_shape()).unwrap();
            let offsets = executor
                .upload(&case.offsets, &[case.offsets.len()])
                .unwrap();
            let weights = executor
                .upload(&case.weights, &[case.weights.len()])
                .unwrap();
            let bags = || case.bags(Offsets::from(&offsets), &weights);
            let gather = || executor.gather_bags(&plan, &table, ids, bags());
            let found = gather().wait().unwrap();
            assert!(words(&found) == words(&expected), "{executor}: {case:?}");
            let on_gpu = gather().on_gpu().wait().unwrap();
            assert_eq!(on_gpu.shape(), [case.offsets.len() - 1, case.slice_len]);
            let mut output = executor.zeros::<f32>(on_gpu.shape()).unwrap();
            gather().into_tensor(&mut output).wait().unwrap();
            let [a, b] = [&on_gpu, &output].map(|of| words(&of.download_blocking().unwrap()));
            assert!(a == b && a == words(&expected), "{executor}: {case:?}");
            let halves: Vec<_> = case.params.iter().map(|&x| bf16::from_f32(x)).collect();
            let table = executor.upload(&halves, plan.params_shape()).unwrap();
            let found = executor.gather_bags(&plan, &table, ids, bags()).wait();
            let expected = case.expected(|at| halves[at].to_f32()).into_iter();
            let expected = expected.flat_map(|x| rounded(x, FloatKind::Bf16));
            assert!(
                words(&found.unwrap()) == expected.collect::<Vec<_>>(),
                "{executor}: {case:?}"
            );
        }
        let plan = Gather::new()
            .bad_indices(BadIndices::Error)
            .plan(&[3, 2], &[4])
            .unwrap();
        let table = executor.upload(&[1.0_f32; 6], &[3, 2]).unwrap();
        let offsets = executor.upload(&[0_u32, 4], &[2]).unwrap();
        let sum = |ids| {
            executor
                .gather_bags(&plan, &table, ids, Bags::sum(&offsets))
                .wait()
        };
        assert_eq!(sum(&[0_u32, 1, 2, 2]).unwrap(), [4.0, 4.0]);
        let bad = sum(&[0, 1, 7, 9]).unwrap_err().to_string();
        assert_eq!(bad, "indices[2] = 7 is not in [0, 3)");
        let mut short = executor.zeros::<f32>(&[1]).unwrap();
        let bags = Bags::sum(Offsets::each(2, 2));
        let into = executor
            .gather_bags(&plan, &table, &[0_u32; 4], bags)
            .into_tensor(&mut short);
        assert_eq!(
            into.wait().unwrap_err().to_string(),
            "output must have 4 elements, found 1"
        );
        let mut mask = executor.zeros::<bool>(&[4]).unwrap();
        let masked = executor
            .gather_bags(&plan, &table, &[0_u32; 4], bags)
            .mask(&mut mask);
        assert!(masked.wait().is_err());
    }
    let other = Executor::cpu().upload(&[0_u32, 4], &[2]).unwrap();
    let table = gpu.upload(&[1.0_f32; 6], &[3, 2]).unwrap();
    let sum = gpu.gather_bags(Gather::new(), &table, &[0_u32; 4], Bags::sum(&other));
    assert_eq!(
        sum.wait().unwrap_err(),
        GpuError::OtherOwner {
            operand: Operand::Offsets
        }
    );
}

fn mistakes(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3, 2], &[4]).unwrap();
    let [params, indices, output] = [24, 16, 16].map(|bytes| upload(gpu, &vec![0; bytes]));
    let offsets = upload(gpu, &[0; 24]);
    let types = ElementTypes::of::<f32, i32>();
    let ranges = || [&params, &indices, &output].map(|buffer| buffer.slice(..));
    let buffers = buffers_of(types, ranges());
    let gatherer = gpu.gatherer();
    let given = |start, kind, len| Offsets::new(offsets.slice(start..), kind, len);
    let three = given(0, IndexKind::I32, 3);
    let prepare = |buffers: &Buffers<'_>, bags| gatherer.prepare_bags(&plan, buffers, bags);
    let mut prepared = prepare(&buffers, Bags::sum(three)).unwrap();
    let rebound = prepared.rebind(&buffers);
    assert!(matches!(rebound, Err(GatherError::Rebound { .. })));
    let doubles = buffers_of(ElementTypes::new(8, IndexKind::I32), ranges());
    let (i32, i64) = (IndexKind::I32, IndexKind::I64);
    for (buffers, bags, error) in [
        (buffers, Bags::sum(given(2, i32, 3)), "OffsetMisaligned"),
        (buffers, Bags::weighted(three, output.slice(..)), "Overlap"),
        (buffers, Bags::sum(given(0, IndexKind::U16, 3)), "Plan(Bags"),
        (doubles, Bags::sum(three), "NumberBytes"),
        (
            buffers.mask(offsets.slice(..)),
            Bags::sum(three),
            "UnexpectedOperand",
        ),
        (buffers.fill(&[1, 2, 3, 4]), Bags::sum(three), "Plan(Bags"),
    ] {
        let found = format!("{:?}", prepare(&buffers, bags).unwrap_err());
        assert!(found.starts_with(error), "{found} for {error}");
    }
    let text = |bags| prepare(&buffers, bags).unwrap_err().to_string();
    assert_eq!(
        text(Bags::sum(given(0, i32, 4))),
        "output range must have at least 24 bytes, found 16"
    );
    assert_eq!(
        text(Bags::max(given(4, i64, 3))),
        "offsets range must have at least 24 bytes, found 20"
    );
}
