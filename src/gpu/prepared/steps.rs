//! The steps that a prepared gather records: a pipeline, a bind group and workgroups for each dispatch.

use crate::error::GatherError;
use crate::gpu::bindings::{Bindings, Scratch, WORKGROUPS_BYTES, dummy_bytes};
use crate::gpu::bound::BoundRange;
use crate::gpu::cut::Dispatch;
use crate::gpu::dispatches::ScatterDispatches;
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::mask::MaskDispatch;
use crate::gpu::operands::Operands;
use crate::gpu::pipelines::Pipelines;
use crate::gpu::scatter::{Order, OrderDispatch, Winners};
use crate::gpu::scope::{maps_buffers, scoped};
use crate::gpu::shaders::{EntryPoint, PipelineKey, Texts, binding, gather_text, scatter_text};
use crate::gpu::types::WORD_BYTES;
use crate::gpu::uniform::{GatherUniform, UNIFORM_BYTES};
use crate::gpu::update::{IndexRowsPass, Update};
use crate::plan::GatherPlan;

/// Below this many invocations, lanes without a row cost less than an indirect dispatch.
const MAX_DIRECT_INVOCATIONS: u64 = 1 << 18;

/// Many dispatches share a buffer of uniforms, which may have up to this many bytes.
const MAX_UNIFORMS_BYTES: u64 = 1 << 16;

/// One dispatch, ready to record.
pub(super) struct Step {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) workgroups: Workgroups,
    binds: Binds,
}

/// What stays in a bind group when the operands' buffers change.
struct Binds {
    layout: wgpu::BindGroupLayout,
    /// Its bindings, by number.
    numbers: &'static [u32],
    bindings: Bindings,
}

impl Binds {
    /// Makes the bind group. Called in a scope.
    fn make(&self, device: &wgpu::Device, operands: &Operands<'_>) -> wgpu::BindGroup {
        let numbers = self.numbers.iter();
        let entries: Vec<_> = numbers
            .map(|&number| self.bindings.entry(operands, number))
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("wgpu-gather/operands"),
            layout: &self.layout,
            entries: &entries,
        })
    }
}

/// Binds other operands, which need the same dispatches. After an error the steps are as before.
pub(super) fn rebind(
    steps: &mut [Step],
    device: &wgpu::Device,
    operands: &Operands<'_>,
) -> Result<(), GatherError> {
    let (made, is_alive) = scoped(device, || {
        let made = steps.iter().map(|step| step.binds.make(device, operands));
        // wgpu makes bind groups on a lost device without an error.
        (made.collect::<Vec<_>>(), maps_buffers(device))
    })?;
    if !is_alive {
        return Err(GatherError::DeviceLost);
    }
    for (step, bind_group) in steps.iter_mut().zip(made) {
        step.bind_group = bind_group;
    }
    Ok(())
}

pub(super) enum Workgroups {
    /// The grid in workgroups: width, height and depth.
    Direct([u32; 3]),
    /// The buffer, and the offset in the buffer, to which an earlier step writes the grid.
    Indirect(wgpu::Buffer, u64),
}

/// The steps for a gather and its mask. Without a dispatch, the step that writes the report, if any.
pub(super) fn make(
    pipelines: &Pipelines,
    plan: &GatherPlan,
    operands: &Operands<'_>,
    dispatches: &[Dispatch],
    masks: &[MaskDispatch],
) -> Result<Vec<Step>, GatherError> {
    let mut steps = Vec::new();
    let gathers = !dispatches.is_empty() || operands.report.is_some();
    if gathers || !masks.is_empty() {
        let maker = Maker::new(pipelines, operands, gather_text, || dispatches.iter())?;
        if gathers {
            maker.make_pass_steps(plan, Pass::Gather, dispatches, &mut steps)?;
        }
        maker.make_mask_steps(plan, masks, &mut steps)?;
    }
    Ok(steps)
}

/// The steps for a scatter and its mask: passes over all index rows, then over all updates.
pub(super) fn make_scatter(
    pipelines: &Pipelines,
    plan: &GatherPlan,
    operands: &Operands<'_>,
    dispatches: &ScatterDispatches,
    masks: &[MaskDispatch],
) -> Result<Vec<Step>, GatherError> {
    let mut steps = Vec::new();
    let of_rows = &dispatches.index_rows[..];
    let of_updates = &dispatches.updates[..];
    if of_updates.is_empty() && operands.report.is_none() && masks.is_empty() {
        return Ok(steps);
    }
    let mut maker = Maker::new(pipelines, operands, scatter_text, || dispatches.all())?;
    let rows_plan = &dispatches.index_rows_plan;
    if let Some(winners) = dispatches.winners {
        maker.winners = winners.make(&pipelines.device)?;
        for of in [IndexRowsPass::ClearWinners, IndexRowsPass::FindWinners] {
            maker.make_pass_steps(rows_plan, Pass::IndexRows(of), of_rows, &mut steps)?;
        }
    }
    if operands.report.is_some() {
        let count = Pass::IndexRows(IndexRowsPass::CountBad);
        maker.make_pass_steps(rows_plan, count, of_rows, &mut steps)?;
    }
    if let Some(order) = dispatches.order {
        maker.order = maker.make_order(&order)?;
        let write_keys = Pass::WriteKeys(order);
        maker.make_pass_steps(rows_plan, write_keys, of_rows, &mut steps)?;
        let index_kind = operands.types.index_kind;
        let folds = order.fold_dispatches(plan, index_kind, dispatches.update, of_updates);
        maker.make_order_steps(&order.sort_dispatches(), &mut steps)?;
        maker.make_order_steps(&folds, &mut steps)?;
    } else if !of_updates.is_empty() {
        let scatter = Pass::Scatter(dispatches.update, dispatches.winners);
        maker.make_pass_steps(plan, scatter, of_updates, &mut steps)?;
    }
    maker.make_mask_steps(plan, masks, &mut steps)?;
    Ok(steps)
}

/// What a pass does: all dispatches of a gather, or one round in a scatter.
#[derive(Debug, Clone, Copy)]
enum Pass {
    Gather,
    IndexRows(IndexRowsPass),
    WriteKeys(Order),
    Scatter(Update, Option<Winners>),
}

impl Pass {
    /// Which pipeline runs a dispatch in this pass.
    fn key(self, dispatch: &Dispatch, operands: &Operands<'_>) -> PipelineKey {
        match self {
            Self::Gather => dispatch.pipeline(operands.report.is_some(), operands.aliased),
            Self::IndexRows(pass) => {
                let find = dispatch.find;
                EntryPoint::IndexRows { pass, find }.key(operands.aliased)
            }
            Self::WriteKeys(_) => {
                let (pass, find) = (IndexRowsPass::WriteKeys, dispatch.find);
                EntryPoint::IndexRows { pass, find }.key(operands.aliased)
            }
            Self::Scatter(update, _) => dispatch.scatter_pipeline(update, operands.aliased),
        }
    }

    /// True if the dispatches count bad rows where there is a report.
    const fn counts(self) -> bool {
        matches!(
            self,
            Self::Gather | Self::IndexRows(IndexRowsPass::CountBad)
        )
    }
}

/// Makes the GPU objects for one gather or scatter.
struct Maker<'a> {
    pipelines: &'a Pipelines,
    operands: &'a Operands<'a>,
    /// The shaders' code.
    texts: Texts,
    /// Bound where wgpu would bind an empty range, which it refuses: for params without rows, of which the shader loads only unit
    /// 0, and for indices without values or with an empty output.
    dummy: Option<wgpu::Buffer>,
    /// Counts bad rows, if they are reported.
    counter: Option<wgpu::Buffer>,
    /// The winners, in a scatter that has some.
    winners: Vec<wgpu::Buffer>,
    /// The buffers that a scatter sorts in: pairs twice, counts and sums.
    order: Vec<wgpu::Buffer>,
    /// True if there is an index count, which a step before each dispatch reads.
    is_indirect: bool,
    /// How many bytes apart uniforms are in their buffer.
    stride: u64,
}

impl<'a> Maker<'a> {
    fn new<'d, All: Iterator<Item = &'d Dispatch>>(
        pipelines: &'a Pipelines,
        operands: &'a Operands<'a>,
        texts: Texts,
        dispatches: impl Fn() -> All,
    ) -> Result<Self, GatherError> {
        let (device, limits) = (&pipelines.device, &pipelines.limits);
        let is_empty = dispatches().next().is_none();
        let is_indirect = operands.index_count.is_some() && !is_empty;
        let mut alignment = limits.min_uniform_buffer_offset_alignment.max(WORD_BYTES);
        if is_indirect {
            // `count_rows` writes the uniform, through a storage binding.
            alignment = alignment.max(limits.min_storage_buffer_offset_alignment);
        }
        let needs_dummy = is_empty || dispatches().any(Dispatch::binds_nothing);
        let make_dummy = || {
            scoped(device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("wgpu-gather/dummy"),
                    size: dummy_bytes(limits),
                    usage: wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            })
        };
        let counts = operands.report.is_some();
        Ok(Self {
            pipelines,
            operands,
            texts,
            dummy: needs_dummy.then(make_dummy).transpose()?,
            counter: counts.then(|| pipelines.counter()).transpose()?,
            winners: Vec::new(),
            order: Vec::new(),
            is_indirect,
            stride: UNIFORM_BYTES.next_multiple_of(alignment.into()),
        })
    }

    /// Appends the steps for a pass.
    fn make_pass_steps(
        &self,
        plan: &GatherPlan,
        pass: Pass,
        dispatches: &[Dispatch],
        steps: &mut Vec<Step>,
    ) -> Result<(), GatherError> {
        let Operands { types, fill, .. } = *self.operands;
        let mut uniforms = GatherUniform::of_dispatches(plan, types.index_kind, dispatches, fill);
        let each = uniforms.iter_mut().zip(dispatches);
        let scratch: Vec<_> = each
            .map(|(uniform, dispatch)| self.scratch_of(plan, pass, dispatch, uniform))
            .collect();
        let per_buffer = self.uniforms_per_buffer();
        for (chunk, uniforms) in uniforms.chunks(per_buffer).enumerate() {
            let first = chunk * per_buffer;
            let dispatches = dispatches.get(first..).unwrap_or_default();
            let scratch = scratch.get(first..).unwrap_or_default();
            self.make_steps(pass, uniforms, dispatches, scratch, steps)?;
        }
        Ok(())
    }

    /// The winners or pairs that a dispatch binds. Writes into the uniform where its first winner is, or what pairs need.
    fn scratch_of(
        &self,
        plan: &GatherPlan,
        pass: Pass,
        dispatch: &Dispatch,
        uniform: &mut GatherUniform,
    ) -> Vec<Scratch> {
        match pass {
            Pass::IndexRows(IndexRowsPass::ClearWinners | IndexRowsPass::FindWinners) => {
                vec![Scratch {
                    bound: dispatch.params,
                    ..Scratch::whole(binding::WINNERS, &self.winners[dispatch.shard])
                }]
            }
            Pass::WriteKeys(order) => {
                uniform.order = order.of_keys(dispatch);
                vec![Scratch::whole(binding::SORTED_PAIRS, &self.order[0])]
            }
            Pass::Scatter(_, Some(winners)) => {
                let (number, start) = winners.of_dispatch(plan.dims(), dispatch);
                uniform.general.winners_start = start;
                vec![Scratch::whole(
                    binding::WINNERS_FOUND,
                    &self.winners[number],
                )]
            }
            Pass::Gather | Pass::IndexRows(_) | Pass::Scatter(_, None) => Vec::new(),
        }
    }

    /// Makes the buffers for a sort and its folds. The sort needs zeros before the pairs: wgpu clears new buffers, and each sort
    /// leaves them there.
    fn make_order(&self, order: &Order) -> Result<Vec<wgpu::Buffer>, GatherError> {
        let device = &self.pipelines.device;
        let make = |size| {
            scoped(device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("wgpu-gather/order"),
                    size,
                    usage: wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            })
        };
        order.scratch_bytes().into_iter().map(make).collect()
    }

    /// Appends a step for each dispatch that sorts or folds.
    fn make_order_steps(
        &self,
        dispatches: &[OrderDispatch],
        steps: &mut Vec<Step>,
    ) -> Result<(), GatherError> {
        for dispatches in dispatches.chunks(self.uniforms_per_buffer()) {
            let uniforms: Vec<_> = dispatches.iter().map(|of| of.uniform).collect();
            let buffer = scoped(&self.pipelines.device, || self.make_uniforms(&uniforms))?;
            for (number, dispatch) in dispatches.iter().enumerate() {
                let bound = dispatch.bound.as_ref();
                let from = dispatch.pairs;
                let scratch = [
                    (binding::PAIRS, from),
                    (binding::SORTED_PAIRS, 1 - from),
                    (binding::COUNTS, 2),
                    (binding::SUMS, 3),
                ];
                let bindings = Bindings {
                    dummy: self.dummy.clone(),
                    shard: bound.map_or(0, |bound| bound.shard),
                    params_bound: bound.map(|bound| bound.params).unwrap_or_default(),
                    output_bound: bound.map(|bound| bound.output).unwrap_or_default(),
                    scratch: scratch
                        .map(|(number, at)| Scratch::whole(number, &self.order[at]))
                        .into(),
                    ..Bindings::of_uniform(&buffer, number as u64 * self.stride)
                };
                let key = dispatch
                    .entry_point
                    .key(bound.is_some() && self.operands.aliased);
                let workgroups = Workgroups::Direct(dispatch.workgroups);
                steps.push(self.make_step(key, &bindings, workgroups)?);
            }
        }
        Ok(())
    }

    /// Appends steps for the first of `dispatches`, one for each uniform. The uniforms share a buffer.
    fn make_steps(
        &self,
        pass: Pass,
        uniforms: &[GatherUniform],
        dispatches: &[Dispatch],
        scratch: &[Vec<Scratch>],
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
            let bound = |of: fn(&Dispatch) -> BoundRange| dispatch.map(of).unwrap_or_default();
            let bindings = Bindings {
                uniform: (buffer.clone(), offset),
                dummy: self.dummy.clone(),
                counter: self.counter.clone(),
                workgroups: workgroups.as_ref().map(|buffer| (buffer.clone(), offset)),
                shard: dispatch.map_or(0, |dispatch| dispatch.shard),
                params_bound: bound(|dispatch| dispatch.params),
                qparams_bound: dispatch
                    .map(|dispatch| dispatch.qparams)
                    .unwrap_or_default(),
                indices_bound: bound(|dispatch| dispatch.indices),
                output_bound: bound(|dispatch| dispatch.output),
                mask_bound: BoundRange::default(),
                scratch: scratch.get(number).cloned().unwrap_or_default(),
            };
            let aliased = self.operands.aliased;
            if let Some(dispatch) = dispatch {
                if self.is_indirect {
                    let key = EntryPoint::CountRows.key(false);
                    steps.push(self.make_step(key, &bindings, Workgroups::Direct([1; 3]))?);
                }
                let key = pass.key(dispatch, self.operands);
                let workgroups = match pass {
                    // It writes pairs for all index rows, even those that the count leaves out.
                    Pass::WriteKeys(_) => Workgroups::Direct(dispatch.workgroups),
                    _ => workgroups_of(dispatch, workgroups.as_ref(), offset),
                };
                steps.push(self.make_step(key, &bindings, workgroups)?);
            }
            let reports = pass.counts() && self.counter.is_some();
            if reports && dispatch.is_none_or(|dispatch| dispatch.reports) {
                let key = EntryPoint::FinishReport.key(aliased);
                steps.push(self.make_step(key, &bindings, Workgroups::Direct([1; 3]))?);
            }
        }
        Ok(())
    }

    /// Appends a step for each dispatch that writes the mask.
    fn make_mask_steps(
        &self,
        plan: &GatherPlan,
        dispatches: &[MaskDispatch],
        steps: &mut Vec<Step>,
    ) -> Result<(), GatherError> {
        let index_kind = self.operands.types.index_kind;
        let key = EntryPoint::OutOfRange.key(self.operands.mask_aliased);
        for dispatches in dispatches.chunks(self.uniforms_per_buffer()) {
            let uniforms = dispatches.iter();
            let uniforms: Vec<_> = uniforms.map(|of| of.uniform(plan, index_kind)).collect();
            let buffer = scoped(&self.pipelines.device, || self.make_uniforms(&uniforms))?;
            for (number, dispatch) in dispatches.iter().enumerate() {
                let bindings = Bindings {
                    dummy: self.dummy.clone(),
                    indices_bound: dispatch.indices,
                    mask_bound: dispatch.mask,
                    ..Bindings::of_uniform(&buffer, number as u64 * self.stride)
                };
                let workgroups = Workgroups::Direct(dispatch.workgroups);
                steps.push(self.make_step(key, &bindings, workgroups)?);
            }
        }
        Ok(())
    }

    fn make_step(
        &self,
        key: PipelineKey,
        bindings: &Bindings,
        workgroups: Workgroups,
    ) -> Result<Step, GatherError> {
        let pipeline = self.pipelines.get(key, self.texts)?;
        let device = &self.pipelines.device;
        let binds = Binds {
            layout: self.pipelines.layout(key)?,
            numbers: key.entry_point.bindings(),
            bindings: bindings.clone(),
        };
        Ok(Step {
            pipeline,
            bind_group: scoped(device, || binds.make(device, self.operands))?,
            workgroups,
            binds,
        })
    }

    fn uniforms_per_buffer(&self) -> usize {
        let buffer_bytes = self.pipelines.limits.max_buffer_size;
        let uniforms = buffer_bytes.min(MAX_UNIFORMS_BYTES) / self.stride;
        usize::try_from(uniforms).map_or(1, |uniforms| uniforms.max(1))
    }

    fn make_uniforms(&self, uniforms: &[GatherUniform]) -> wgpu::Buffer {
        let mut usage = wgpu::BufferUsages::UNIFORM;
        if self.is_indirect {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let device = &self.pipelines.device;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/uniforms"),
            size: (uniforms.len() as u64 - 1) * self.stride + UNIFORM_BYTES,
            usage,
            mapped_at_creation: true,
        });
        // A lost device maps nothing; the error scope holds any error.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            let mut start = 0;
            for uniform in uniforms {
                let bytes = bytemuck::bytes_of(uniform);
                let end = start + bytes.len();
                mapped.slice(start..end).copy_from_slice(bytes);
                start += usize::try_from(self.stride).expect("uniforms in memory");
            }
        }
        buffer.unmap();
        buffer
    }

    /// A buffer for the workgroups that an index count sets, as far apart as their uniforms.
    fn make_workgroups(&self, dispatches: usize) -> wgpu::Buffer {
        let device = &self.pipelines.device;
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/workgroups"),
            size: (dispatches as u64 - 1) * self.stride + WORKGROUPS_BYTES,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        })
    }
}

/// A dispatch's workgroups. With an index count, a large dispatch is indirect.
fn workgroups_of(dispatch: &Dispatch, indirect: Option<&wgpu::Buffer>, offset: u64) -> Workgroups {
    let invocations = dispatch.shares.workgroups * u64::from(WORKGROUP_SIZE);
    match indirect {
        Some(buffer) if invocations >= MAX_DIRECT_INVOCATIONS => {
            Workgroups::Indirect(buffer.clone(), offset)
        }
        _ => Workgroups::Direct(dispatch.workgroups),
    }
}
