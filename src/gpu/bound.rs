//! What a dispatch binds: ranges of the caller's buffers, and a window.

use super::cut::Dispatch;
use super::kernel::binding;
use super::operands::GatherBuffers;
use super::report::REPORT_BYTES;
use super::window::WINDOW_BYTES;

/// The least that can be bound as units of 16 bytes.
const STAND_IN_BYTES: u64 = 16;

/// What a dispatch binds.
pub(super) struct Bound<'a> {
    /// The windows' buffer, and the offset of the dispatch's.
    pub(super) window: (&'a wgpu::Buffer, u64),
    pub(super) params: wgpu::BufferSlice<'a>,
    pub(super) buffers: &'a GatherBuffers<'a>,
    pub(super) dispatch: &'a Dispatch,
}

impl Bound<'_> {
    pub(super) fn entry(&self, number: u32) -> wgpu::BindGroupEntry<'_> {
        let (windows, window) = self.window;
        let (range, span) = match number {
            binding::WINDOW => return entry(number, windows, window, WINDOW_BYTES),
            binding::PARAMS => (self.params, self.dispatch.params),
            binding::INDICES => (self.buffers.indices, self.dispatch.indices),
            binding::OUTPUT => (self.buffers.output, self.dispatch.output),
            _ => {
                let report = self.buffers.report;
                let report = report.expect("an entry point that reports has a report");
                return entry(number, report.buffer(), report.offset(), REPORT_BYTES);
            }
        };
        if span.bytes == 0 {
            // wgpu binds no empty range. Of params without rows, and of indices at an index depth of 0, the
            // shader reads nothing, so anything stands in.
            return entry(number, windows, 0, STAND_IN_BYTES);
        }
        entry(
            number,
            range.buffer(),
            range.offset() + span.offset,
            span.bytes,
        )
    }
}

pub(super) fn entry(
    binding: u32,
    buffer: &wgpu::Buffer,
    offset: u64,
    bytes: u64,
) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer,
            offset,
            size: wgpu::BufferSize::new(bytes),
        }),
    }
}
