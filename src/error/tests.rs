//! The page of the guide has a row for each error, with its text. A new variant does not compile before it has a sample here.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{PlanError, RunError};
use crate::encoding::{BlockQuantized, Encoded, Encoding};
use crate::operand::Operand::*;
use crate::{ElementTypes, Gather, GatherElements, GatherNd, IndexKind};

/// The page's section on an enum has a row for each sample, which is a variant and its text, and no other row.
fn assert_rows_of(name: &str, samples: &[(&str, String)]) {
    let page = include_str!("../guide/errors.md");
    let section = page.split_once(&format!("\n# {name}: ")).unwrap().1;
    let table = section.split_once("|---|---|---|\n").unwrap().1;
    let is_row = |row: &str, (variant, text): &(&str, String)| {
        let mut cells = row.split(" | ");
        let variants = cells.next().unwrap();
        // Others write a text that is not shown, and the rest of one that ends with a colon.
        let shown = cells.next().unwrap().split('`').nth(1).unwrap_or_default();
        let is_start = shown.is_empty() || shown.ends_with(": ");
        let is_shown = text == shown || is_start && text.starts_with(shown);
        variants.contains(&format!("`{variant}`")) && is_shown
    };
    let rows: Vec<_> = table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .collect();
    for sample in samples {
        let has_row = rows.iter().any(|row| is_row(row, sample));
        assert!(has_row, "no row of {name} for {sample:?}");
    }
    for row in rows {
        let has_sample = samples.iter().any(|sample| is_row(row, sample));
        assert!(has_sample, "no {name} for {row}");
    }
}

macro_rules! assert_rows {
    ($enum:ident: $($variant:ident = $error:expr),* $(,)?) => {
        #[allow(unreachable_patterns, reason = "a variant may have several samples")]
        let name_of = |error: &$enum| match error {
            $($enum::$variant { .. } => stringify!($variant),)*
        };
        let errors: Vec<$enum> = vec![$($error),*];
        let samples: Vec<_> = errors.iter().map(|error| (name_of(error), error.to_string())).collect();
        assert_rows_of(stringify!($enum), &samples);
    };
}

/// The error of shapes that a call returns.
fn of_run<T: std::fmt::Debug>(found: Result<T, RunError>) -> PlanError {
    match found {
        Err(RunError::Plan(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_plan_error_has_its_row() {
    let (gather, nd, elements) = (Gather::new(), GatherNd::new(), GatherElements::new());
    let rows = gather.plan(&[4, 2], &[3]).unwrap();
    let stretched = elements.broadcast(true).plan(&[5, 1], &[8, 7]).unwrap();
    let q8_0 = ElementTypes::encoded(Encoding::Q8_0, IndexKind::I32);
    let table = Encoded::new(Encoding::Q4_0, []);
    let cut = gather.axis(1).plan(&[3, 64], &[1]).unwrap();
    let single = elements.plan(&[3, 64], &[1, 64]).unwrap();
    assert_rows![PlanError:
        ParamsScalar = gather.plan(&[], &[1]).unwrap_err(),
        IndicesScalar = nd.plan(&[1], &[]).unwrap_err(),
        AxisOutOfRange = gather.axis(2).plan(&[4, 5], &[10]).unwrap_err(),
        AxisOutOfRange = gather.batch_dims(2).plan(&[4, 5], &[4, 5, 1]).unwrap_err(),
        BatchDimsNegative = nd.batch_dims(-1).plan(&[1], &[1]).unwrap_err(),
        BatchDimsOutOfRange = gather.axis(2).batch_dims(2).plan(&[1, 1, 1], &[1]).unwrap_err(),
        BatchDimsNotBelowIndicesRank = nd.batch_dims(1).plan(&[1], &[1]).unwrap_err(),
        BatchDimsNotBelowParamsRank = nd.batch_dims(1).plan(&[1], &[1, 1]).unwrap_err(),
        BatchDimsAboveAxis = gather.axis(0).batch_dims(1).plan(&[1, 1], &[1]).unwrap_err(),
        BatchDimsUnequal = gather.batch_dims(1).plan(&[2, 1], &[3]).unwrap_err(),
        IndexDepthAboveRank = nd.plan(&[4], &[1, 2]).unwrap_err(),
        IndexDepthAboveLimit = nd.plan(&[1; 9], &[1, 9]).unwrap_err(),
        RanksUnequal = elements.plan(&[2, 3], &[2]).unwrap_err(),
        IndicesDimAboveParams = elements.axis(1).plan(&[2, 3], &[3, 3]).unwrap_err(),
        DimsNotBroadcast = elements.axis(1).broadcast(true).plan(&[2, 3], &[3, 3]).unwrap_err(),
        EmptyParams = nd.plan(&[3, 0], &[2, 1]).unwrap_err(),
        ShardOutOfRange = rows.shard(2..5).unwrap_err(),
        StrideBelowSlice = rows.with_params_stride(1).unwrap_err(),
        StrideTooLong = rows.with_output_stride(1 << 62).unwrap_err(),
        UnknownName = "skip".parse::<crate::BadIndices>().unwrap_err(),
        TooManyElements = gather.plan(&[1, 2], &[1 << 62]).unwrap_err(),
        StretchedTarget = of_run(stretched.scatter(&[0; 56], &[0; 56], &mut [0; 5])),
        EncodedTarget = of_run(rows.scatter_bytes(q8_0, &[], &[], &mut [])),
        Bags = of_run(gather.axis(1).plan(&[3, 2], &[4]).unwrap().gather_bags(&[0.0_f32; 6], &[0; 4], crate::Bags::sum(&[0, 4][..]))),
        CutBlock = of_run(cut.gather_encoded(&table, &[0])),
        EncodedElements = of_run(single.gather_encoded(&table, &[0])),
        QuantizedBits = BlockQuantized::new(3, 32).unwrap_err(),
        QuantizedBlockLen = BlockQuantized::new(4, 100).unwrap_err(),
    ];
}

#[test]
fn lengths_that_no_number_counts_have_only_a_least() {
    let rows = Gather::new().plan(&[1 << 61, 1], &[0]).unwrap();
    let error = rows.gather_encoded(&Encoded::new(Encoding::RowWise8, [0; 4]), &[0_i32; 0]);
    let text = "params must have at least 18446744073709551615 bytes, found 4";
    assert_eq!(error.unwrap_err().to_string(), text);
    let row = Gather::new().plan(&[1, 3], &[1]).unwrap();
    let row = row.with_params_stride(1 << 62).unwrap();
    let types = ElementTypes::new(8, IndexKind::U8);
    let error = row.gather_bytes(types, &[0; 23], &[0]).unwrap_err();
    let text = "params must have at least 24 bytes, found 23";
    assert_eq!(error.to_string(), text);
}

#[test]
fn each_run_error_has_its_row() {
    let gather = Gather::new();
    let plan = gather.plan(&[3], &[2]).unwrap();
    let types = ElementTypes::new(1, IndexKind::I32);
    let gaps = gather.plan(&[4, 2], &[3]).unwrap().with_output_stride(3);
    let quantized = Encoding::BlockQuantized(BlockQuantized::new(8, 16).unwrap());
    let blocks = gather.plan(&[3, 32], &[1]).unwrap();
    let decode = |encoding| blocks.gather_encoded(&Encoded::new(encoding, [0; 96]), &[0]);
    assert_rows![RunError:
        Plan = gather.axis(2).plan(&[4, 5], &[10]).unwrap_err().into(),
        PlanShape = RunError::PlanShape { operand: Indices, expected: vec![2, 2], found: vec![4] },
        Length = plan.gather(&[1, 2], &[0, 0]).unwrap_err(),
        ByteLength = plan.gather_bytes(types, &[0; 3], &[0; 4]).unwrap_err(),
        MissingOperand = decode(quantized).unwrap_err(),
        UnexpectedOperand = blocks.gather_encoded(&Encoded::new(Encoding::Q8_0, &[0; 102][..]).scales(&[0; 2]), &[0]).unwrap_err(),
        OutputStride = gaps.unwrap().gather(&[0; 8], &[0; 3]).unwrap_err(),
        TargetLayout = RunError::TargetLayout { shape: vec![3, 2], strides: vec![4, 1] },
        Offset = plan.gather_bags(&[0.0_f32; 3], &[0; 2], crate::Bags::sum(&[0, 2, 1][..])).unwrap_err(),
        BadIndex = gather.plan(&[3], &[2, 2]).unwrap().gather(&[0; 3], &[0, 1, 3, -1]).unwrap_err(),
        OutOfMemory = RunError::OutOfMemory { operand: Output, elements: 4, element_bytes: 8 },
    ];
}

#[cfg(feature = "gpu")]
#[test]
fn each_error_of_a_gpu_has_its_row() {
    use super::{GatherError, GatherError as E, GpuError, GpuError as G};
    use wgpu::BufferUsages;

    let block = || PlanError::CutBlock {
        part: "slices",
        encoding: "Q4_0".into(),
        block_len: 32,
        found: 1,
    };
    let property = "the bytes of output after an aligned offset";
    let text = || String::from("text");
    assert_rows![GatherError:
        MissingOperand = E::MissingOperand { operand: Scales },
        UnexpectedOperand = E::UnexpectedOperand { operand: Scales },
        MissingReport = E::MissingReport,
        CountOfRepeatedRows = E::CountOfRepeatedRows { index_rows: 4, output_rows: 12 },
        Rebound = E::Rebound { property: property.into(), expected: "0".into(), found: "4".into() },
        RangeTooShort = E::RangeTooShort { operand: Output, expected: 16, found: 12 },
        MissingUsage = E::MissingUsage { operand: Params, expected: BufferUsages::STORAGE, found: BufferUsages::COPY_DST },
        OffsetMisaligned = E::OffsetMisaligned { operand: Indices, offset: 2, alignment: 4 },
        Overlap = E::Overlap { operand: Output, with: Indices, start: 0, end: 16 },
        ShardRows = E::ShardRows { operand: Params, expected: 4, found: 3 },
        FillBytes = E::FillBytes { expected: 4, found: 2 },
        FillTooLong = E::FillTooLong { element_bytes: 68 },
        ZeroSizedElement = E::ZeroSizedElement,
        TooManyBytes = E::TooManyBytes { operand: Params, elements: 1 << 62, element_bytes: 4 },
        TooManyDispatches = E::TooManyDispatches { found: 70_000, limit: 1 << 16 },
        TooManyElementRows = E::TooManyElementRows { rows: 1 << 32, limit: (1 << 32) - 1 },
        TooManyElementDims = E::TooManyElementDims { element_dims: 9, limit: 8 },
        DeviceLimit = E::DeviceLimit { name: "max_storage_buffers_per_shader_stage", expected: 4, found: 2 },
        Plan = block().into(),
        NumberBytes = E::NumberBytes { number: "f32", element_bytes: 2 },
        UnsupportedReduce = E::UnsupportedReduce { reduce: crate::Reduce::Mul, number: "f32" },
        TooManyToOrder = E::TooManyToOrder { counted: "rows of the target in all batches", found: 1 << 32, limit: (1 << 32) - 1 },
        DeviceLost = E::DeviceLost,
        Rejected = E::Rejected(text()),
        OutOfMemory = E::OutOfMemory(text()),
        ReportLength = E::ReportLength { expected: 80, found: 4 },
        UnwrittenReport = E::UnwrittenReport,
        ForeignReport = E::ForeignReport { row: 5, count: 1, index_rows: 2 },
    ];
    assert_rows![GpuError:
        Run = RunError::Plan(block()).into(),
        Gather = E::DeviceLost.into(),
        NoAdapter = G::NoAdapter(text()),
        NoDevice = G::NoDevice { adapter: "llvmpipe".into(), reason: text() },
        OtherOwner = G::OtherOwner { operand: Params },
        Shape = G::Shape { operand: Tensor, expected: 6, shape: vec![2, 2] },
        Shape = G::Shape { operand: Indices, expected: 6, shape: vec![2, 2] },
        MissingShape = G::MissingShape,
        InHostMemory = G::InHostMemory,
        BufferTooLarge = G::BufferTooLarge { operand: Tensor, bytes: 268_435_460, limit: 268_435_456 },
        ReadBack = G::ReadBack(text()),
        InvalidElement = G::InvalidElement { element: "bool" },
    ];
    // A wrapped error has its own text.
    let lost = E::DeviceLost.to_string();
    assert_eq!(G::from(E::DeviceLost).to_string(), lost);
}
