//! Compares this crate's results with those of TensorFlow and ONNX: one trial on each device for each line of
//! tests/data/*.jsonl and of the files that `GATHER_CASES` names.

mod self_test;

#[path = "../common/mod.rs"]
mod common;

use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use testkit::conformance::cases::{Case, FILES};
use testkit::conformance::executor::Device;
use testkit::conformance::same::same;
use testkit::conformance::{cases, check};

fn main() {
    let mut trials = self_test::trials();
    let mut line_counts = Vec::new();
    for (file, _) in FILES {
        let cases = cases::read(&cases::data_file(file));
        line_counts.push((file, cases.len()));
        trials.extend(cases.into_iter().flat_map(line_trials));
    }
    trials.push(Trial::test("data::line_counts", move || {
        same("line counts", line_counts.as_slice(), &FILES)?;
        let lines = line_counts.iter().map(|(_, lines)| lines).sum::<usize>();
        Ok(same("lines in all", &lines, &482)?)
    }));
    for file in cases::more_files() {
        trials.extend(cases::read(&file).into_iter().flat_map(line_trials));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn line_trials(case: Case) -> Vec<Trial> {
    let line = match case.line {
        Ok(line) => line,
        Err(problem) => {
            let failed = move || Err(format!("{problem}\n{}", case.json).into());
            return vec![Trial::test(format!("lines::{}", case.name), failed)];
        }
    };
    device_trials(&case.name, move |device| {
        pollster::block_on(check::check(&line, device))
            .map_err(|problem| format!("{problem}\n{}", case.json))
    })
}

/// One trial for each device.
fn device_trials(
    name: &str,
    check: impl Fn(Device) -> Result<(), String> + Send + Sync + 'static,
) -> Vec<Trial> {
    let check = Arc::new(check);
    vec![
        #[cfg(feature = "gpu")]
        common::device::gpu_trial(format!("gpu::{name}"), {
            let check = Arc::clone(&check);
            move |gpu| Ok(check(Device::Gpu(gpu))?)
        }),
        Trial::test(format!("cpu::{name}"), move || Ok(check(Device::Cpu)?)),
    ]
}
