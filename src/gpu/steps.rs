//! The GPU objects of a gather: uniforms, workgroups where they are counted on the device, and bind groups.

use bytemuck::Zeroable;

use super::bound::{Bound, DUMMY_BYTES, GRID_BYTES};
use super::cut::{Dispatch, Span};
use super::fill::FillPattern;
use super::gatherer::Gatherer;
use super::kernel::{EntryPoint, PipelineKey, WORKGROUP_SIZE};
use super::operands::{GatherBuffers, ParamsShard};
use super::prepared::{Step, Workgroups};
use super::scope::scoped;
use super::types::WORD_BYTES;
use super::uniform::{GatherUniform, UNIFORM_BYTES};
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// The uniforms of many dispatches share buffers of up to this many bytes.
const MAX_UNIFORMS_BYTES: u64 = 1 << 16;

/// Up to this many invocations, lanes without a row cost less than an indirect dispatch.
const MAX_DIRECT_INVOCATIONS: u64 = 1 << 18;

impl Gatherer {
    /// The GPU objects of dispatches of a plan, whose operands are checked. Without a dispatch, those of its report.
    pub(super) fn make_steps(
        &self,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
        shards: &[ParamsShard<'_>],
        dispatches: &[Dispatch],
        aliased: bool,
    ) -> Result<Vec<Step>, GatherError> {
        let fill = buffers.fill_pattern()?.unwrap_or(FillPattern::ZEROS);
        let report = buffers.report.is_some();
        let counted = buffers.index_count.is_some() && !dispatches.is_empty();
        let first_report = dispatches.iter().position(|dispatch| dispatch.reports);
        let uniforms: Vec<GatherUniform> = if dispatches.is_empty() {
            vec![GatherUniform {
                reports: 2,
                ..GatherUniform::zeroed()
            }]
        } else {
            let numbered = dispatches.iter().enumerate();
            let uniforms = numbered.map(|(number, dispatch)| {
                let begins_report = first_report == Some(number);
                let index_kind = buffers.types.index_kind;
                GatherUniform::new(plan, index_kind, dispatch, fill, begins_report)
            });
            uniforms.collect()
        };
        let counter = report.then(|| self.counter()).transpose()?;
        let has_empty = dispatches.is_empty() || dispatches.iter().any(Dispatch::binds_nothing);
        let dummy = has_empty
            .then(|| scoped(&self.device, || self.make_dummy()))
            .transpose()?;
        let stride = self.uniform_stride(counted);
        let mut steps = Vec::new();
        for (chunk, uniforms) in uniforms
            .chunks(self.uniforms_per_buffer(counted))
            .enumerate()
        {
            let buffer = scoped(&self.device, || self.make_uniforms(uniforms, counted))?;
            let grids = counted
                .then(|| scoped(&self.device, || self.make_grids(uniforms.len())))
                .transpose()?;
            for number in 0..uniforms.len() {
                let offset = number as u64 * stride;
                let dispatch = dispatches.get(chunk * self.uniforms_per_buffer(counted) + number);
                let span = |of: fn(&Dispatch) -> Span| dispatch.map(of).unwrap_or_default();
                let shard = dispatch.and_then(|dispatch| shards.get(dispatch.shard));
                let bound = Bound {
                    uniform: (&buffer, offset),
                    dummy: dummy.as_ref(),
                    counter,
                    grid: grids.as_ref().map(|grids| (grids, offset)),
                    params: shard.map(|shard| shard.range),
                    buffers,
                    params_span: span(|dispatch| dispatch.params),
                    indices_span: span(|dispatch| dispatch.indices),
                    output_span: span(|dispatch| dispatch.output),
                };
                let mut step = |key, workgroups| {
                    let step = self.make_step(key, &bound, workgroups)?;
                    steps.push(step);
                    Ok::<_, GatherError>(())
                };
                if let Some(dispatch) = dispatch {
                    if counted {
                        let key = EntryPoint::CountRows.key(false);
                        step(key, Workgroups::These(1, 1))?;
                    }
                    let key = dispatch.pipeline(report, aliased);
                    step(key, workgroups_of(dispatch, grids.as_ref(), offset))?;
                }
                if report && dispatch.is_none_or(|dispatch| dispatch.reports) {
                    let key = EntryPoint::FinishReport.key(aliased);
                    step(key, Workgroups::These(1, 1))?;
                }
            }
        }
        Ok(steps)
    }

    fn make_step(
        &self,
        key: PipelineKey,
        bound: &Bound<'_>,
        workgroups: Workgroups,
    ) -> Result<Step, GatherError> {
        let pipeline = self.pipelines.get(&self.device, key)?;
        let layout = self.pipelines.layout(&self.device, key)?;
        let numbers = key.entry_point.bindings().iter();
        let entries: Vec<_> = numbers.map(|&number| bound.entry(number)).collect();
        let bind_group = scoped(&self.device, || {
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
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

    /// Bytes from one uniform to the next in a buffer of them. Where rows are counted they are written too.
    fn uniform_stride(&self, counted: bool) -> u64 {
        let mut alignment = self.limits.min_uniform_buffer_offset_alignment;
        if counted {
            alignment = alignment.max(self.limits.min_storage_buffer_offset_alignment);
        }
        UNIFORM_BYTES.next_multiple_of(alignment.max(WORD_BYTES).into())
    }

    fn uniforms_per_buffer(&self, counted: bool) -> usize {
        let buffer_bytes = self.limits.max_buffer_size.min(MAX_UNIFORMS_BYTES);
        let uniforms = buffer_bytes / self.uniform_stride(counted);
        usize::try_from(uniforms).map_or(1, |uniforms| uniforms.max(1))
    }

    fn make_uniforms(&self, uniforms: &[GatherUniform], counted: bool) -> wgpu::Buffer {
        let stride = self.uniform_stride(counted);
        let mut usage = wgpu::BufferUsages::UNIFORM;
        if counted {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/uniforms"),
            size: (uniforms.len() as u64 - 1) * stride + UNIFORM_BYTES,
            usage,
            mapped_at_creation: true,
        });
        // A lost device maps nothing; what else went wrong is in the error scope.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            let mut start = 0;
            for uniform in uniforms {
                let bytes = bytemuck::bytes_of(uniform);
                let end = start + bytes.len();
                mapped.slice(start..end).copy_from_slice(bytes);
                start += usize::try_from(stride).expect("uniforms in memory");
            }
        }
        buffer.unmap();
        buffer
    }

    /// For the workgroups of so many dispatches, as far apart as their uniforms.
    fn make_grids(&self, dispatches: usize) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/grids"),
            size: (dispatches as u64 - 1) * self.uniform_stride(true) + GRID_BYTES,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        })
    }

    /// wgpu binds no empty range. A dummy stands in for params without rows, of which the shader loads unit 0 alone, and
    /// for the indices of an index depth of 0 and of an empty output.
    fn make_dummy(&self) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/dummy"),
            size: DUMMY_BYTES,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    }
}

/// Where rows are counted and the most of them are many, as many workgroups as the count says; else all.
fn workgroups_of(dispatch: &Dispatch, grids: Option<&wgpu::Buffer>, offset: u64) -> Workgroups {
    let invocations = dispatch.shares.workgroups * u64::from(WORKGROUP_SIZE);
    match grids {
        Some(grids) if invocations >= MAX_DIRECT_INVOCATIONS => {
            Workgroups::Counted(grids.clone(), offset)
        }
        _ => Workgroups::These(dispatch.workgroups.0, dispatch.workgroups.1),
    }
}
