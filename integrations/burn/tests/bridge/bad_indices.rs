//! Indices out of range: burn reads what lies there, the bridge follows the policy.

use burn::tensor::{DType, Int, Tensor, TensorData};
use libtest_mimic::Trial;
use wgpu_gather_burn::{BadIndices, NegativeIndices};

use crate::common::{Gpu, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("bad_indices::burn_gives_other_bytes", |gpu| {
            // Of each row of [[0, 1], [2, 3], [4, 5], [6, 7]], entries 1, 2 and -1: of the last two there is none.
            let (params, _) = operands(gpu);
            let indices = Tensor::<1, Int>::from_data([1, 2, -1], &gpu.device);
            let burns = floats(params.clone().select(1, indices.clone()));
            // burn reads on in the next row, and back in the row before.
            assert_eq!(burns[3..8], [3.0, 4.0, 1.0, 5.0, 6.0]);
            let zeros = gpu.bridge.select(params.clone(), 1, indices.clone());
            let zeros = floats(zeros.unwrap().tensor);
            let expected = [1.0, 0.0, 0.0, 3.0, 0.0, 0.0, 5.0, 0.0, 0.0, 7.0, 0.0, 0.0];
            assert_eq!(zeros, expected);

            let strict = gpu.bridge.bad_indices(BadIndices::Error);
            let gathered = strict.select(params, 1, indices).unwrap();
            let error = gathered.checked().unwrap_err();
            assert_eq!(error.to_string(), "indices[1] = 2 is not in [0, 2)");
        }),
        trial("bad_indices::of_embedding_are_named_by_place", |gpu| {
            let weights = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0]], &gpu.device);
            let indices = Tensor::<2, Int>::from_data([[1, 0, 1], [0, 0, 2]], &gpu.device);
            let strict = gpu.bridge.bad_indices(BadIndices::Error);
            let error = strict.embedding(weights, indices).unwrap().checked();
            let expected = "indices[1,2] = 2 is not in [0, 2)";
            assert_eq!(error.unwrap_err().to_string(), expected);
        }),
        trial("bad_indices::each_policy", |gpu| {
            let select = |policy, negative| {
                let bridge = gpu.bridge.bad_indices(policy).negative_indices(negative);
                let (params, indices) = operands(gpu);
                floats(
                    bridge
                        .select(params, 0, indices)
                        .unwrap()
                        .checked()
                        .unwrap(),
                )
            };
            let (front, end) = (NegativeIndices::Invalid, NegativeIndices::FromEnd);
            let row = |four: [f32; 2], minus_one: [f32; 2]| {
                [&[2.0, 3.0], &four[..], &minus_one[..], &[6.0, 7.0]].concat()
            };
            let (first, zero, last) = ([0.0, 1.0], [0.0; 2], [6.0, 7.0]);
            assert_eq!(select(BadIndices::DeviceDefault, front), row(zero, zero));
            assert_eq!(select(BadIndices::Fill, end), row(zero, last));
            assert_eq!(select(BadIndices::Clamp, front), row(last, first));
            assert_eq!(select(BadIndices::Clamp, end), row(last, last));
            assert_eq!(select(BadIndices::Wrap, front), row(first, last));
            let filled = gpu.bridge.fill(&9.5_f32.to_le_bytes());
            let (params, indices) = operands(gpu);
            let filled = filled.select(params, 0, indices).unwrap().tensor;
            assert_eq!(floats(filled), row([9.5; 2], [9.5; 2]));
        }),
        trial("bad_indices::a_report_waits_to_be_read", |gpu| {
            let strict = gpu.bridge.bad_indices(BadIndices::Error);
            let gathers: Vec<_> = (0..10)
                .map(|number| {
                    let params = Tensor::<1>::from_data([1.0, 2.0, 3.0], &gpu.device);
                    let indices = TensorData::new(vec![0_i64, number, 1, number], [4]);
                    let indices = Tensor::<1, Int>::from_data(indices, (&gpu.device, DType::I64));
                    strict.select(params, 0, indices).unwrap()
                })
                .collect();
            for (number, gathered) in gathers.into_iter().enumerate() {
                let bad = gathered.report.unwrap().read().unwrap();
                let found = bad.map(|bad| (bad.count, bad.first.to_string()));
                let text = format!("indices[1] = {number} is not in [0, 3)");
                assert_eq!(found, (number > 2).then_some((2, text)));
            }
        }),
        trial(
            "bad_indices::without_the_policy_there_is_no_report",
            |gpu| {
                let (params, indices) = operands(gpu);
                assert!(
                    gpu.bridge
                        .select(params, 0, indices)
                        .unwrap()
                        .report
                        .is_none()
                );
            },
        ),
    ]
}

/// A table of 4 rows of 2, between two other tensors, and indices of which two are out of range.
fn operands(gpu: &Gpu) -> (Tensor<2>, Tensor<1, Int>) {
    let _before = Tensor::<1>::full([64], 77.0, &gpu.device);
    let params = Tensor::<1, Int>::arange(0..8, &gpu.device);
    let params = params.float().reshape([4, 2]);
    let _after = Tensor::<1>::full([64], 99.0, &gpu.device);
    let indices = Tensor::from_data([1, 4, -1, 3], &gpu.device);
    (params, indices)
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
