//! Faults of devices, drivers, apps and tasks before, during and after a gather. The gather must give the right answer
//! or a typed error, never a panic, an endless wait or zeros that look like an answer, and the next gather on a good
//! device must be right.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod at_call;
mod dropped;
mod handlers;
mod long_awaits;
mod lost;
mod memory;
mod polling;
mod shaders;
mod support;

use std::process::ExitCode;

use testkit::device::{self, Arguments};

fn main() -> ExitCode {
    if memory::is_short_of_memory() {
        memory::gather_in_less_and_less();
        return ExitCode::SUCCESS;
    }
    at_call::watch();
    let trials = [
        lost::trials(),
        memory::trials(),
        handlers::trials(),
        dropped::trials(),
        polling::trials(),
        long_awaits::trials(),
        shaders::trials(),
    ];
    let trials = trials.into_iter().flatten().collect();
    device::run(&Arguments::from_args(), trials)
}
