//! Gathers whose GPU objects are made, to be recorded as often as one likes.

use std::fmt;

/// A gather with everything made that recording it takes: pipelines, uniforms and bind groups. Made by
/// [`Gatherer::prepare`](super::Gatherer::prepare).
///
/// To record it makes no GPU object, allocates nothing but what wgpu does for the commands, submits nothing,
/// waits for nothing, and cannot fail. It reads and writes what the buffers hold when the commands run, so
/// new indices in the same buffer are a new gather. It keeps its buffers alive.
///
/// ```no_run
#[doc = include_str!("../../tests/doc_examples/prepared.rs")]
/// ```
pub struct PreparedGather {
    steps: Vec<Step>,
}

impl PreparedGather {
    pub(super) const fn new(steps: Vec<Step>) -> Self {
        Self { steps }
    }

    /// Records the gather as one compute pass.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if !self.steps.is_empty() {
            record_pass(encoder, &self.steps);
        }
    }

    /// Records the gather into a compute pass of the caller's, where it sets pipeline and bind group 0.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        record_steps(pass, &self.steps);
    }

    /// How many dispatches it takes: one, unless the device's limits cut the gather, and one more for up to 15 rows of
    /// 1, 2 or 4 bytes that do not fill a vector. A report takes one more for each of them, and so does an index count. An
    /// empty output takes none, or one that writes the report.
    #[must_use]
    pub fn dispatches(&self) -> usize {
        self.steps.len()
    }
}

impl fmt::Debug for PreparedGather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedGather")
            .field("dispatches", &self.dispatches())
            .finish()
    }
}

/// One dispatch, ready to record.
pub(super) struct Step {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) workgroups: Workgroups,
}

/// How many workgroups a step has.
pub(super) enum Workgroups {
    These(u32, u32),
    /// What an earlier step writes into this buffer, at this offset.
    Counted(wgpu::Buffer, u64),
}

pub(super) fn record_pass(encoder: &mut wgpu::CommandEncoder, steps: &[Step]) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("wgpu-gather/encode"),
        timestamp_writes: None,
    });
    record_steps(&mut pass, steps);
}

fn record_steps(pass: &mut wgpu::ComputePass<'_>, steps: &[Step]) {
    for Step {
        pipeline,
        bind_group,
        workgroups,
    } in steps
    {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, bind_group, &[]);
        match workgroups {
            Workgroups::These(width, height) => pass.dispatch_workgroups(*width, *height, 1),
            Workgroups::Counted(grids, grid) => pass.dispatch_workgroups_indirect(grids, *grid),
        }
    }
}
