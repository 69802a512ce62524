//! Cutting a plan to a device's limits: which rows each dispatch does, and which bytes of each operand it
//! binds. Pure: a function of sizes and limits, for plans of any size.
//!
//! ```text
//! for each part of a slice             one, unless a slice is longer than a binding
//!     for each chunk of output rows    as many as bindings of output and indices hold
//!         for each window of params    as many rows as a binding holds, of those that the chunk may need
//!             one dispatch             of the chunk's rows that may need the window
//! ```
//!
//! Each output row is written by just one dispatch: the one that binds its params row, or, if it is bad,
//! the one that binds the first row of its part of params. Rows come in order, so the first dispatch that
//! reports a bad row reports the smallest.

use super::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use super::window::{GatherWindow, WORD_BYTES, low_and_high, range_bytes};
use crate::dims::GatherDims;
use crate::error::GatherError;

/// The parts of a slice that is cut are whole units of every kernel.
const PART_BYTES_STEP: u64 = 16;

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
    binding_bytes: u64,
    alignment: u64,
    max_invocations: u64,
    max_workgroups: u64,
}

/// One dispatch, and the bytes of each operand that it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) window: GatherWindow,
    pub(crate) workgroups: (u32, u32),
    /// Which buffer of params.
    pub(crate) shard: usize,
    pub(crate) params: Span,
    pub(crate) indices: Span,
    pub(crate) output: Span,
}

/// Bytes of an operand, from its start: an aligned offset and whole words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
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
    ) -> Result<Self, GatherError> {
        let slice_bytes = dims.slice_len.saturating_mul(element_bytes);
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment.max(16));
        let max_workgroups = u64::from(limits.max_compute_workgroups_per_dimension);
        let mut cut = Self {
            kernel: Kernel::choose(slice_bytes),
            dims,
            shard_starts: starts(shard_rows),
            slice_bytes,
            part_bytes: slice_bytes,
            index_row_bytes: dims.index_depth() as u64 * index_bytes,
            // Beyond 32 bits of bytes the shader could not count, whatever a device may bind.
            binding_bytes: limits.max_storage_buffer_binding_size.min(u32::MAX.into()) & !3,
            alignment,
            max_invocations: max_workgroups
                .saturating_mul(max_workgroups)
                .saturating_mul(WORKGROUP_SIZE.into())
                .min(MAX_COUNT),
            max_workgroups,
        };
        if dims.output_len() == 0 {
            return Ok(cut);
        }
        let slices = cut.least_bytes_for_slices(shard_rows);
        let index_rows = cut.least_bytes_for_index_rows();
        if slices > cut.binding_bytes || !cut.dispatches_slices() {
            cut.part_bytes = (cut.binding_bytes.saturating_sub(alignment))
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
                cut.binding_bytes,
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

    /// Whether params has, or an index row may select, more rows than 32 bits count.
    pub(crate) fn is_wide(&self) -> bool {
        self.dims.params_rows().max(self.dims.row_count) > u32::MAX.into()
    }

    /// In the order of rows; none if the output is empty.
    pub(crate) fn dispatches(&self) -> impl Iterator<Item = Dispatch> {
        let rows = self.dims.output_rows();
        let parts = if self.dims.output_len() == 0 {
            0
        } else {
            self.slice_bytes
        };
        let parts =
            (0..parts).step_by(usize::try_from(self.part_bytes.max(1)).unwrap_or(usize::MAX));
        parts.flat_map(move |part| {
            let chunks = ranges(0, rows, move |start| self.chunk_end(start, part));
            chunks.flat_map(move |chunk| self.windows(chunk, part))
        })
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

    /// Rows of so many bytes that a binding holds, if the first starts at `start`.
    fn rows_in_binding(&self, start: u64, row_bytes: u64) -> u64 {
        (self.binding_bytes - start % self.alignment) / row_bytes
    }

    /// Where a chunk that starts with output row `start` ends.
    fn chunk_end(&self, start: u64, part: u64) -> u64 {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        let batch_rows = outer_size * index_count;
        let params_part_end = (start / index_count + 1) * index_count;
        let batch = start / batch_rows;

        let mut rows = match self.kernel.unit {
            Unit::Byte => (self.max_invocations * 4 - 8) / self.part_bytes,
            Unit::Vec4 | Unit::Word => self.max_invocations >> self.kernel.lanes_log2,
        };
        rows = rows.min(match self.is_whole() {
            true => self.rows_in_binding(start * self.slice_bytes + part, self.slice_bytes),
            false => 1,
        });
        let mut end = (start + rows.min(MAX_COUNT)).min(self.dims.output_rows());
        if self.index_row_bytes > 0 {
            // Whole batches of indices, or some rows of one.
            let first = batch * index_count;
            let held = self.rows_in_binding(first * self.index_row_bytes, self.index_row_bytes);
            end = end.min(if held >= index_count {
                (batch + held / index_count).saturating_mul(batch_rows)
            } else {
                let first = first + start % index_count;
                let held = self.rows_in_binding(first * self.index_row_bytes, self.index_row_bytes);
                params_part_end.min(start + held)
            });
        }
        if index_count > MAX_COUNT {
            end = end.min(params_part_end);
        }
        if batch_rows > MAX_COUNT {
            end = end.min((batch + 1) * batch_rows);
        }
        end
    }

    /// The dispatches of a chunk: one for each window of the params rows that it may need.
    fn windows(&self, (start, end): (u64, u64), part: u64) -> impl Iterator<Item = Dispatch> {
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
            self.dispatch((rows_start, rows_end), (row, row_end), part)
        })
    }

    /// Where a window that starts with params row `row` ends.
    fn window_end(&self, row: u64, part: u64) -> u64 {
        if self.dims.held_rows == 0 || !self.is_whole() {
            return row + 1;
        }
        let (_, shard_row, shard_end) = self.shard_of(row);
        let start = (row - shard_row) * self.slice_bytes + part;
        (row + self.rows_in_binding(start, self.slice_bytes)).min(shard_end)
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

    fn dispatch(
        &self,
        (start, end): (u64, u64),
        (row, row_end): (u64, u64),
        part: u64,
    ) -> Dispatch {
        let dims = self.dims;
        let (index_count, outer_size) = (dims.index_count, dims.outer_size);
        let part_bytes = self.part_bytes.min(self.slice_bytes - part);
        let (params_part, last_part) = (start / index_count, (end - 1) / index_count);
        let (batch, last_batch) = (params_part / outer_size, last_part / outer_size);

        // Within one part, or one batch, the shader needs no size to count beyond it.
        let (window_index_count, first_index, index_rows) = if params_part == last_part {
            let first = batch * index_count + start % index_count;
            (u32::MAX, 0, (first, first + (end - start)))
        } else {
            let index_rows = (batch * index_count, (last_batch + 1) * index_count);
            (size(index_count), size(start % index_count), index_rows)
        };
        let outer = params_part % outer_size;
        let (window_outer_size, first_outer) = if batch == last_batch {
            (u32::MAX, size(outer.min(1)))
        } else {
            (size(outer_size), size(outer))
        };

        let span = |start: u64, end: u64| {
            let offset = start / self.alignment * self.alignment;
            (
                Span {
                    offset,
                    bytes: range_bytes(end - offset),
                },
                start - offset,
            )
        };
        let slices = |start: u64, end: u64| {
            let start = start * self.slice_bytes + part;
            span(start, (end - 1) * self.slice_bytes + part + part_bytes)
        };
        let (output, output_start) = slices(start, end);
        let (indices, indices_start) = span(
            index_rows.0 * self.index_row_bytes,
            index_rows.1 * self.index_row_bytes,
        );
        let (shard, (params, params_start)) = if dims.held_rows == 0 {
            (
                0,
                (
                    Span {
                        offset: 0,
                        bytes: 0,
                    },
                    0,
                ),
            )
        } else {
            let (shard, shard_row, _) = self.shard_of(row);
            (shard, slices(row - shard_row, row_end - shard_row))
        };

        let unit_bytes = self.kernel.unit.bytes();
        let invocations = match self.kernel.unit {
            Unit::Byte => (output_start % 4 + (end - start) * part_bytes).div_ceil(4),
            Unit::Vec4 | Unit::Word => (end - start) << self.kernel.lanes_log2,
        };
        let workgroups = self.grid(invocations);
        let mut indexed_dims = [[0; 2]; 8];
        for (words, &dim) in indexed_dims.iter_mut().zip(&dims.indexed_dims) {
            *words = low_and_high(dim);
        }
        Dispatch {
            window: GatherWindow {
                output_rows: size(end - start),
                index_count: window_index_count,
                outer_size: window_outer_size,
                first_index,
                first_outer,
                index_depth: size(dims.index_depth() as u64),
                slice_units: size(part_bytes / unit_bytes),
                lanes_log2: self.kernel.lanes_log2,
                held_rows: low_and_high(dims.held_rows),
                first_row: low_and_high(dims.first_row),
                params_first_row: low_and_high(row - params_part * dims.held_rows.max(1)),
                params_rows: size(row_end - row),
                params_start: size(params_start / unit_bytes),
                indices_start: size(indices_start / 4),
                output_start: size(output_start / unit_bytes),
                grid_width: workgroups.0,
                reports: u32::from(part == 0),
                index_row_base: low_and_high(index_rows.0),
                unused: [0; 2],
                indexed_dims,
            },
            workgroups,
            shard,
            params,
            indices,
            output,
        }
    }

    /// As few rows of workgroups as the device allows, of equal width, that hold all invocations.
    fn grid(&self, invocations: u64) -> (u32, u32) {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE.into());
        let height = workgroups.div_ceil(self.max_workgroups);
        (size(workgroups.div_ceil(height)), size(height))
    }
}

/// A size within one dispatch: its bytes are counted in 32 bits, and so is all that makes them up.
fn size(size: u64) -> u32 {
    u32::try_from(size).expect("a size within one dispatch has 32 bits")
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
