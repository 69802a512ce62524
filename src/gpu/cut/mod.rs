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

mod chunks;
mod dispatch;
mod layout;
mod pieces;
mod ranges;

use self::chunks::Chunk;
pub(crate) use self::dispatch::{Dispatch, Span};
pub(crate) use self::layout::{Layout, ShardPlace, alignment};
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
    layout: Layout,
    shards: ShardStarts,
    slice_bytes: u64,
    /// Bytes from one params row to the next, and from one output row to the next.
    params_stride: u64,
    output_stride: u64,
    /// The bits of all places of slices in params and in the output: of the bytes of a slice, of strides and of starts.
    place_bits: u64,
    piece_bytes: u64,
    index_row_bytes: u64,
    /// The most bytes of params, of indices or of output that a dispatch binds.
    binding_bytes: u64,
    alignment: u64,
    max_workgroups: u64,
    max_grid_width: u64,
    /// True after [`indirect`](Self::indirect).
    is_indirect: bool,
}

/// The params rows that a binding holds, and the output rows of a chunk that may need them.
#[derive(Debug, Clone, Copy)]
struct Window {
    output_rows: (u64, u64),
    params_rows: (u64, u64),
    piece: u64,
}

impl<'a> Cut<'a> {
    /// The cut of a plan whose operands' bytes can be counted.
    pub(crate) fn new(
        plan: &'a GatherPlan,
        types: ElementTypes,
        layout: Layout,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let dims = plan.dims();
        let in_bytes = |elements: u64| elements.saturating_mul(types.element_bytes);
        let slice_bytes = in_bytes(dims.slice_len);
        let (params_stride, output_stride) =
            (in_bytes(dims.params_stride), in_bytes(dims.output_stride));
        let alignment = alignment(limits);
        let max_grid_width = u64::from(limits.max_compute_workgroups_per_dimension);
        // The shader counts the bytes of a binding in 32 bits, even if the device binds more.
        let binding_bytes = limits.max_storage_buffer_binding_size.min(u32::MAX.into()) & !3;
        let mut cut = Self {
            dims,
            find: FindRows::choose(plan, types.index_kind),
            fill_words: 1,
            shards: ShardStarts::new(&layout.shards),
            place_bits: slice_bytes | params_stride | output_stride | layout.start_bits(),
            layout,
            slice_bytes,
            params_stride,
            output_stride,
            piece_bytes: slice_bytes,
            index_row_bytes: dims.index_depth() as u64 * types.index_kind.bytes(),
            binding_bytes,
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
        cut.fit_pieces()?;
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

    /// The most rows that one dispatch can gather with any kernel. A row takes a lane for each word, rounded up to a
    /// power of two, since a workgroup may hold only one row of more than half its lanes.
    fn most_rows(&self) -> u64 {
        // `Bytes` has lanes for the words of gaps too.
        let row_bytes = match self.kernel(self.piece_bytes) {
            Kernel::Bytes => self.piece_bytes.max(self.output_stride),
            _ => self.piece_bytes,
        };
        let row_lanes = row_bytes.div_ceil(4).next_power_of_two();
        let lanes = self.max_workgroups * u64::from(WORKGROUP_SIZE);
        // Rows that start within a word take one lane more, for which one row less leaves room.
        (lanes / row_lanes).saturating_sub(1).clamp(1, MAX_COUNT)
    }

    /// The kernel for pieces of `piece_bytes` bytes of slices that are not packed.
    fn kernel(&self, piece_bytes: u64) -> Kernel {
        Kernel::choose(self.place_bits, piece_bytes, self.fill_words)
    }

    fn is_whole(&self) -> bool {
        self.piece_bytes == self.slice_bytes
    }

    /// Rows of `row_bytes` bytes, `stride` bytes after each other, that a binding holds, if the first row starts `start`
    /// bytes after an offset that can be bound.
    fn rows_in(&self, start: u64, stride: u64, row_bytes: u64) -> u64 {
        match (self.binding_bytes - start % self.alignment).checked_sub(row_bytes) {
            Some(more) => more / stride + 1,
            None => 0,
        }
    }

    /// Index rows from index row `first` on that a binding holds.
    fn index_rows_in_chunk(&self, first: u64) -> u64 {
        let row_bytes = self.index_row_bytes;
        let start = self.layout.indices_start + first * row_bytes;
        self.rows_in(start, row_bytes, row_bytes)
    }

    fn has_output_gaps(&self) -> bool {
        self.output_stride > self.slice_bytes
    }

    fn is_strided(&self) -> bool {
        self.params_stride > self.slice_bytes || self.has_output_gaps()
    }

    /// The kernel for packed rows, and the number of rows that a lane copies; `None` if rows cannot be packed.
    fn packed(&self) -> Option<(Kernel, u64)> {
        let can_pack = !self.is_indirect && self.find != FindRows::General;
        let is_shard = self.dims.held_rows < self.dims.row_count;
        // A slice must not lie in two words.
        let is_in_word = self.place_bits.is_multiple_of(self.slice_bytes);
        let is_packed = is_in_word && !self.is_strided() && !is_shard && self.is_whole();
        Kernel::packed(self.slice_bytes).filter(|_| can_pack && is_packed)
    }

    /// The windows of params that the rows of a chunk may need.
    fn windows(&self, chunk: Chunk) -> impl Iterator<Item = Window> {
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
        let (shard, shard_row, shard_end) = self.shards.of(row);
        let stride = self.params_stride;
        let start = self.layout.shards[shard].start + (row - shard_row) * stride + piece;
        let held = self.rows_in(start, stride, self.slice_bytes);
        (row + held).min(shard_end)
    }
}

#[cfg(test)]
mod tests;
