//! Layouts of bind groups, and the buffer range of each binding.

use super::bound::binding_bytes;
use super::operands::Operands;
use super::pass::{Bind, Source};
use super::shaders::binding;
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

/// Buffers of this crate that a prepared call's passes bind: the dummy, the counter and scratch.
pub(super) struct Own {
    pub(super) dummy: Option<wgpu::Buffer>,
    /// The counter of bad rows, which all calls share, if there is a report.
    pub(super) counter: Option<wgpu::Buffer>,
    pub(super) scratch: Vec<wgpu::Buffer>,
}

/// A pass's uniform and, with an index count, its grid: in which buffers, and from which byte on.
#[derive(Clone)]
pub(super) struct Slot {
    pub(super) uniforms: wgpu::Buffer,
    pub(super) grids: Option<wgpu::Buffer>,
    pub(super) offset: u64,
}

/// The buffer range that a pass binds by a number.
pub(super) fn entry<'b>(
    number: u32,
    Bind { source, bound }: Bind,
    operands: &Operands<'b>,
    own: &'b Own,
    slot: &'b Slot,
) -> wgpu::BindGroupEntry<'b> {
    const THERE: &str = "what a pass binds is there";
    let placed = |range: Option<wgpu::BufferSlice<'b>>| {
        let range = range.expect(THERE);
        (range.buffer(), operands.bound_offset(range) + bound.offset)
    };
    let at_start = |range: Option<wgpu::BufferSlice<'b>>| {
        let range = range.expect(THERE);
        (range.buffer(), range.offset())
    };
    let (buffer, offset) = match source {
        Source::Table(shard) => placed(operands.shards.get(shard).map(|shard| shard.range)),
        Source::Slices => placed(Some(operands.output)),
        Source::Indices => placed(Some(operands.indices)),
        Source::Scales => placed(operands.qparams[0]),
        Source::ZeroPoints => placed(operands.qparams[1]),
        Source::Offsets => placed(operands.of_bags[0]),
        Source::Weights => placed(operands.of_bags[1]),
        Source::Mask => placed(operands.mask),
        Source::Report => at_start(operands.report),
        Source::Count => at_start(operands.index_count),
        Source::Counter => (own.counter.as_ref().expect(THERE), 0),
        Source::Uniform => (&slot.uniforms, slot.offset),
        Source::Grid => (slot.grids.as_ref().expect(THERE), slot.offset),
        Source::Scratch(buffer) => (&own.scratch[buffer], bound.offset),
        Source::Dummy => (own.dummy.as_ref().expect(THERE), 0),
    };
    wgpu::BindGroupEntry {
        binding: number,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset,
            size: wgpu::BufferSize::new(match source {
                Source::Dummy => buffer.size(),
                _ => bound.bytes,
            }),
        }),
    }
}
