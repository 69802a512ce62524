//! The plain loop, into an existing output.

use wgpu_gather_peers::plain_loop::gather;

use super::{Job, Peer, filled};
use crate::data::{Data, with_operands};

pub struct PlainLoop;

impl Peer for PlainLoop {
    fn name(&self) -> &'static str {
        "plain loop"
    }

    fn measure(&self) -> &'static str {
        "gather_into"
    }

    fn note(&self) -> &'static str {
        "a safe loop in Rust around copy_from_slice, into an output that is there"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        with_operands!(data, |params, indices| {
            Ok(filled(data, move |output| {
                gather(&data.workload, &data.plan, params, indices, output);
            }))
        })
    }
}
