//! The bridge beside burn's own operations, the oracle and the recorded results of TensorFlow and ONNX, on the adapter
//! that burn chooses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod burns_cases;
mod common;
mod conformance;
mod gradients;
mod voice;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut trials: Vec<Trial> = voice::trials();
    trials.extend(burns_cases::trials());
    trials.extend(gradients::trials());
    trials.extend(conformance::trials());
    trials.push(common::trial("smoke", |gpu| {
        use burn::tensor::{Tensor, Int};
        let table = Tensor::<2>::from_data([[10.0_f32, 11.0], [20.0, 21.0], [30.0, 31.0]], &gpu.device);
        let rows = Tensor::<1, Int>::from_data([2, 0, 7], &gpu.device);
        let picked = gpu.bridge.select(table + 1.0, 0, rows).unwrap().tensor * 2.0;
        assert_eq!(picked.into_data().try_to_vec::<f32>().unwrap(), [62.0, 64.0, 22.0, 24.0, 0.0, 0.0]);
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
