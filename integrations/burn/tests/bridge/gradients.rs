//! Gradients through the bridge beside burn's own, and the gradients of bad rows, which burn has not.

use burn::tensor::module::embedding;
use burn::tensor::{Int, Tensor, TensorData};
use libtest_mimic::Trial;
use wgpu_gather_burn::wgpu_gather::Gather;
use wgpu_gather_burn::{BadIndices, Bridge, NegativeIndices};

use crate::common::{Gpu, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("gradients::of_select_are_burns", |gpu| {
            for dim in [0, 1, -1] {
                let indices = ints([1, 0, 1, 1], gpu);
                let burns = gradient(gpu, |params| params.select(dim, indices.clone()));
                let ours = gradient(gpu, |params| {
                    gpu.bridge
                        .select(params, dim, indices.clone())
                        .unwrap()
                        .tensor
                });
                assert_eq!(ours, burns, "dim {dim}");
            }
        }),
        trial("gradients::of_gather_are_burns", |gpu| {
            let indices = Tensor::<2, Int>::from_data([[1, 1, 0], [2, 0, 0]], &gpu.device);
            for dim in [0, 1] {
                // burn takes no indices that are smaller than params in another dim.
                let burns = gradient(gpu, |params| match dim {
                    0 => params.gather(dim, indices.clone()),
                    _ => params.slice(0..2).gather(dim, indices.clone()),
                });
                let ours = gradient(gpu, |params| {
                    gpu.bridge
                        .gather(params, dim, indices.clone())
                        .unwrap()
                        .tensor
                });
                assert_eq!(ours, burns, "dim {dim}");
            }
        }),
        trial("gradients::of_embedding_are_burns", |gpu| {
            let indices = Tensor::<2, Int>::from_data([[0, 1], [2, 1]], &gpu.device);
            let burns = gradient(gpu, |weights| embedding(weights, indices.clone()));
            let ours = gradient(gpu, |weights| {
                gpu.bridge
                    .embedding(weights, indices.clone())
                    .unwrap()
                    .tensor
            });
            assert_eq!(ours, burns);
        }),
        trial("gradients::with_checkpointing_are_burns", |gpu| {
            let device = gpu.device.clone().autodiff();
            let device = device.gradient_checkpointing();
            let run = |ours: bool| {
                let params = Tensor::<2>::from_data([[1.0, 2.0], [3.0, 4.0]], &device);
                let params = params.require_grad();
                let indices = Tensor::<1, Int>::from_data([1, 1, 0], &device);
                let output = match ours {
                    true => {
                        gpu.bridge
                            .select(params.clone() * 3.0, 0, indices)
                            .unwrap()
                            .tensor
                    }
                    false => (params.clone() * 3.0).select(0, indices),
                };
                let gradients = (output.clone() * output).sum().backward();
                params.grad(&gradients).unwrap().into_data()
            };
            run(true).assert_eq(&run(false), true);
        }),
        trial("gradients::bad_rows_pass_none_on", |gpu| {
            let select = |policy, negative| {
                let bridge = gpu.bridge.bad_indices(policy).negative_indices(negative);
                gradient(gpu, move |params| {
                    let indices = ints([0, 7, -1, 2], gpu);
                    bridge.select(params, 0, indices).unwrap().tensor
                })
            };
            let by =
                |indices: [i64; 4]| gradient(gpu, |params| params.select(0, ints(indices, gpu)));
            // Output row r has the weights 3r + 1, 3r + 2, 3r + 3.
            let zero = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 10.0, 11.0, 12.0];
            let (front, end) = (NegativeIndices::Invalid, NegativeIndices::FromEnd);
            assert_eq!(select(BadIndices::Fill, front), zero);
            assert_eq!(select(BadIndices::DeviceDefault, front), zero);
            assert_eq!(select(BadIndices::Error, front), zero);
            let from_end = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 17.0, 19.0, 21.0];
            assert_eq!(select(BadIndices::Fill, end), from_end);
            assert_eq!(select(BadIndices::Clamp, front), by([0, 2, 0, 2]));
            assert_eq!(select(BadIndices::Clamp, end), by([0, 2, 2, 2]));
            assert_eq!(select(BadIndices::Wrap, front), by([0, 1, 2, 2]));
        }),
        trial("gradients::bad_places_pass_none_on", |gpu| {
            let ours = gradient(gpu, |params| {
                let indices = Tensor::<2, Int>::from_data([[1, 9, 0], [-1, 2, 3]], &gpu.device);
                gpu.bridge.gather(params, 0, indices).unwrap().tensor
            });
            assert_eq!(ours, [0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0, 5.0, 0.0]);
        }),
        trial("gradients::of_no_rows_are_zeros", |gpu| {
            let none =
                Tensor::<1, Int>::from_data(TensorData::new(Vec::<i64>::new(), [0]), &gpu.device);
            let ours = gradient(gpu, |params| {
                let rows = gpu.bridge.select(params.clone(), 0, none.clone()).unwrap();
                Tensor::cat(vec![rows.tensor, params.slice(0..1)], 0)
            });
            assert_eq!(ours, [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        }),
        trial("gradients::int_params_keep_autodiff", |gpu| {
            let device = gpu.device.clone().autodiff();
            let params = Tensor::<1, Int>::from_data([5, 6, 7], &device);
            let indices = Tensor::<1, Int>::from_data([2, 0], &device);
            let bridge = Bridge::new(&device, &gpu.setup).unwrap();
            let output = bridge.select(params, 0, indices).unwrap().tensor;
            assert!(output.is_autodiff());
            assert_eq!(output.into_data().iter::<i64>().collect::<Vec<_>>(), [7, 5]);
        }),
        trial("gradients::operations_without_one_are_refused", |gpu| {
            let device = gpu.device.clone().autodiff();
            let params = Tensor::<1>::from_data([5.0, 6.0, 7.0], &device);
            let indices = Tensor::<1, Int>::from_data([2, 0], &device);
            let plan = Gather::new().plan(&[3], &[2]).unwrap();
            let run = gpu
                .bridge
                .run::<1, 1, 1, _>(&plan, params.clone(), indices.clone());
            assert_eq!(
                run.unwrap_err().to_string(),
                "params must not use autodiff for an operation without a gradient"
            );
            let run = gpu.bridge.run::<1, 1, 1, _>(&plan, params.inner(), indices);
            assert_eq!(
                run.unwrap()
                    .tensor
                    .into_data()
                    .iter::<f32>()
                    .collect::<Vec<_>>(),
                [7.0, 5.0]
            );
        }),
    ]
}

/// The gradient of params of shape [3, 3], whose output is weighted by the numbers from 1.
fn gradient<const O: usize>(gpu: &Gpu, gather: impl Fn(Tensor<2>) -> Tensor<O>) -> Vec<f32> {
    let device = gpu.device.clone().autodiff();
    let params = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
    let params = Tensor::<2>::from_data(params, &device).require_grad();
    let output = gather(params.clone());
    let len: i64 = output.shape().num_elements().try_into().unwrap();
    let weights = Tensor::<1, Int>::arange(1..len + 1, &device).float();
    let gradients = (output.clone() * weights.reshape(output.dims()))
        .sum()
        .backward();
    let gradient = params.grad(&gradients).unwrap();
    gradient.into_data().iter::<f32>().collect()
}

fn ints<const N: usize>(values: [i64; N], gpu: &Gpu) -> Tensor<1, Int> {
    Tensor::from_data(values, &gpu.device)
}
