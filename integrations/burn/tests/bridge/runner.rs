//! The bridge as a runner: the table of cases that the oracle, the CPU and the GPU run, with every policy, for elements
//! of each width that burn holds and each type of indices.

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Float, Int, Tensor};
use libtest_mimic::Trial;
use testkit::cases::{index_values, slice_lengths, table};
use testkit::indices::Hash;
use testkit::samples::{POLICIES, Sample};
use wgpu_gather_burn::BridgeError;
use wgpu_gather_burn::wgpu_gather::{BadIndices, GatherPlan, IndexKind};

use crate::common::{Gpu, bytes, trial};

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
                    // Of each case one sample of every policy, and each width and each type of indices in turn.
                    let mut hash = Hash::of(&case);
                    let width = [1, 2, 4, 8][hash.below(4)];
                    let kinds = [
                        IndexKind::ALL[hash.below(IndexKind::ALL.len())],
                        IndexKind::I64,
                    ];
                    let samples = case.samples(&[width], &kinds, POLICIES);
                    for sample in samples {
                        check(gpu, &sample);
                        if sample.plan.bad_indices() == BadIndices::Fill {
                            check(gpu, &sample.filled());
                        }
                    }
                }
            }));
        }
    }
    trials
}

/// Compares the bridge with the oracle's result of the sample.
fn check(gpu: &Gpu, sample: &Sample) {
    let params = Operand {
        bytes: sample.params.clone(),
        dtype: match sample.element_bytes {
            1 => DType::U8,
            2 => DType::F16,
            4 => DType::F32,
            8 => DType::I64,
            other => panic!("no element of {other} bytes"),
        },
    };
    let indices = Operand {
        bytes: sample.indices.clone(),
        dtype: index_dtype(sample.index_kind),
    };
    let found = match params.dtype {
        DType::U8 | DType::I64 => gathered::<Int>(gpu, &sample.fill, &sample.plan, params, indices),
        _ => gathered::<Float>(gpu, &sample.fill, &sample.plan, params, indices),
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

pub struct Operand {
    pub bytes: Vec<u8>,
    pub dtype: DType,
}

pub fn index_dtype(kind: IndexKind) -> DType {
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
pub fn gathered<K: Basic>(
    gpu: &Gpu,
    fill: &[u8],
    plan: &GatherPlan,
    params: Operand,
    indices: Operand,
) -> Result<Vec<u8>, BridgeError> {
    let params_len = usize::try_from(plan.params_len()).unwrap();
    let indices_len = usize::try_from(plan.indices_len()).unwrap();
    let params: Tensor<1, K> = gpu.tensor(params.bytes, [params_len], params.dtype);
    let indices: Tensor<1, Int> = gpu.tensor(indices.bytes, [indices_len], indices.dtype);
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
