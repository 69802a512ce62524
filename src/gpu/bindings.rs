//! The bindings of a dispatch: their layouts, and the ranges of buffers that it binds.

use super::bound::{BoundRange, binding_bytes};
use super::operands::{COUNT_BYTES, Operands};
use super::report::{COUNTER_BYTES, REPORT_BYTES};
use super::shaders::binding;
use super::uniform::UNIFORM_BYTES;
use crate::encoding::Encoding;

/// Bytes of the dummy binding: [`DUMMY_BYTES`], or fewer if no binding holds as many, which then holds the unit or the
/// block of this gather.
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

/// The workgroups of a dispatch with an index count: three words.
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

/// The ranges that the entry points of one dispatch bind: of buffers of this crate, and of the operands.
#[derive(Clone)]
pub(super) struct Bindings {
    /// The uniforms' buffer, and the offset of the dispatch's uniform.
    pub(super) uniform: (wgpu::Buffer, u64),
    /// The dummy binding for operands without bytes: wgpu binds no empty range.
    pub(super) dummy: Option<wgpu::Buffer>,
    /// The counter of bad rows, if there is a report.
    pub(super) counter: Option<wgpu::Buffer>,
    /// The buffer of workgroups, and the offset of the dispatch's, if there is an index count.
    pub(super) workgroups: Option<(wgpu::Buffer, u64)>,
    /// The number of the dispatch's shard.
    pub(super) shard: usize,
    pub(super) params_bound: BoundRange,
    /// Of scales and of zero points.
    pub(super) qparams_bound: [BoundRange; 2],
    pub(super) indices_bound: BoundRange,
    pub(super) output_bound: BoundRange,
    pub(super) mask_bound: BoundRange,
    /// The buffers of a scatter that no caller gives, and what the dispatch binds of them.
    pub(super) scratch: Vec<Scratch>,
}

/// A range of a buffer of winners, pairs, counts or sums, by the number of its binding.
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
    /// The bindings of a dispatch that binds its uniform only.
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
