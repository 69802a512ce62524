//! Compares the CPU's results with those of TensorFlow and ONNX, line by line: tests/data/*.jsonl, and the files that
//! `GATHER_CASES` names.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use testkit::conformance::executor::Device;
use testkit::conformance::{BUILT_IN, cases, check};

#[test]
fn the_cpu_gives_every_recorded_result() {
    let mut failures = Vec::new();
    for case in cases::all() {
        let checked = case
            .line
            .and_then(|line| pollster::block_on(check::check(&line, Device::Cpu)));
        if let Err(problem) = checked {
            failures.push(format!("{}: {problem}\n{}", case.name, case.json));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_recorded_result_is_lost() {
    let counts = BUILT_IN.map(|(name, text)| (name, text.lines().count()));
    assert_eq!(counts, [("tensorflow", 475), ("onnx", 7)]);
}
