//! The bridge beside burn's own operations and the oracle, on the adapter that burn chooses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_indices;
mod burns_cases;
mod child;
mod common;
mod errors;
mod gradients;
mod large;
mod pages;
mod runner;
mod threads;

use libtest_mimic::{Arguments, Trial};

fn main() {
    child::run();
    let mut trials: Vec<Trial> = burns_cases::trials();
    trials.extend(runner::trials());
    trials.extend(pages::trials());
    trials.extend(bad_indices::trials());
    trials.extend(errors::trials());
    trials.extend(gradients::trials());
    trials.extend(threads::trials());
    trials.extend(large::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
