//! Compares the GPU with the oracle and the CPU, on the adapter that the environment chooses.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adapters;
mod bags;
mod batch;
mod cuts;
mod edges;
mod encoded;
mod executor_bytes;
mod executors;
mod fills;
mod indirect;
mod indirect_large;
mod into_buffers;
mod known_failures;
mod masks;
mod nonzero;
mod owners;
mod plan_shapes;
mod prepared;
mod reports;
mod requests;
mod scatter_requests;
mod scatters;
mod shards;
mod sorts;
mod sums;
mod to_host;
mod too_large;
#[cfg(not(target_vendor = "apple"))]
mod validation;
mod waiting;

use std::borrow::Cow;
use std::process::ExitCode;

use libtest_mimic::Trial;
use testkit::device::{self, Arguments};
use testkit::gpu::Gpu;
use wgpu_gather::{Element, Tensor};

fn main() -> ExitCode {
    let mut trials = to_host::trials();
    trials.extend(into_buffers::trials());
    trials.extend(cuts::trials());
    trials.extend(indirect::trials());
    trials.extend(indirect_large::trials());
    trials.extend(executors::trials());
    trials.extend(executor_bytes::trials());
    trials.extend(requests::trials());
    trials.extend(shards::trials());
    trials.extend(plan_shapes::trials());
    trials.extend(owners::trials());
    trials.extend(adapters::trials());
    trials.extend(edges::trials());
    trials.extend(encoded::trials());
    trials.extend(fills::trials());
    trials.extend(prepared::trials());
    trials.extend(reports::trials());
    trials.extend(scatters::trials());
    trials.extend(scatter_requests::trials());
    trials.extend(sorts::trials());
    trials.extend(sums::trials());
    trials.extend(masks::trials());
    trials.extend(nonzero::trials());
    trials.extend(bags::trials());
    trials.extend(too_large::trials());
    trials.extend(waiting::trials());
    trials.extend(known_failures::trials());
    #[cfg(not(target_vendor = "apple"))]
    trials.extend(validation::trials());
    device::run(&Arguments::from_args(), trials)
}

/// A trial on the shared GPU, which fails by panicking.
fn trial(name: impl Into<String>, run: impl FnOnce(&'static Gpu) + Send + 'static) -> Trial {
    device::gpu_trial(name, |gpu| {
        run(gpu);
        Ok(())
    })
}

/// A tensor of one dim.
fn flat<'e, T: Element>(gpu: &Gpu, elements: impl Into<Cow<'e, [T]>>) -> Tensor<T> {
    let elements = elements.into();
    let len = elements.len();
    gpu.upload(elements, &[len]).unwrap()
}
