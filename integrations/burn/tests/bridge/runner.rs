//! The bridge as a runner: the table of cases that the oracle, the CPU and the GPU run, with every policy, for elements and
//! indices of each type that burn holds.

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Float, Int, Tensor};
use libtest_mimic::Trial;
use testkit::cases::{index_values, slice_lengths, table};
use testkit::indices::Hash;
use testkit::samples::{POLICIES, Sample};
use wgpu_gather_burn::BridgeError;
use wgpu_gather_burn::wgpu_gather::{BadIndices, GatherPlan, IndexKind};

use crate::common::{Gpu, bytes, trial};

/// Types of elements, with their bytes. burns_cases has bools, whose bytes are 0 or 1.
const DTYPES: [(DType, usize); 12] = [
    (DType::I8, 1),
    (DType::U8, 1),
    (DType::I16, 2),
    (DType::U16, 2),
    (DType::F16, 2),
    (DType::BF16, 2),
    (DType::I32, 4),
    (DType::U32, 4),
    (DType::F32, 4),
    (DType::I64, 8),
    (DType::U64, 8),
    (DType::F64, 8),
];

pub fn trials() -> Vec<Trial> {
    let lists = [
        ("table", table()),
        ("index_values", index_values()),
        ("slice_lengths", slice_lengths()),
    ];
    let mut trials = Vec::new();
    for (list, cases) in lists {
        for (part, cases) in cases.chunks(40).enumerate() {
            let cases = cases.to_vec();
            trials.push(trial(format!("runner::{list}::{part}"), move |gpu| {
                for case in cases {
                    if case.output_shape().is_err() {
                        continue;
                    }
                    // Of each case one sample of every policy, and each type of elements and of indices in turn.
                    let mut hash = Hash::of(&case);
                    let (dtype, width) = DTYPES[hash.below(DTYPES.len())];
                    let kinds = [
                        IndexKind::ALL[hash.below(IndexKind::ALL.len())],
                        IndexKind::I64,
                    ];
                    let samples = case.samples(&[width], &kinds, POLICIES);
                    for sample in samples {
                        check(gpu, dtype, &sample);
                        if sample.plan.bad_indices() == BadIndices::Fill {
                            check(gpu, dtype, &sample.filled());
                        }
                    }
                }
            }));
        }
    }
    trials
}

/// Compares the bridge with the oracle's result of the sample.
fn check(gpu: &Gpu, dtype: DType, sample: &Sample) {
    let params = Operand {
        bytes: sample.params.clone(),
        dtype,
    };
    let indices = Operand {
        bytes: sample.indices.clone(),
        dtype: index_dtype(sample.index_kind),
    };
    let found = match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            gathered::<Float>(gpu, &sample.fill, &sample.plan, params, indices)
        }
        _ => gathered::<Int>(gpu, &sample.fill, &sample.plan, params, indices),
    };
    let rank = sample.plan.output_shape().len();
    if rank > 8 {
        let error = BridgeError::RankAboveLimit {
            limit: 8,
            found: rank,
        };
        assert_eq!(found, Err(error), "{sample}");
        return;
    }
    let expected = match &sample.bad_index {
        Some(text) if sample.plan.bad_indices() == BadIndices::Error => Err(text.clone()),
        _ => Ok(sample.output.clone()),
    };
    assert_eq!(
        found.map_err(|error| error.to_string()),
        expected,
        "{sample}"
    );
}

struct Operand {
    bytes: Vec<u8>,
    dtype: DType,
}

fn index_dtype(kind: IndexKind) -> DType {
    match kind {
        IndexKind::I8 => DType::I8,
        IndexKind::U8 => DType::U8,
        IndexKind::I16 => DType::I16,
        IndexKind::U16 => DType::U16,
        IndexKind::I32 => DType::I32,
        IndexKind::U32 => DType::U32,
        IndexKind::I64 => DType::I64,
        IndexKind::U64 => DType::U64,
        kind => panic!("no {kind} here"),
    }
}

/// The bytes of the output of a plan, with the shape that the plan says. Operands are tensors of rank 1, since a plan
/// compares only numbers of elements.
fn gathered<K: Basic>(
    gpu: &Gpu,
    fill: &[u8],
    plan: &GatherPlan,
    params: Operand,
    indices: Operand,
) -> Result<Vec<u8>, BridgeError> {
    let params: Tensor<1, K> = gpu.tensor(params.bytes, [plan.params_len()], params.dtype);
    let indices: Tensor<1, Int> = gpu.tensor(indices.bytes, [plan.indices_len()], indices.dtype);
    let bridge = match fill {
        [] => gpu.bridge.clone(),
        fill => gpu.bridge.fill(fill),
    };
    macro_rules! of_rank {
        ($($rank:literal)*) => {
            match plan.output_shape().len().max(1) {
                $($rank => {
                    let output = bridge.run::<1, 1, $rank, K>(plan, params, indices)?.checked()?;
                    let shape = output.dims();
                    if !plan.output_shape().is_empty() {
                        assert_eq!(shape[..], *plan.output_shape());
                    }
                    Ok(bytes(output))
                })*
                _ => Err(bridge.run::<1, 1, 1, K>(plan, params, indices).unwrap_err()),
            }
        };
    }
    of_rank!(1 2 3 4 5 6 7 8)
}
