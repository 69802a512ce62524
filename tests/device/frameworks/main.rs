//! Each row in the tables of src/guide/frameworks.md and the page's list of differences, and NumPy's and JAX's recorded results.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod differences;
mod recorded;

use std::process::ExitCode;

use testkit::device::{self, Arguments};

fn main() -> ExitCode {
    let mut trials = differences::trials();
    trials.extend(recorded::trials());
    device::run(&Arguments::from_args(), trials)
}
