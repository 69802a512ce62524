//! Gathers whose GPU objects are made, so that they can be recorded any number of times.

mod steps;

use std::fmt;

use self::steps::{Step, Workgroups};
use super::cut::Dispatch;
use super::mask::MaskDispatch;
use super::operands::Operands;
use super::pipelines::Pipelines;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// A gather with its pipelines, uniforms and bind groups made, ready to record. Made by
/// [`Gatherer::prepare`](super::Gatherer::prepare).
///
/// Recording makes no GPU object, allocates only what wgpu allocates for the commands, submits nothing, waits for
/// nothing, and cannot fail. The commands read what the buffers hold when they run, so new indices in the same
/// buffer are a new gather. A prepared gather keeps its buffers alive.
///
/// ```no_run
#[doc = include_str!("../../tests/doc_examples/prepared.rs")]
/// ```
pub struct PreparedGather {
    steps: Vec<Step>,
}

impl PreparedGather {
    /// Makes the GPU objects of `dispatches`, and those of the mask. Without a dispatch, makes the objects that write the
    /// report, if any.
    pub(super) fn new(
        pipelines: &Pipelines,
        plan: &GatherPlan,
        operands: &Operands<'_>,
        dispatches: &[Dispatch],
        masks: &[MaskDispatch],
    ) -> Result<Self, GatherError> {
        let steps = steps::make(pipelines, plan, operands, dispatches, masks)?;
        Ok(Self { steps })
    }

    /// Records the gather as one compute pass.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if !self.steps.is_empty() {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("wgpu-gather/encode"),
                timestamp_writes: None,
            });
            self.encode_in_pass(&mut pass);
        }
    }

    /// Records the gather into the caller's compute pass, and sets the pass's pipeline and bind group 0.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        for step in &self.steps {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.bind_group, &[]);
            match &step.workgroups {
                &Workgroups::Direct([x, y, z]) => pass.dispatch_workgroups(x, y, z),
                Workgroups::Indirect(buffer, offset) => {
                    pass.dispatch_workgroups_indirect(buffer, *offset);
                }
            }
        }
    }
}

/// Prints the number of dispatches. A gather takes one; several if the device's limits cut it, if params has shards, or if
/// an index count meets several blocks; and one more for up to 15 last rows of 1, 2 or 4 bytes that do not fill 16 bytes.
/// A report takes up to one more for each of these dispatches; an index count takes one more for each. An empty output
/// takes none, or one that writes the report. A mask takes one more, or several if the device's limits cut it.
impl fmt::Debug for PreparedGather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedGather")
            .field("dispatches", &self.steps.len())
            .finish()
    }
}
