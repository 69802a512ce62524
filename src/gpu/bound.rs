//! What a dispatch binds: ranges of the caller's buffers, and a window.

use super::cut::Dispatch;
use super::kernel::binding;
use super::operands::{COUNT_BYTES, GatherBuffers};
use super::report::{NOTES_BYTES, REPORT_BYTES};
use super::window::WINDOW_BYTES;

/// The least that can be bound as units of 16 bytes.
pub(super) const STAND_IN_BYTES: u64 = 16;

/// Three words.
pub(super) const GRID_BYTES: u64 = 12;

/// What a dispatch binds.
pub(super) struct Bound<'a> {
    /// The windows' buffer, and the offset of the dispatch's.
    pub(super) window: (&'a wgpu::Buffer, u64),
    /// What is bound where there is nothing to bind.
    pub(super) stand_in: Option<&'a wgpu::Buffer>,
    /// Notes of bad rows, if there is a report.
    pub(super) notes: Option<&'a wgpu::Buffer>,
    /// The workgroups' buffer, where rows are counted on the device, and the offset of the dispatch's.
    pub(super) grid: Option<(&'a wgpu::Buffer, u64)>,
    /// Params without rows may be in no buffer.
    pub(super) params: Option<wgpu::BufferSlice<'a>>,
    pub(super) buffers: &'a GatherBuffers<'a>,
    pub(super) dispatch: &'a Dispatch,
}

impl Bound<'_> {
    pub(super) fn entry(&self, number: u32) -> wgpu::BindGroupEntry<'_> {
        let (windows, window) = self.window;
        let (range, span) = match number {
            binding::WINDOW => return entry(number, windows, window, WINDOW_BYTES),
            binding::PARAMS => (self.params, self.dispatch.params),
            binding::INDICES => (Some(self.buffers.indices), self.dispatch.indices),
            binding::OUTPUT => (Some(self.buffers.output), self.dispatch.output),
            binding::COUNT => {
                let count = self.buffers.index_count.expect("rows are counted");
                return entry(number, count.buffer(), count.offset(), COUNT_BYTES);
            }
            binding::COUNTED => return entry(number, windows, window, WINDOW_BYTES),
            binding::GRID => {
                let (grids, grid) = self.grid.expect("rows are counted");
                return entry(number, grids, grid, GRID_BYTES);
            }
            binding::NOTES => {
                let notes = self
                    .notes
                    .expect("an entry point that notes bad rows has notes");
                return entry(number, notes, 0, NOTES_BYTES);
            }
            _ => {
                let report = self.buffers.report;
                let report = report.expect("an entry point that reports has a report");
                return entry(number, report.buffer(), report.offset(), REPORT_BYTES);
            }
        };
        if span.bytes == 0 {
            let stand_in = self.stand_in.expect("an empty span has a stand-in");
            return entry(number, stand_in, 0, STAND_IN_BYTES);
        }
        let range = range.expect("an operand with bytes has a range");
        entry(
            number,
            range.buffer(),
            range.offset() + span.offset,
            span.bytes,
        )
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
