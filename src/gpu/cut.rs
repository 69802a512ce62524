//! Cutting a plan to a device's limits: which rows each dispatch does, and which bytes of each operand it
//! binds. Pure: a function of sizes and limits, for plans of any size.
//!
//! ```text
//! for each chunk of output rows        as many as bindings of output and indices hold
//!     for each part of a slice         one, unless a slice is longer than a binding
//!         for each window of params    as many rows as a binding holds, of those that the chunk may need
//!             one dispatch             of the chunk's rows that may need the window
//! ```
//!
//! Each output row is written by just one dispatch: the one that binds its params row, or, if it is bad,
//! the one that binds the first row of its part of params. Rows come in order, so the first dispatch that
//! reports a bad row reports the smallest.

mod dispatch;

use std::ops::Range;

pub(crate) use self::dispatch::{Dispatch, Span};
use super::kernel::{GROUP_ROWS, Kernel, Unit, WORKGROUP_SIZE};
use super::window::{MAX_PLACE_DIMS, WORD_BYTES, range_bytes};
use crate::dims::GatherDims;
use crate::error::GatherError;

/// The parts of a slice that is cut are whole units of every kernel.
const PART_BYTES_STEP: u64 = 16;

/// Params, indices, output, notes and report.
const OWN_REPORT_STORAGE_BUFFERS: u32 = 5;

/// Invocations are numbered in 32 bits, and so are the rows from the start of a dispatch's first part.
const MAX_COUNT: u64 = 1 << 31;

/// A plan, and how much of it one dispatch may bind and do.
#[derive(Debug, Clone)]
pub(crate) struct Cut<'a> {
    pub(crate) kernel: Kernel,
    dims: &'a GatherDims,
    /// The first row of each buffer of params, and the number of all rows.
    shard_starts: Vec<u64>,
    slice_bytes: u64,
    part_bytes: u64,
    index_row_bytes: u64,
    /// What a dispatch may bind of params.
    binding_bytes: u64,
    /// What it may bind of indices and of output: a binding, or less.
    chunk_bytes: u64,
    alignment: u64,
    max_invocations: u64,
    max_workgroups: u64,
    /// Storage buffers that a dispatch may bind.
    max_storage_buffers: u32,
    /// See [`counted`](Self::counted).
    counted: bool,
}

/// Output rows, or one part of an output row: consecutive bytes of the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk {
    start: u64,
    end: u64,
    /// Where in its slice the part starts: 0, unless slices are cut.
    part: u64,
}

/// Some params rows, and the output rows of a chunk that may need them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) output_rows: (u64, u64),
    pub(crate) params_rows: (u64, u64),
    part: u64,
}

impl<'a> Cut<'a> {
    /// How to cut a plan whose operands' bytes can be counted. `shard_rows` are the params rows of each
    /// buffer.
    pub(crate) fn new(
        dims: &'a GatherDims,
        element_bytes: u64,
        index_bytes: u64,
        shard_rows: &[u64],
        limits: &wgpu::Limits,
        device_type: wgpu::DeviceType,
    ) -> Result<Self, GatherError> {
        let chunk_bytes = limits.max_storage_buffer_binding_size;
        Self::in_chunks(
            dims,
            element_bytes,
            index_bytes,
            shard_rows,
            limits,
            device_type,
            chunk_bytes,
        )
    }

    /// The same in chunks whose output and whose indices have at most `chunk_bytes` bytes each.
    pub(crate) fn in_chunks(
        dims: &'a GatherDims,
        element_bytes: u64,
        index_bytes: u64,
        shard_rows: &[u64],
        limits: &wgpu::Limits,
        device_type: wgpu::DeviceType,
        chunk_bytes: u64,
    ) -> Result<Self, GatherError> {
        let slice_bytes = dims.slice_len.saturating_mul(element_bytes);
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment.max(16));
        let max_workgroups = u64::from(limits.max_compute_workgroups_per_dimension);
        // Beyond 32 bits of bytes the shader could not count, whatever a device may bind.
        let binding_bytes = limits.max_storage_buffer_binding_size.min(u32::MAX.into()) & !3;
        let mut cut = Self {
            kernel: Kernel::choose(slice_bytes, dims.output_rows(), device_type),
            dims,
            shard_starts: starts(shard_rows),
            slice_bytes,
            part_bytes: slice_bytes,
            index_row_bytes: dims.index_depth() as u64 * index_bytes,
            binding_bytes,
            chunk_bytes: chunk_bytes.min(binding_bytes) & !3,
            alignment,
            max_invocations: max_workgroups
                .saturating_mul(max_workgroups)
                .saturating_mul(WORKGROUP_SIZE.into())
                .min(MAX_COUNT),
            max_workgroups,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            counted: false,
        };
        // A dispatch has invocations for a slice at least.
        let most_lanes_log2 = cut.max_invocations.max(1).ilog2();
        cut.kernel.lanes_log2 = cut.kernel.lanes_log2.min(most_lanes_log2);
        if dims.output_len() == 0 {
            return Ok(cut);
        }
        cut.check_places()?;
        let slices = cut.least_bytes_for_slices(shard_rows);
        let index_rows = cut.least_bytes_for_index_rows();
        if slices > cut.chunk_bytes || !cut.dispatches_slices() {
            cut.part_bytes = (cut.chunk_bytes.saturating_sub(alignment))
                .min(cut.max_invocations.saturating_mul(4).saturating_sub(8))
                / PART_BYTES_STEP
                * PART_BYTES_STEP;
        }
        let least_part = slices.min(alignment + PART_BYTES_STEP);
        for (name, expected, found) in [
            ("max_compute_workgroups_per_dimension", 1, max_workgroups),
            (
                "max_storage_buffer_binding_size",
                least_part.max(index_rows),
                cut.chunk_bytes,
            ),
        ] {
            if found < expected {
                return Err(GatherError::DeviceLimit {
                    name,
                    expected,
                    found,
                });
            }
        }
        Ok(cut)
    }

    /// The same in dispatches of one part each and without groups: how many of its rows each has is said on the
    /// device.
    pub(crate) fn counted(mut self) -> Self {
        self.counted = true;
        self
    }

    /// Whether the rows of a dispatch are known, and its bindings not too many, for a report of its own.
    fn can_report_itself(&self) -> bool {
        !self.counted && self.max_storage_buffers >= OWN_REPORT_STORAGE_BUFFERS
    }

    /// Where an index row's place in its batch counts, the shader counts a batch in one word.
    fn check_places(&self) -> Result<(), GatherError> {
        let rows = self.dims.row_count.max(self.dims.index_count);
        let limit = u32::MAX.into();
        if self.dims.has_places() && rows > limit {
            return Err(GatherError::TooManyPlaces { rows, limit });
        }
        let (place_dims, limit) = (self.dims.place_dims.len(), MAX_PLACE_DIMS);
        if place_dims > limit {
            return Err(GatherError::TooManyPlaceDims { place_dims, limit });
        }
        Ok(())
    }

    /// Whether params has, or an index row may select, more rows than 32 bits count.
    pub(crate) fn is_wide(&self) -> bool {
        self.dims.params_rows().max(self.dims.row_count) > u32::MAX.into()
    }

    /// In the order of rows; none if the output is empty.
    pub(crate) fn dispatches(&self) -> impl Iterator<Item = Dispatch> {
        let chunks = std::iter::successors(self.first_chunk(), |&chunk| self.chunk_behind(chunk));
        chunks.flat_map(move |chunk| {
            let windows = self.windows(chunk);
            windows.flat_map(move |window| self.dispatches_of(window))
        })
    }

    /// None if the output is empty.
    pub(crate) fn first_chunk(&self) -> Option<Chunk> {
        (self.dims.output_len() > 0).then(|| self.chunk_from(0, 0))
    }

    /// The chunk that goes on in the output where this one ends.
    pub(crate) fn chunk_behind(&self, chunk: Chunk) -> Option<Chunk> {
        let Chunk { start, end, part } = chunk;
        let part = part + self.part_bytes;
        if part < self.slice_bytes {
            return Some(self.chunk_from(start, part));
        }
        (end < self.dims.output_rows()).then(|| self.chunk_from(end, 0))
    }

    /// The bytes of a binding that holds params and output whole, or else any slice wherever it starts.
    fn least_bytes_for_slices(&self, shard_rows: &[u64]) -> u64 {
        let largest_shard = shard_rows.iter().copied().max().unwrap_or(0);
        let rows = largest_shard.max(self.dims.output_rows());
        // Slices start at multiples of this many bytes of an aligned place.
        let step = 1
            << self
                .slice_bytes
                .trailing_zeros()
                .min(self.alignment.trailing_zeros());
        let any_slice = self.slice_bytes.saturating_add(self.alignment - step);
        range_bytes(rows.saturating_mul(self.slice_bytes).min(any_slice))
    }

    /// The same for indices and their rows.
    fn least_bytes_for_index_rows(&self) -> u64 {
        let any_row = self.index_row_bytes + self.alignment - u64::from(WORD_BYTES);
        let all_rows = self.dims.index_rows().saturating_mul(self.index_row_bytes);
        all_rows.min(any_row)
    }

    /// Whether one dispatch copies a whole slice.
    fn dispatches_slices(&self) -> bool {
        self.kernel.unit != Unit::Byte
            || self.slice_bytes.saturating_add(8) <= self.max_invocations.saturating_mul(4)
    }

    fn is_whole(&self) -> bool {
        self.part_bytes == self.slice_bytes
    }

    /// Rows of so many bytes that `bytes` of a buffer hold, if the first row starts at `start` of its operand.
    fn rows_in(&self, bytes: u64, start: u64, row_bytes: u64) -> u64 {
        (bytes - start % self.alignment) / row_bytes
    }

    /// The chunk that starts with this part of output row `start`.
    fn chunk_from(&self, start: u64, part: u64) -> Chunk {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        let batch_rows = outer_size * index_count;
        let params_part_end = (start / index_count + 1) * index_count;
        let batch = start / batch_rows;

        let mut rows = match self.kernel.unit {
            Unit::Byte => (self.max_invocations * 4 - 8) / self.part_bytes,
            Unit::Vec4 | Unit::Vec2 | Unit::Word => self.max_invocations >> self.kernel.lanes_log2,
        };
        rows = rows.min(match self.is_whole() {
            true => self.rows_in(
                self.chunk_bytes,
                start * self.slice_bytes + part,
                self.slice_bytes,
            ),
            false => 1,
        });
        let mut end = (start + rows.min(MAX_COUNT)).min(self.dims.output_rows());
        if self.index_row_bytes > 0 {
            let rows_in_chunk = |first: u64| {
                let start = first * self.index_row_bytes;
                self.rows_in(self.chunk_bytes, start, self.index_row_bytes)
            };
            // Whole batches of indices, or some rows of one.
            let first = batch * index_count;
            let held = rows_in_chunk(first);
            end = end.min(if held >= index_count {
                (batch + held / index_count).saturating_mul(batch_rows)
            } else {
                let first = first + start % index_count;
                let held = rows_in_chunk(first);
                params_part_end.min(start + held)
            });
        }
        if self.kernel.groups > 0 && !end.is_multiple_of(index_count) && end - start > GROUP_ROWS {
            // What follows starts with a vector of each operand.
            end -= (end - start) % GROUP_ROWS;
        }
        if index_count > MAX_COUNT || self.counted {
            end = end.min(params_part_end);
        }
        if batch_rows > MAX_COUNT {
            end = end.min((batch + 1) * batch_rows);
        }
        Chunk { start, end, part }
    }

    /// The bytes of the output that a chunk is, and the aligned place at or before them that its dispatches
    /// can be bound from.
    pub(crate) fn output_bytes(&self, chunk: Chunk) -> (Range<u64>, u64) {
        let start = chunk.start * self.slice_bytes + chunk.part;
        let part_end = (chunk.part + self.part_bytes).min(self.slice_bytes);
        let end = (chunk.end - 1) * self.slice_bytes + part_end;
        (start..end, start / self.alignment * self.alignment)
    }

    /// The windows of the params rows that a chunk may need.
    pub(crate) fn windows(&self, chunk: Chunk) -> impl Iterator<Item = Window> {
        let Chunk { start, end, part } = chunk;
        let index_count = self.dims.index_count;
        // Params without rows: one window of one row, which no index selects.
        let row_count = self.dims.held_rows.max(1);
        let first_row = start / index_count * row_count;
        let last_row = ((end - 1) / index_count + 1) * row_count;
        ranges(first_row, last_row, move |row| {
            self.window_end(row, part).min(last_row)
        })
        .map(move |(row, row_end)| {
            let rows_start = start.max(row / row_count * index_count);
            let rows_end = end.min(((row_end - 1) / row_count + 1) * index_count);
            Window {
                output_rows: (rows_start, rows_end),
                params_rows: (row, row_end),
                part,
            }
        })
    }

    /// Where a window that starts with params row `row` ends.
    fn window_end(&self, row: u64, part: u64) -> u64 {
        if self.dims.held_rows == 0 || !self.is_whole() {
            return row + 1;
        }
        let (_, shard_row, shard_end) = self.shard_of(row);
        let start = (row - shard_row) * self.slice_bytes + part;
        (row + self.rows_in(self.binding_bytes, start, self.slice_bytes)).min(shard_end)
    }

    /// The buffer that holds a params row, its first row and the first one behind it.
    fn shard_of(&self, row: u64) -> (usize, u64, u64) {
        let shard = self.shard_starts.partition_point(|&start| start <= row) - 1;
        (
            shard,
            self.shard_starts[shard],
            self.shard_starts[shard + 1],
        )
    }
}

/// The first row of each shard, and the number of all rows.
fn starts(shard_rows: &[u64]) -> Vec<u64> {
    let starts = shard_rows.iter().scan(0, |start, rows| {
        *start += rows;
        Some(*start)
    });
    std::iter::once(0).chain(starts).collect()
}

/// Consecutive ranges that make up `start..end`; `next` says where the one that starts there ends.
fn ranges(start: u64, end: u64, next: impl Fn(u64) -> u64) -> impl Iterator<Item = (u64, u64)> {
    let mut start = start;
    std::iter::from_fn(move || {
        (start < end).then(|| {
            let range = (start, next(start));
            start = range.1;
            range
        })
    })
}

#[cfg(test)]
mod tests;
