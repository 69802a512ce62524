//! This crate on the CPU: into an existing output, or into an output that it allocates.

use super::{Job, OURS, Peer, filled, made};
use crate::data::{Data, with_operands};

#[derive(PartialEq, Eq)]
pub enum OursCpu {
    GatherInto,
    Gather,
}

impl Peer for OursCpu {
    fn name(&self) -> &'static str {
        OURS
    }

    fn package(&self) -> Option<&'static str> {
        Some(OURS)
    }

    fn measure(&self) -> &'static str {
        match self {
            Self::GatherInto => "gather_into",
            Self::Gather => "gather",
        }
    }

    fn uses_threads(&self) -> bool {
        true
    }

    fn note(&self) -> &'static str {
        match self {
            Self::GatherInto => {
                "GatherPlan::gather_into, into an output that is there; a bad index is an error"
            }
            Self::Gather => "GatherPlan::gather, which allocates its output",
        }
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        with_operands!(data, |params, indices| {
            if *self == Self::GatherInto {
                return Ok(filled(data, move |output| {
                    let run = data.plan.gather_into(params, indices, output);
                    run.expect("indices are in range");
                }));
            }
            let run = move || data.plan.gather(params, indices);
            Ok(made(
                move || run().expect("indices are in range"),
                |output| bytemuck::cast_slice(output).to_vec(),
            ))
        })
    }
}
