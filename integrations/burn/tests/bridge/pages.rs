//! Tensors that share one of burn's memory pages, views into tensors, and tensors that wait for fused operations.

use burn::tensor::{Int, Tensor};
use libtest_mimic::Trial;

use crate::common::{Gpu, place, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("pages::operands_and_output_share_one", |gpu| {
            let indices: Vec<i64> = (0..64).map(|n| n * 7 % 16).collect();
            let mut shared = 0;
            // Tensors that are kept, so that each gather finds other places.
            let mut kept = Vec::new();
            for number in 0..32 {
                let params = table::<16>(gpu, number);
                let by = Tensor::<1, Int>::from_data(&indices[..], &gpu.device);
                let output = gpu.bridge.select(params.clone(), 0, by.clone()).unwrap();
                let output = output.tensor;
                let places = [
                    place(params.clone()),
                    place(by.clone()),
                    place(output.clone()),
                ];
                let one = places.iter().all(|place| place.buffer == places[0].buffer);
                let inside = places.iter().all(|place| place.offset > 0);
                shared += usize::from(one && inside);
                let expected = params.clone().select(0, by.clone());
                assert_eq!(floats(output.clone()), floats(expected));
                kept.push((params, by, output));
            }
            assert!(shared > 16, "{shared} of 32 gathers shared a page");
        }),
        trial("pages::views_start_inside_a_tensor", |gpu| {
            let whole = table::<64>(gpu, 3);
            let indices = ints(gpu, &[3, 0, 7, 7, 2]);
            // burn makes a view of these rows, and a copy of others.
            let view = whole.clone().slice(32..40);
            let start = place(view.clone()).offset - place(whole.clone()).offset;
            assert_eq!(start, 32 * 16 * 4);
            let found = gpu.bridge.select(view.clone(), 0, indices.clone()).unwrap();
            assert_eq!(
                floats(found.tensor),
                floats(view.select(0, indices.clone()))
            );
            for first in [1, 5, 33] {
                let part = whole.clone().slice([first..first + 8, 3..9]);
                let found = gpu.bridge.select(part.clone(), 0, indices.clone()).unwrap();
                assert_eq!(
                    floats(found.tensor),
                    floats(part.select(0, indices.clone()))
                );
            }
            // Indices that start inside a tensor.
            let numbers = Tensor::<1, Int>::arange(0..256, &gpu.device);
            for range in [64..128, 3..17] {
                let by = numbers.clone().slice([range]).remainder_scalar(8);
                let found = gpu.bridge.select(whole.clone(), 0, by.clone()).unwrap();
                assert_eq!(floats(found.tensor), floats(whole.clone().select(0, by)));
            }
        }),
        trial("pages::other_layouts_are_made_row_major", |gpu| {
            let params = table::<16>(gpu, 5);
            let indices = ints(gpu, &[2, 15, 0]);
            let layouts = [
                params.clone().transpose(),
                params.clone().flip([0]),
                params.clone().slice(0..1).expand([16, 16]),
                params.clone().reshape([4, 64]).reshape([16, 16]),
            ];
            for (number, params) in layouts.into_iter().enumerate() {
                for dim in [0, 1] {
                    let found = gpu.bridge.select(params.clone(), dim, indices.clone());
                    let expected = params.clone().select(dim, indices.clone());
                    let found = floats(found.unwrap().tensor);
                    assert_eq!(found, floats(expected), "layout {number}, dim {dim}");
                }
            }
            let by = ints(gpu, &[3]).expand([5]);
            let found = gpu.bridge.select(params.clone(), 0, by.clone()).unwrap();
            // The view repeats one index in memory, past which burn's own select reads: it gets that index without a view.
            let row = params.select(0, ints(gpu, &[3])).expand([5, 16]);
            assert_eq!(floats(found.tensor), floats(row));
        }),
        trial("pages::pending_operations_come_first", |gpu| {
            for number in 0..20 {
                let params = table::<16>(gpu, number);
                let params = (params * 2.0 + 1.0).exp().log() - 0.5;
                let indices = (ints(gpu, &[1, 2, 3]) * 2 + 3) - 1;
                let found = gpu
                    .bridge
                    .select(params.clone(), 0, indices.clone())
                    .unwrap();
                let found = (found.tensor * 3.0).sum_dim(1) + 1.0;
                let expected = (params.select(0, indices) * 3.0).sum_dim(1) + 1.0;
                assert_eq!(floats(found), floats(expected));
            }
        }),
        trial("pages::burn_may_write_over_an_output", |gpu| {
            let params = table::<16>(gpu, 9);
            let indices = ints(gpu, &[4, 4, 1]);
            let found = gpu
                .bridge
                .select(params.clone(), 0, indices.clone())
                .unwrap();
            let zeros = Tensor::<2>::zeros([1, 16], &gpu.device);
            let found = found.tensor.slice_assign([1..2, 0..16], zeros.clone());
            let expected = params
                .clone()
                .select(0, indices)
                .slice_assign([1..2, 0..16], zeros);
            assert_eq!(floats(found), floats(expected));
            assert_eq!(floats(params), floats(table::<16>(gpu, 9)));
        }),
    ]
}

/// Rows of 16 numbers that the seed shifts.
fn table<const ROWS: usize>(gpu: &Gpu, seed: i64) -> Tensor<2> {
    let len = i64::try_from(ROWS * 16).unwrap();
    let numbers = Tensor::<1, Int>::arange(seed..seed + len, &gpu.device);
    numbers.float().reshape([ROWS, 16])
}

fn ints(gpu: &Gpu, values: &[i64]) -> Tensor<1, Int> {
    Tensor::from_data(values, &gpu.device)
}

fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
