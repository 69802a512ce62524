//! Plays a call's work: makes the steps that a prepared call records, a pipeline, a bind group and a grid for each pass.

use crate::error::GatherError;
use crate::gpu::bags;
use crate::gpu::bindings::{Own, Slot, dummy_bytes, entry};
use crate::gpu::limits::Needs;
use crate::gpu::nonzero::Passes;
use crate::gpu::operands::Operands;
use crate::gpu::pass::{Binds, GRID_BYTES, Grid, Pass, Source};
use crate::gpu::pipelines::Pipelines;
use crate::gpu::scope::{maps_buffers, scoped};
use crate::gpu::shaders::{Texts, bags_text, nonzero_text};
use crate::gpu::types::WORD_BYTES;
use crate::gpu::uniform::{GatherUniform, UNIFORM_BYTES};
use crate::gpu::work::Work;

/// Many passes share a buffer of uniforms, which may have up to this many bytes.
const MAX_UNIFORMS_BYTES: u64 = 1 << 16;

/// The steps of a call, and this crate's buffers that they bind.
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    own: Own,
}

/// One pass, ready to record.
pub(super) struct Step {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) bind_group: wgpu::BindGroup,
    pub(super) workgroups: Workgroups,
    layout: wgpu::BindGroupLayout,
    binds: Binds,
    slot: Slot,
}

pub(super) enum Workgroups {
    /// The grid in workgroups: width, height and depth.
    Direct([u32; 3]),
    /// The buffer, and the offset in the buffer, to which an earlier step writes the grid.
    Indirect(wgpu::Buffer, u64),
}

impl Steps {
    /// Makes the GPU objects for all passes.
    pub(super) fn play(
        pipelines: &Pipelines,
        work: &Work<'_>,
        operands: &Operands<'_>,
    ) -> Result<Self, GatherError> {
        let mut player = Player::new(pipelines, work.texts, work.scratch(), operands);
        work.each(&mut |pass| player.add(pass))?;
        player.finish()
    }

    /// As [`play`](Self::play), for the numbers of a mask.
    pub(super) fn play_nonzero(
        pipelines: &Pipelines,
        nonzero: &Passes,
        operands: &Operands<'_>,
    ) -> Result<Self, GatherError> {
        let mut player = Player::new(pipelines, nonzero_text, nonzero.scratch().into(), operands);
        nonzero.each(&mut |pass| player.add(pass))?;
        player.finish()
    }

    /// As [`play`](Self::play), for sums over bags.
    pub(super) fn play_bags(
        pipelines: &Pipelines,
        bags: &bags::Passes,
        operands: &Operands<'_>,
    ) -> Result<Self, GatherError> {
        let mut player = Player::new(pipelines, bags_text, bags.scratch(), operands);
        bags.each(&mut |pass| player.add(pass))?;
        player.finish()
    }

    /// Binds other operands, which need the same passes. After an error the steps are as before.
    pub(super) fn rebind(
        &mut self,
        device: &wgpu::Device,
        operands: &Operands<'_>,
    ) -> Result<(), GatherError> {
        let (made, is_alive) = scoped(device, || {
            let made = self.steps.iter();
            let made = made.map(|step| {
                let Step {
                    layout,
                    binds,
                    slot,
                    ..
                } = step;
                bind_group(device, layout, binds, operands, &self.own, slot)
            });
            // wgpu makes bind groups on a lost device without an error.
            (made.collect::<Vec<_>>(), maps_buffers(device))
        })?;
        if !is_alive {
            return Err(GatherError::DeviceLost);
        }
        for (step, bind_group) in self.steps.iter_mut().zip(made) {
            step.bind_group = bind_group;
        }
        Ok(())
    }
}

/// Makes a bind group. Called in a scope.
fn bind_group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    binds: &Binds,
    operands: &Operands<'_>,
    own: &Own,
    slot: &Slot,
) -> wgpu::BindGroup {
    let entries = binds.iter();
    let entries: Vec<_> = entries
        .map(|(number, bind)| entry(number, bind, operands, own, slot))
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("wgpu-gather/operands"),
        layout,
        entries: &entries,
    })
}

/// Plays passes one buffer of uniforms after another.
struct Player<'a> {
    pipelines: &'a Pipelines,
    texts: Texts,
    /// The bytes of each buffer of scratch.
    scratch: Vec<u64>,
    operands: &'a Operands<'a>,
    /// How many bytes apart uniforms are in their buffer.
    stride: u64,
    needs: Needs,
    /// The passes to play next, and how many uniforms they have.
    passes: Vec<Pass>,
    uniforms: u64,
    played: Steps,
}

impl<'a> Player<'a> {
    fn new(
        pipelines: &'a Pipelines,
        texts: Texts,
        scratch: Vec<u64>,
        operands: &'a Operands<'a>,
    ) -> Self {
        let limits = &pipelines.limits;
        let mut alignment = limits.min_uniform_buffer_offset_alignment.max(WORD_BYTES);
        if operands.index_count.is_some() {
            // `count_rows` writes the uniform, through a storage binding.
            alignment = alignment.max(limits.min_storage_buffer_offset_alignment);
        }
        Self {
            pipelines,
            texts,
            scratch,
            operands,
            stride: UNIFORM_BYTES.next_multiple_of(alignment.into()),
            needs: Needs::default(),
            passes: Vec::new(),
            uniforms: 0,
            played: Steps {
                steps: Vec::new(),
                own: Own {
                    dummy: None,
                    counter: None,
                    scratch: Vec::new(),
                },
            },
        }
    }

    fn add(&mut self, pass: Pass) -> Result<(), GatherError> {
        if pass.uniform.is_some() {
            let most_bytes = self
                .pipelines
                .limits
                .max_buffer_size
                .min(MAX_UNIFORMS_BYTES);
            if self.uniforms > 0 && self.uniforms >= most_bytes / self.stride {
                self.flush()?;
            }
            self.uniforms += 1;
        }
        self.needs.add(pass.key.entry_point);
        self.passes.push(pass);
        Ok(())
    }

    fn finish(mut self) -> Result<Steps, GatherError> {
        self.flush()?;
        Ok(self.played)
    }

    /// Makes the steps of the passes so far. Their limits are checked first.
    fn flush(&mut self) -> Result<(), GatherError> {
        if self.passes.is_empty() {
            return Ok(());
        }
        self.needs.check(&self.pipelines.limits)?;
        self.make_own()?;
        let device = &self.pipelines.device;
        let has_grids = self.has(Source::Grid);
        let uniforms = self.passes.iter().filter_map(|pass| pass.uniform.as_ref());
        let uniforms = scoped(device, || self.make_uniforms(uniforms, has_grids))?;
        let grids = has_grids.then(|| scoped(device, || self.make_grids()));
        let mut slot = Slot {
            uniforms,
            grids: grids.transpose()?,
            offset: 0,
        };
        for (number, pass) in self.passes.iter().enumerate() {
            if number > 0 && pass.uniform.is_some() {
                slot.offset += self.stride;
            }
            let step = self.make_step(pass, &slot)?;
            self.played.steps.push(step);
        }
        self.passes.clear();
        self.uniforms = 0;
        Ok(())
    }

    fn has(&self, source: Source) -> bool {
        let mut passes = self.passes.iter();
        passes.any(|pass| pass.binds.iter().any(|(_, bind)| bind.source == source))
    }

    /// Makes those of [`Own`] that the passes are the first to bind.
    fn make_own(&mut self) -> Result<(), GatherError> {
        let (device, limits) = (&self.pipelines.device, &self.pipelines.limits);
        let make = |label, size| {
            scoped(device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some(label),
                    size,
                    usage: wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            })
        };
        let (needs_dummy, counts) = (self.has(Source::Dummy), self.has(Source::Counter));
        let own = &mut self.played.own;
        if needs_dummy && own.dummy.is_none() {
            own.dummy = Some(make("wgpu-gather/dummy", dummy_bytes(limits))?);
        }
        if counts && own.counter.is_none() {
            own.counter = Some(self.pipelines.counter()?);
        }
        if self.played.steps.is_empty() {
            let scratch = self.scratch.iter();
            let scratch = scratch.map(|&bytes| make("wgpu-gather/scratch", bytes));
            own.scratch = scratch.collect::<Result<_, _>>()?;
        }
        Ok(())
    }

    fn make_step(&self, pass: &Pass, slot: &Slot) -> Result<Step, GatherError> {
        let (device, key) = (&self.pipelines.device, pass.key);
        let pipeline = self.pipelines.get(key, self.texts)?;
        let layout = self.pipelines.layout(key)?;
        let (operands, own) = (self.operands, &self.played.own);
        let bind_group = scoped(device, || {
            bind_group(device, &layout, &pass.binds, operands, own, slot)
        })?;
        Ok(Step {
            pipeline,
            bind_group,
            workgroups: match (pass.grid, &slot.grids) {
                (Grid::Given(grid), _) => Workgroups::Direct(grid),
                (Grid::Counted, grids) => {
                    let grids = grids.as_ref().expect("count_rows writes the grid");
                    Workgroups::Indirect(grids.clone(), slot.offset)
                }
            },
            layout,
            binds: pass.binds,
            slot: slot.clone(),
        })
    }

    fn make_uniforms<'u>(
        &self,
        uniforms: impl Iterator<Item = &'u GatherUniform>,
        are_counted: bool,
    ) -> wgpu::Buffer {
        let mut usage = wgpu::BufferUsages::UNIFORM;
        if are_counted {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let device = &self.pipelines.device;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/uniforms"),
            size: (self.uniforms - 1) * self.stride + UNIFORM_BYTES,
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

    /// A buffer for the grids that an index count sets, as far apart as their uniforms.
    fn make_grids(&self) -> wgpu::Buffer {
        let device = &self.pipelines.device;
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/workgroups"),
            size: (self.uniforms - 1) * self.stride + GRID_BYTES,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        })
    }
}
