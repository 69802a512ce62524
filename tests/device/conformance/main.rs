//! Compares the GPU's results with those of TensorFlow and ONNX: one trial for each line in tests/data/*.jsonl and in the files
//! that `GATHER_CASES` names. The library's own tests compare the CPU's.

use std::process::ExitCode;

use libtest_mimic::Trial;
use testkit::conformance::cases::{self, Case};
use testkit::conformance::check;
use testkit::conformance::executor::Device;
use testkit::conformance::line::{Expect, Line};
use testkit::device::{self, Arguments, cpu_trial, gpu_trial};

fn main() -> ExitCode {
    let mut trials = vec![
        cpu_trial("cpu::an_altered_line_fails", || {
            altered_lines_fail(Device::Cpu)
        }),
        gpu_trial("gpu::an_altered_line_fails", |gpu| {
            altered_lines_fail(Device::Gpu(gpu));
            Ok(())
        }),
    ];
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

/// The check of a line notices another byte or shape, another bad row, and another kind of error.
fn altered_lines_fail(device: Device) {
    for Case { name, line, .. } in cases::all() {
        let Ok(mut line) = line else { continue };
        alter(&mut line);
        let checked = pollster::block_on(check::check(&line, device));
        assert!(checked.is_err(), "{name} passes with another result");
    }
}

fn alter(line: &mut Line) {
    match &mut line.expect {
        Expect::Output(output) => match output.data.last_mut() {
            Some(byte) => *byte ^= 1,
            None => output.shape.push(1),
        },
        Expect::BadRows(bad) => bad.rows[0] += 1,
        Expect::PlanError { kind, .. } => kind.push('s'),
    }
}
