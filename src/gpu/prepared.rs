//! Gathers whose GPU objects are made, so that they can be recorded any number of times.

mod mask;
mod uniforms;

use std::fmt;

use super::bindings::{Bindings, DUMMY_BYTES};
use super::cut::{Dispatch, Span};
use super::kernel::WORKGROUP_SIZE;
use super::mask::MaskDispatch;
use super::operands::Operands;
use super::pipelines::Pipelines;
use super::scope::scoped;
use super::shaders::{EntryPoint, PipelineKey};
use super::types::WORD_BYTES;
use super::uniform::{GatherUniform, UNIFORM_BYTES};
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// Below this many invocations, lanes without a row cost less than an indirect dispatch.
const MAX_DIRECT_INVOCATIONS: u64 = 1 << 18;

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
        let mut steps = Vec::new();
        let gathers = !dispatches.is_empty() || operands.report.is_some();
        if gathers || !masks.is_empty() {
            let maker = Maker::new(pipelines, operands, dispatches)?;
            if gathers {
                maker.make_gather_steps(plan, dispatches, &mut steps)?;
            }
            maker.make_mask_steps(plan, masks, &mut steps)?;
        }
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
                &Workgroups::Direct(width, height) => pass.dispatch_workgroups(width, height, 1),
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

/// One dispatch, ready to record.
struct Step {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: Workgroups,
}

enum Workgroups {
    /// The width and the height of the grid, in workgroups.
    Direct(u32, u32),
    /// The buffer, and the offset in the buffer, to which an earlier step writes the grid.
    Indirect(wgpu::Buffer, u64),
}

/// Makes the GPU objects of one gather.
struct Maker<'a> {
    pipelines: &'a Pipelines,
    operands: &'a Operands<'a>,
    /// The dummy binding, since wgpu binds no empty range: for params without rows, of which the shader loads only unit
    /// 0, and for the indices of index depth 0 or of an empty output.
    dummy: Option<wgpu::Buffer>,
    /// The counter of bad rows, if they are reported.
    counter: Option<wgpu::Buffer>,
    /// True if there is an index count, which a step before each dispatch reads.
    is_indirect: bool,
    /// Bytes from one uniform to the next in their buffer.
    stride: u64,
}

impl<'a> Maker<'a> {
    fn new(
        pipelines: &'a Pipelines,
        operands: &'a Operands<'a>,
        dispatches: &[Dispatch],
    ) -> Result<Self, GatherError> {
        let (device, limits) = (&pipelines.device, &pipelines.limits);
        let is_indirect = operands.index_count.is_some() && !dispatches.is_empty();
        let mut alignment = limits.min_uniform_buffer_offset_alignment.max(WORD_BYTES);
        if is_indirect {
            // `count_rows` writes the uniform, through a storage binding.
            alignment = alignment.max(limits.min_storage_buffer_offset_alignment);
        }
        let needs_dummy = dispatches.is_empty() || dispatches.iter().any(Dispatch::binds_nothing);
        let make_dummy = || {
            scoped(device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("wgpu-gather/dummy"),
                    size: DUMMY_BYTES,
                    usage: wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            })
        };
        let counts = operands.report.is_some();
        Ok(Self {
            pipelines,
            operands,
            dummy: needs_dummy.then(make_dummy).transpose()?,
            counter: counts.then(|| pipelines.counter()).transpose()?,
            is_indirect,
            stride: UNIFORM_BYTES.next_multiple_of(alignment.into()),
        })
    }

    /// Appends the steps of the gather.
    fn make_gather_steps(
        &self,
        plan: &GatherPlan,
        dispatches: &[Dispatch],
        steps: &mut Vec<Step>,
    ) -> Result<(), GatherError> {
        let Operands { types, fill, .. } = *self.operands;
        let uniforms = GatherUniform::of_dispatches(plan, types.index_kind, dispatches, fill);
        let per_buffer = self.uniforms_per_buffer();
        for (chunk, uniforms) in uniforms.chunks(per_buffer).enumerate() {
            let dispatches = dispatches.get(chunk * per_buffer..).unwrap_or_default();
            self.make_steps(uniforms, dispatches, steps)?;
        }
        Ok(())
    }

    /// Appends the steps of the first of `dispatches`, one dispatch for each of the uniforms, which share a buffer.
    fn make_steps(
        &self,
        uniforms: &[GatherUniform],
        dispatches: &[Dispatch],
        steps: &mut Vec<Step>,
    ) -> Result<(), GatherError> {
        let device = &self.pipelines.device;
        let buffer = scoped(device, || self.make_uniforms(uniforms))?;
        let workgroups = self
            .is_indirect
            .then(|| scoped(device, || self.make_workgroups(uniforms.len())))
            .transpose()?;
        for number in 0..uniforms.len() {
            let offset = number as u64 * self.stride;
            let dispatch = dispatches.get(number);
            let span = |of: fn(&Dispatch) -> Span| dispatch.map(of).unwrap_or_default();
            let shard = dispatch.and_then(|dispatch| self.operands.shards.get(dispatch.shard));
            let bindings = Bindings {
                operands: self.operands,
                uniform: (&buffer, offset),
                dummy: self.dummy.as_ref(),
                counter: self.counter.as_ref(),
                workgroups: workgroups.as_ref().map(|buffer| (buffer, offset)),
                params: shard.map(|shard| shard.range),
                params_span: span(|dispatch| dispatch.params),
                indices_span: span(|dispatch| dispatch.indices),
                output_span: span(|dispatch| dispatch.output),
                mask_span: Span::default(),
            };
            let aliased = self.operands.aliased;
            if let Some(dispatch) = dispatch {
                if self.is_indirect {
                    let key = EntryPoint::CountRows.key(false);
                    steps.push(self.make_step(key, &bindings, Workgroups::Direct(1, 1))?);
                }
                let key = dispatch.pipeline(self.counter.is_some(), aliased);
                let workgroups = workgroups_of(dispatch, workgroups.as_ref(), offset);
                steps.push(self.make_step(key, &bindings, workgroups)?);
            }
            if self.counter.is_some() && dispatch.is_none_or(|dispatch| dispatch.reports) {
                let key = EntryPoint::FinishReport.key(aliased);
                steps.push(self.make_step(key, &bindings, Workgroups::Direct(1, 1))?);
            }
        }
        Ok(())
    }

    fn make_step(
        &self,
        key: PipelineKey,
        bindings: &Bindings<'_>,
        workgroups: Workgroups,
    ) -> Result<Step, GatherError> {
        let device = &self.pipelines.device;
        let pipeline = self.pipelines.get(key)?;
        let layout = self.pipelines.layout(key)?;
        let numbers = key.entry_point.bindings().iter();
        let entries: Vec<_> = numbers.map(|&number| bindings.entry(number)).collect();
        let bind_group = scoped(device, || {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("wgpu-gather/operands"),
                layout: &layout,
                entries: &entries,
            })
        })?;
        Ok(Step {
            pipeline,
            bind_group,
            workgroups,
        })
    }
}

/// The workgroups of a dispatch. With an index count, a large dispatch is indirect.
fn workgroups_of(dispatch: &Dispatch, indirect: Option<&wgpu::Buffer>, offset: u64) -> Workgroups {
    let invocations = dispatch.shares.workgroups * u64::from(WORKGROUP_SIZE);
    match indirect {
        Some(buffer) if invocations >= MAX_DIRECT_INVOCATIONS => {
            Workgroups::Indirect(buffer.clone(), offset)
        }
        _ => Workgroups::Direct(dispatch.workgroups.0, dispatch.workgroups.1),
    }
}
