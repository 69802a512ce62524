//! Cuts a plan to a device's limits: which rows each dispatch gathers, and which bytes of each operand it binds. Pure:
//! a function of sizes and limits, for plans of any size.
//!
//! ```text
//! for each chunk of output rows        as many rows as bindings of output and indices hold
//!     for each piece of a slice        one, unless a slice is longer than a binding or a dispatch holds
//!         for each window of params    as many rows as a binding holds, of the rows that the chunk may need
//!             one dispatch             of the chunk's rows that may need the window; two if packed rows leave a rest
//! ```
//!
//! Exactly one dispatch writes each piece of an output row: the dispatch that binds the params row, or, if the index
//! row is bad or selects a row outside the shard, the dispatch that binds the first row of the block. Dispatches are in
//! the order of rows, so the first dispatch that reports a bad row reports the smallest.

mod dispatch;
mod pieces;
mod ranges;

use std::ops::Range;

pub(crate) use self::dispatch::{Dispatch, Span};
use self::ranges::{ShardStarts, ranges};
use super::kernel::{FindRows, Kernel, WORKGROUP_SIZE, check_places};
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::plan::{GatherDims, GatherPlan};

/// The most invocations of a dispatch, and the most rows from the start of its first block: the shader numbers both in
/// 32 bits.
const MAX_COUNT: u64 = 1 << 31;

/// A plan, and the limits on the bytes and the workgroups of one dispatch.
#[derive(Debug, Clone)]
pub(crate) struct Cut<'a> {
    dims: &'a GatherDims,
    find: FindRows,
    /// The number of words after which the fill repeats.
    fill_words: u32,
    shards: ShardStarts,
    slice_bytes: u64,
    piece_bytes: u64,
    index_row_bytes: u64,
    /// The most bytes of params that a dispatch binds.
    binding_bytes: u64,
    /// The most bytes of indices, and of output, that a dispatch binds: at most `binding_bytes`.
    chunk_bytes: u64,
    alignment: u64,
    max_workgroups: u64,
    max_grid_width: u64,
    /// True after [`indirect`](Self::indirect).
    is_indirect: bool,
}

/// Some output rows, or one piece of an output row: consecutive bytes of the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk {
    start: u64,
    end: u64,
    /// The byte of the slice at which the piece starts: 0, unless slices are cut.
    piece: u64,
}

/// The params rows that a binding holds, and the output rows of a chunk that may need them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) output_rows: (u64, u64),
    pub(crate) params_rows: (u64, u64),
    piece: u64,
}

impl<'a> Cut<'a> {
    /// The cut of a plan whose operands' bytes can be counted. `shard_rows` are the params rows of each shard.
    pub(crate) fn new(
        plan: &'a GatherPlan,
        types: ElementTypes,
        shard_rows: &[u64],
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let chunk_bytes = limits.max_storage_buffer_binding_size;
        Self::in_chunks(plan, types, shard_rows, limits, chunk_bytes)
    }

    /// As [`new`](Self::new), but the output of a chunk, and its indices, have at most `chunk_bytes` bytes.
    pub(crate) fn in_chunks(
        plan: &'a GatherPlan,
        types: ElementTypes,
        shard_rows: &[u64],
        limits: &wgpu::Limits,
        chunk_bytes: u64,
    ) -> Result<Self, GatherError> {
        let dims = plan.dims();
        let slice_bytes = dims.slice_len.saturating_mul(types.element_bytes);
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment.max(16));
        let max_grid_width = u64::from(limits.max_compute_workgroups_per_dimension);
        // The shader counts the bytes of a binding in 32 bits, even if the device binds more.
        let binding_bytes = limits.max_storage_buffer_binding_size.min(u32::MAX.into()) & !3;
        let mut cut = Self {
            dims,
            find: FindRows::choose(plan, types.index_kind),
            fill_words: 1,
            shards: ShardStarts::new(shard_rows),
            slice_bytes,
            piece_bytes: slice_bytes,
            index_row_bytes: dims.index_depth() as u64 * types.index_kind.bytes(),
            binding_bytes,
            chunk_bytes: chunk_bytes.min(binding_bytes) & !3,
            alignment,
            max_workgroups: max_grid_width
                .saturating_mul(max_grid_width)
                .min(MAX_COUNT / u64::from(WORKGROUP_SIZE)),
            max_grid_width,
            is_indirect: false,
        };
        if dims.output_len() == 0 {
            return Ok(cut);
        }
        check_places(dims)?;
        cut.fit_pieces(shard_rows)?;
        Ok(cut)
    }

    /// The cut for an index count that only the device knows: each dispatch is of one block, and none is packed.
    pub(crate) fn indirect(mut self) -> Self {
        self.is_indirect = true;
        self
    }

    /// Chooses kernels for a fill that repeats after `fill_words` words.
    pub(crate) fn set_fill_words(&mut self, fill_words: u32) {
        self.fill_words = fill_words;
    }

    /// The dispatches in the order of rows; none if the output is empty.
    pub(crate) fn dispatches(&self) -> impl Iterator<Item = Dispatch> {
        let chunks = std::iter::successors(self.first_chunk(), |&chunk| self.chunk_after(chunk));
        chunks.flat_map(move |chunk| {
            let windows = self.windows(chunk);
            windows.flat_map(move |window| self.dispatches_of(window))
        })
    }

    /// The first chunk; `None` if the output is empty.
    pub(crate) fn first_chunk(&self) -> Option<Chunk> {
        (self.dims.output_len() > 0).then(|| self.chunk_from(0, 0))
    }

    /// The chunk whose output starts where the output of `chunk` ends; `None` at the end.
    pub(crate) fn chunk_after(&self, chunk: Chunk) -> Option<Chunk> {
        let Chunk { start, end, piece } = chunk;
        let piece = piece + self.piece_bytes;
        if piece < self.slice_bytes {
            return Some(self.chunk_from(start, piece));
        }
        (end < self.dims.output_rows()).then(|| self.chunk_from(end, 0))
    }

    /// The most rows that one dispatch can gather with any kernel. A row takes a lane for each word, rounded up to a
    /// power of two, since a workgroup may hold only one row of more than half its lanes.
    fn most_rows(&self) -> u64 {
        let row_lanes = self.piece_bytes.div_ceil(4).next_power_of_two();
        let lanes = self.max_workgroups * u64::from(WORKGROUP_SIZE);
        // Rows that start within a word take one lane more, for which one row less leaves room.
        (lanes / row_lanes).saturating_sub(1).clamp(1, MAX_COUNT)
    }

    fn is_whole(&self) -> bool {
        self.piece_bytes == self.slice_bytes
    }

    /// Rows of `row_bytes` bytes that a binding of `bytes` bytes holds, if the first row starts at byte `start` of its
    /// operand.
    fn rows_in(&self, bytes: u64, start: u64, row_bytes: u64) -> u64 {
        (bytes - start % self.alignment) / row_bytes
    }

    /// The kernel for packed rows, and the number of rows that a lane copies; `None` if rows cannot be packed.
    fn packed(&self) -> Option<(Kernel, u64)> {
        let can_pack = !self.is_indirect && self.find != FindRows::General;
        let is_shard = self.dims.held_rows < self.dims.row_count;
        Kernel::packed(self.slice_bytes).filter(|_| can_pack && !is_shard && self.is_whole())
    }

    /// The chunk that starts with the piece at byte `piece` of output row `start`.
    fn chunk_from(&self, start: u64, piece: u64) -> Chunk {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        let batch_rows = outer_size * index_count;
        let block_end = (start / index_count + 1) * index_count;
        let batch = start / batch_rows;

        let rows = self.most_rows().min(match self.is_whole() {
            true => self.rows_in(
                self.chunk_bytes,
                start * self.slice_bytes + piece,
                self.slice_bytes,
            ),
            false => 1,
        });
        let mut end = (start + rows).min(self.dims.output_rows());
        if self.dims.repeats_index_rows() {
            end = self.end_of_repeated(start, end);
        } else if self.index_row_bytes > 0 {
            let rows_in_chunk = |first: u64| {
                let start = first * self.index_row_bytes;
                self.rows_in(self.chunk_bytes, start, self.index_row_bytes)
            };
            // A binding of indices holds whole batches, or some rows of one batch.
            let first = batch * index_count;
            let held = rows_in_chunk(first);
            end = end.min(if held >= index_count {
                (batch + held / index_count).saturating_mul(batch_rows)
            } else {
                let first = first + start % index_count;
                let held = rows_in_chunk(first);
                block_end.min(start + held)
            });
        }
        if let Some((_, lane_rows)) = self.packed()
            && !end.is_multiple_of(index_count)
            && end - start > lane_rows
        {
            // The next chunk then starts with a vector of indices and of output.
            end -= (end - start) % lane_rows;
        }
        if index_count > MAX_COUNT || self.is_indirect {
            end = end.min(block_end);
        }
        if batch_rows > MAX_COUNT {
            end = end.min((batch + 1) * batch_rows);
        }
        Chunk { start, end, piece }
    }

    /// The end of a chunk from output row `start` on: at most `end`, and a binding holds the index rows, some of which
    /// broadcasting repeats.
    fn end_of_repeated(&self, start: u64, mut end: u64) -> u64 {
        while end - start > 1 {
            let (first, last) = self.dims.index_rows_of(start, end - 1);
            let first_byte = first * self.index_row_bytes;
            if last - first < self.rows_in(self.chunk_bytes, first_byte, self.index_row_bytes) {
                break;
            }
            end = start + (end - start) / 2;
        }
        end
    }

    /// The output bytes of a chunk, and the aligned offset, at or before them, from which its dispatches bind the
    /// output.
    pub(crate) fn output_bytes(&self, chunk: Chunk) -> (Range<u64>, u64) {
        let start = chunk.start * self.slice_bytes + chunk.piece;
        let piece_end = (chunk.piece + self.piece_bytes).min(self.slice_bytes);
        let end = (chunk.end - 1) * self.slice_bytes + piece_end;
        (start..end, start / self.alignment * self.alignment)
    }

    /// The windows of params that the rows of a chunk may need.
    pub(crate) fn windows(&self, chunk: Chunk) -> impl Iterator<Item = Window> {
        let Chunk { start, end, piece } = chunk;
        let index_count = self.dims.index_count;
        // Params without rows has one window of one row, which no index selects.
        let row_count = self.dims.held_rows.max(1);
        let first_row = start / index_count * row_count;
        let last_row = ((end - 1) / index_count + 1) * row_count;
        ranges(first_row, last_row, move |row| {
            self.window_end(row, piece).min(last_row)
        })
        .map(move |(row, row_end)| {
            let rows_start = start.max(row / row_count * index_count);
            let rows_end = end.min(((row_end - 1) / row_count + 1) * index_count);
            Window {
                output_rows: (rows_start, rows_end),
                params_rows: (row, row_end),
                piece,
            }
        })
    }

    /// The end of the window that starts with params row `row`.
    fn window_end(&self, row: u64, piece: u64) -> u64 {
        if self.dims.held_rows == 0 || !self.is_whole() {
            return row + 1;
        }
        let (_, shard_row, shard_end) = self.shards.of(row);
        let start = (row - shard_row) * self.slice_bytes + piece;
        (row + self.rows_in(self.binding_bytes, start, self.slice_bytes)).min(shard_end)
    }
}

#[cfg(test)]
mod tests;
