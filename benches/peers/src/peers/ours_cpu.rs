//! This crate on the CPU: into an existing output, and into an output that it allocates.

use super::{Device, Job, OURS, Peer, filled, made};
use crate::data::{Data, with_operands};

pub struct RunInto;

impl Peer for RunInto {
    fn name(&self) -> &'static str {
        OURS
    }

    fn package(&self) -> Option<&'static str> {
        Some(OURS)
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    fn measure(&self) -> &'static str {
        "run_into"
    }

    fn uses_threads(&self) -> bool {
        true
    }

    fn note(&self) -> &'static str {
        "GatherPlan::run_into, into an output that is there; a bad index is an error"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        with_operands!(data, |params, indices| {
            Ok(filled(data, move |output| {
                let run = data.plan.run_into(params, indices, output);
                run.expect("indices are in range");
            }))
        })
    }
}

pub struct Run;

impl Peer for Run {
    fn name(&self) -> &'static str {
        OURS
    }

    fn package(&self) -> Option<&'static str> {
        Some(OURS)
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    fn measure(&self) -> &'static str {
        "run"
    }

    fn uses_threads(&self) -> bool {
        true
    }

    fn note(&self) -> &'static str {
        "GatherPlan::run, which allocates its output"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        with_operands!(data, |params, indices| {
            let run = move || data.plan.run(params, indices);
            Ok(made(
                move || run().expect("indices are in range"),
                |output| bytemuck::cast_slice(output).to_vec(),
            ))
        })
    }
}
