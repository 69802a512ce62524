//! What a dispatch binds: layouts, and buffer ranges.

use super::bound::{BoundRange, binding_bytes};
use super::operands::{COUNT_BYTES, Operands};
use super::report::{COUNTER_BYTES, REPORT_BYTES};
use super::shaders::binding;
use super::uniform::UNIFORM_BYTES;
use crate::encoding::Encoding;

/// The bytes in the dummy binding: [`DUMMY_BYTES`], or what the largest binding holds if that is less, and this gather's unit or
/// block fits into it.
pub(super) fn dummy_bytes(limits: &wgpu::Limits) -> u64 {
    binding_bytes(limits).min(DUMMY_BYTES)
}

/// Enough for a unit of 16 bytes, and for a block of each encoding.
const DUMMY_BYTES: u64 = 256;

const _: () = {
    let mut at = 0;
    while at < Encoding::ALL.len() {
        assert!(Encoding::ALL[at].block_bytes() <= DUMMY_BYTES);
        at += 1;
    }
};

/// With an index count, the GPU writes the numbers of workgroups: three words.
pub(super) const WORKGROUPS_BYTES: u64 = 12;

pub(super) fn layout_entry(number: u32, aliased: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = match number {
        binding::UNIFORM => wgpu::BufferBindingType::Uniform,
        _ => wgpu::BufferBindingType::Storage {
            read_only: !aliased && !binding::is_written(number),
        },
    };
    wgpu::BindGroupLayoutEntry {
        binding: number,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

/// The ranges that one dispatch binds: this crate's buffers, and operands.
#[derive(Clone)]
pub(super) struct Bindings {
    /// The buffer of uniforms, and where this dispatch's uniform begins.
    pub(super) uniform: (wgpu::Buffer, u64),
    /// Stands for operands without bytes, as wgpu binds no empty range.
    pub(super) dummy: Option<wgpu::Buffer>,
    /// Counts bad rows, if there is a report.
    pub(super) counter: Option<wgpu::Buffer>,
    /// With an index count: the buffer of workgroups, and where this dispatch's begin.
    pub(super) workgroups: Option<(wgpu::Buffer, u64)>,
    /// The shard that this dispatch reads, by its number.
    pub(super) shard: usize,
    pub(super) params_bound: BoundRange,
    /// Scales, and zero points.
    pub(super) qparams_bound: [BoundRange; 2],
    pub(super) indices_bound: BoundRange,
    pub(super) output_bound: BoundRange,
    pub(super) mask_bound: BoundRange,
    /// The buffers that a scatter makes for itself, and the ranges that this dispatch binds.
    pub(super) scratch: Vec<Scratch>,
}

/// A range in a buffer that holds winners, pairs, counts or sums, and the number of its binding.
#[derive(Clone)]
pub(super) struct Scratch {
    pub(super) number: u32,
    pub(super) buffer: wgpu::Buffer,
    pub(super) bound: BoundRange,
}

impl Scratch {
    /// The whole of a buffer.
    pub(super) fn whole(number: u32, buffer: &wgpu::Buffer) -> Self {
        Self {
            number,
            buffer: buffer.clone(),
            bound: BoundRange {
                offset: 0,
                bytes: buffer.size(),
                start: 0,
            },
        }
    }
}

impl Bindings {
    /// Binds the uniform only.
    pub(super) fn of_uniform(buffer: &wgpu::Buffer, offset: u64) -> Self {
        Self {
            uniform: (buffer.clone(), offset),
            dummy: None,
            counter: None,
            workgroups: None,
            shard: 0,
            params_bound: BoundRange::default(),
            qparams_bound: [BoundRange::default(); 2],
            indices_bound: BoundRange::default(),
            output_bound: BoundRange::default(),
            mask_bound: BoundRange::default(),
            scratch: Vec::new(),
        }
    }

    pub(super) fn entry<'b>(
        &'b self,
        operands: &Operands<'b>,
        number: u32,
    ) -> wgpu::BindGroupEntry<'b> {
        if let Some(of) = self.scratch.iter().find(|of| of.number == number) {
            return entry(number, &of.buffer, of.bound.offset, of.bound.bytes);
        }
        let (range, bound) = match number {
            binding::PARAMS | binding::TARGET => {
                // Params without rows may have no shard.
                let shard = operands.shards.get(self.shard);
                (shard.map(|shard| shard.range), self.params_bound)
            }
            // Scales stand for zero points that are no operand.
            binding::ZERO_POINTS if operands.qparams[1].is_some() => {
                (operands.qparams[1], self.qparams_bound[1])
            }
            binding::SCALES | binding::ZERO_POINTS => (operands.qparams[0], self.qparams_bound[0]),
            binding::INDICES => (Some(operands.indices), self.indices_bound),
            binding::OUTPUT | binding::UPDATES => (Some(operands.output), self.output_bound),
            binding::MASK => (operands.mask, self.mask_bound),
            binding::COUNTER => {
                let counter = self
                    .counter
                    .as_ref()
                    .expect("an entry point that reports counts");
                return entry(number, counter, 0, COUNTER_BYTES);
            }
            binding::REPORT => {
                let report = operands.report.expect("there is a report to finish");
                return entry(number, report.buffer(), report.offset(), REPORT_BYTES);
            }
            binding::COUNT => {
                let count = operands.index_count.expect("there is an index count");
                return entry(number, count.buffer(), count.offset(), COUNT_BYTES);
            }
            binding::WORKGROUPS => {
                let workgroups = self.workgroups.as_ref();
                let (buffer, offset) = workgroups.expect("there is an index count");
                return entry(number, buffer, *offset, WORKGROUPS_BYTES);
            }
            _ => {
                let (buffer, offset) = &self.uniform;
                return entry(number, buffer, *offset, UNIFORM_BYTES);
            }
        };
        if bound.bytes == 0 {
            let dummy = self.dummy.as_ref().expect("an empty range has a dummy");
            return entry(number, dummy, 0, dummy.size());
        }
        let range = range.expect("an operand with bytes has a range");
        let offset = operands.bound_offset(range) + bound.offset;
        entry(number, range.buffer(), offset, bound.bytes)
    }
}

fn entry(binding: u32, buffer: &wgpu::Buffer, offset: u64, bytes: u64) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset,
            size: wgpu::BufferSize::new(bytes),
        }),
    }
}
