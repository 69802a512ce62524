//! The ranges of buffers that a dispatch binds: of the caller's, and of the gatherer's own.

use super::cut::Span;
use super::kernel::binding;
use super::operands::{COUNT_BYTES, GatherBuffers};
use super::report::{COUNTER_BYTES, REPORT_BYTES};
use super::uniform::UNIFORM_BYTES;

/// The least that can be bound as units of 16 bytes.
pub(super) const DUMMY_BYTES: u64 = 16;

/// Three words.
pub(super) const GRID_BYTES: u64 = 12;

pub(super) struct Bound<'a> {
    /// The uniforms' buffer, and the offset of the dispatch's.
    pub(super) uniform: (&'a wgpu::Buffer, u64),
    /// Bound in place of operands without bytes, which wgpu does not bind.
    pub(super) dummy: Option<&'a wgpu::Buffer>,
    /// Of bad rows, if there is a report.
    pub(super) counter: Option<&'a wgpu::Buffer>,
    /// The workgroups' buffer, where rows are counted on the device, and the offset of the dispatch's.
    pub(super) grid: Option<(&'a wgpu::Buffer, u64)>,
    /// Params without rows may be in no buffer.
    pub(super) params: Option<wgpu::BufferSlice<'a>>,
    pub(super) buffers: &'a GatherBuffers<'a>,
    pub(super) params_span: Span,
    pub(super) indices_span: Span,
    pub(super) output_span: Span,
}

impl Bound<'_> {
    pub(super) fn entry(&self, number: u32) -> wgpu::BindGroupEntry<'_> {
        let (uniforms, uniform) = self.uniform;
        let (range, span) = match number {
            binding::PARAMS => (self.params, self.params_span),
            binding::INDICES => (Some(self.buffers.indices), self.indices_span),
            binding::OUTPUT => (Some(self.buffers.output), self.output_span),
            binding::COUNTER => {
                let counter = self.counter.expect("an entry point that reports counts");
                return entry(number, counter, 0, COUNTER_BYTES);
            }
            binding::REPORT => {
                let report = self.buffers.report.expect("there is a report to finish");
                return entry(number, report.buffer(), report.offset(), REPORT_BYTES);
            }
            binding::COUNT => {
                let count = self.buffers.index_count.expect("rows are counted");
                return entry(number, count.buffer(), count.offset(), COUNT_BYTES);
            }
            binding::GRID => {
                let (grids, grid) = self.grid.expect("rows are counted");
                return entry(number, grids, grid, GRID_BYTES);
            }
            _ => return entry(number, uniforms, uniform, UNIFORM_BYTES),
        };
        if span.bytes == 0 {
            let dummy = self.dummy.expect("an empty span has a dummy");
            return entry(number, dummy, 0, DUMMY_BYTES);
        }
        let range = range.expect("an operand with bytes has a range");
        let offset = range.offset() + span.offset;
        entry(number, range.buffer(), offset, span.bytes)
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
