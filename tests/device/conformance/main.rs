//! Compares the GPU's results with those of TensorFlow and ONNX: one trial for each line in tests/data/*.jsonl and in the files
//! that `GATHER_CASES` names. The library's own tests compare the CPU's.

mod self_test;

use std::process::ExitCode;

use libtest_mimic::Trial;
use testkit::conformance::cases::{self, Case};
use testkit::conformance::check;
use testkit::conformance::executor::Device;
use testkit::device::{self, Arguments, gpu_trial};

fn main() -> ExitCode {
    let mut trials = self_test::trials();
    trials.extend(cases::all().into_iter().map(line_trial));
    device::run(&Arguments::from_args(), trials)
}

fn line_trial(case: Case) -> Trial {
    let line = match case.line {
        Ok(line) => line,
        Err(problem) => {
            let failed = move || Err(format!("{problem}\n{}", case.json).into());
            return Trial::test(format!("lines::{}", case.name), failed);
        }
    };
    gpu_trial(format!("gpu::{}", case.name), move |gpu| {
        let checked = pollster::block_on(check::check(&line, Device::Gpu(gpu)));
        Ok(checked.map_err(|problem| format!("{problem}\n{}", case.json))?)
    })
}
