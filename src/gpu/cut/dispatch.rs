//! One dispatch of a cut: its rows, its kernel, and the bytes of each operand that it binds.

use super::{Cut, Window};
use crate::gpu::kernel::{FindRows, Kernel, Shares, grid};
use crate::gpu::shaders::{EntryPoint, PipelineKey};
use crate::gpu::types::range_bytes;
use crate::gpu::types::size;
use crate::plan::dims::spanned;

/// Bytes of a vector of words.
const VEC4_BYTES: u64 = 16;

/// The fewest rows of a window for which a rest, too short for a packed lane, is worth a dispatch of its own.
const MIN_ROWS_TO_SPLIT: u64 = 1024;

/// The number of first dispatches whose pipelines all later dispatches take, except for the last rows.
const MAX_DIFFERENT_DISPATCHES: usize = 1000;

/// One dispatch, and the bytes of each operand that it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) kernel: Kernel,
    pub(crate) find: FindRows,
    pub(crate) shares: Shares,
    /// The width and the height of the grid, in workgroups.
    pub(crate) workgroups: (u32, u32),
    pub(crate) output_rows: (u64, u64),
    /// The params rows that are bound, counted over all blocks.
    pub(crate) params_rows: (u64, u64),
    /// The bytes of a slice before the piece that is copied.
    pub(crate) piece: u64,
    pub(crate) piece_bytes: u64,
    /// Bytes from one params row to the next, and from one output row to the next.
    pub(crate) params_stride: u64,
    pub(crate) output_stride: u64,
    pub(crate) blocks: Blocks,
    /// True if the dispatch reports its bad rows. An index row is reported for one piece and one outer coordinate.
    pub(crate) reports: bool,
    /// The number of the shard.
    pub(crate) shard: usize,
    pub(crate) params: Span,
    pub(crate) indices: Span,
    pub(crate) output: Span,
}

impl Dispatch {
    pub(crate) fn rows(&self) -> u64 {
        self.output_rows.1 - self.output_rows.0
    }

    /// True if params or indices has no bytes.
    pub(crate) fn binds_nothing(&self) -> bool {
        self.params.bytes == 0 || self.indices.bytes == 0
    }

    /// The pipeline of the dispatch.
    pub(crate) fn pipeline(&self, report: bool, aliased: bool) -> PipelineKey {
        let entry_point = EntryPoint::Gather {
            kernel: self.kernel,
            find: self.find,
            report,
        };
        PipelineKey {
            entry_point,
            aliased,
        }
    }
}

/// The blocks of a dispatch's output rows. `index_count` is `u32::MAX` if the rows are of one block, and `outer_size`
/// is `u32::MAX` if they are of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) are_several: bool,
    pub(crate) index_count: u32,
    pub(crate) outer_size: u32,
    pub(crate) first_index: u32,
    pub(crate) first_outer: u32,
    /// The output row from which `first_index` counts, as a row of its block.
    pub(crate) first_n: u32,
    /// The first params row of the dispatch's first block. Rows are numbered through all blocks of params.
    pub(crate) first_row: u64,
    /// The index rows that are bound.
    pub(crate) index_rows: (u64, u64),
}

/// The bytes of an operand that are bound: an aligned offset from the operand's start, and whole words. The first row
/// starts `start` bytes after the offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) start: u64,
}

impl Cut<'_> {
    /// The pipelines of the dispatches of operands that are not aliased.
    pub(crate) fn pipelines(&self, report: bool) -> Vec<PipelineKey> {
        let mut keys = Vec::new();
        let mut dispatches = self.dispatches();
        for dispatch in dispatches.by_ref().take(MAX_DIFFERENT_DISPATCHES) {
            let key = dispatch.pipeline(report, false);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        if let Some(dispatch) = dispatches.next() {
            // The last rows may be too few for the kernels of the other dispatches.
            let kernel = self.kernel(self.piece_bytes);
            let find = self.find.of(kernel);
            let last = Dispatch {
                kernel,
                find,
                ..dispatch
            };
            keys.push(last.pipeline(report, false));
        }
        keys
    }

    /// The dispatches of a window: one of the rows that can be packed, and one of the other rows.
    pub(super) fn dispatches_of(&self, window: Window) -> impl Iterator<Item = Dispatch> {
        let (start, end) = window.output_rows;
        let packed = self
            .packed()
            .filter(|&(_, lane_rows)| self.is_packed(window, lane_rows));
        let packed_end = packed.map_or(start, |(_, lane_rows)| end - (end - start) % lane_rows);
        let packed = packed.map(|(kernel, _)| {
            let window = Window {
                output_rows: (start, packed_end),
                ..window
            };
            self.dispatch(window, kernel)
        });
        let rest = (packed_end < end).then(|| {
            // The rest needs params from the block of its first row on.
            let first_row = packed_end / self.dims.index_count * self.dims.held_rows;
            let (row, row_end) = window.params_rows;
            let window = Window {
                output_rows: (packed_end, end),
                params_rows: (row.max(first_row), row_end),
                ..window
            };
            let piece_bytes = self.piece_bytes.min(self.slice_bytes - window.piece);
            let kernel = self.kernel(piece_bytes);
            self.dispatch(window, kernel)
        });
        packed.into_iter().chain(rest)
    }

    /// True if the output rows of the window can be packed: all params rows of their blocks are bound, and the rows of
    /// each lane are of one block and start with a vector of indices and of output.
    fn is_packed(&self, window: Window, lane_rows: u64) -> bool {
        let index_count = self.dims.index_count;
        let (start, end) = window.output_rows;
        let rows = end - start;
        let first_n = start % index_count;
        let first_index_row = self.blocks(start, end).index_rows.0;
        let is_one_block = start / index_count == (end - 1) / index_count;
        let starts_with_vec4 = |start: u64| (start % self.alignment).is_multiple_of(VEC4_BYTES);
        let indices_start = self.layout.indices_start + first_index_row * self.index_row_bytes;
        // A second dispatch for the rest pays only from `MIN_ROWS_TO_SPLIT` rows on.
        rows >= lane_rows
            && (rows.is_multiple_of(lane_rows) || rows >= MIN_ROWS_TO_SPLIT)
            && self.binds_all_rows(window)
            && (is_one_block
                || index_count.is_multiple_of(lane_rows) && first_n.is_multiple_of(lane_rows))
            && starts_with_vec4(self.layout.output_start + start * self.slice_bytes)
            && starts_with_vec4(indices_start)
    }

    /// True if the window holds all params rows of the blocks of its output rows.
    fn binds_all_rows(&self, window: Window) -> bool {
        let index_count = self.dims.index_count;
        let ((start, end), (row, row_end)) = (window.output_rows, window.params_rows);
        let blocks = (end - 1) / index_count + 1 - start / index_count;
        row_end - row == blocks * self.dims.held_rows.max(1)
    }

    fn blocks(&self, start: u64, end: u64) -> Blocks {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        let (block, last_block) = (start / index_count, (end - 1) / index_count);
        let (batch, last_batch) = (block / outer_size, last_block / outer_size);
        let first_n = start % index_count;
        let outer = block % outer_size;
        let are_several = block < last_block;
        let (outer_size, first_outer) = if batch == last_batch {
            (u32::MAX, size(outer.min(1)))
        } else {
            (size(outer_size), size(outer))
        };
        let first_row = block * self.dims.held_rows.max(1);
        let common = Blocks {
            are_several,
            index_count: u32::MAX,
            outer_size,
            first_index: 0,
            first_outer,
            first_n: 0,
            first_row,
            index_rows: (batch * index_count, (last_batch + 1) * index_count),
        };
        if are_several {
            return Blocks {
                index_count: size(index_count),
                first_index: size(first_n),
                ..common
            };
        }
        let first_of_batch = batch * self.dims.batch_index_rows;
        let (first, last) = self
            .dims
            .index_rows_of(first_n, first_n + (end - start) - 1);
        Blocks {
            // An index count is a `u32`, so it leaves out all rows from `u32::MAX` on. Batches of gather_elements have
            // fewer rows.
            first_n: u32::try_from(first_n).unwrap_or(u32::MAX),
            index_rows: (first_of_batch + first, first_of_batch + last + 1),
            ..common
        }
    }

    fn dispatch(&self, window: Window, kernel: Kernel) -> Dispatch {
        let dims = self.dims;
        let piece = window.piece;
        let ((start, end), (row, row_end)) = (window.output_rows, window.params_rows);
        let piece_bytes = self.piece_bytes.min(self.slice_bytes - piece);
        let blocks = self.blocks(start, end);
        let span = |start: u64, end: u64| {
            if start == end {
                return Span::default();
            }
            let offset = start / self.alignment * self.alignment;
            Span {
                offset,
                bytes: range_bytes(end - offset),
                start: start - offset,
            }
        };
        let slices = |first: u64, stride: u64, start: u64, end: u64| {
            let (start, last) = (first + start * stride, first + (end - 1) * stride);
            span(start + piece, last + piece + piece_bytes)
        };
        let output = slices(self.layout.output_start, self.output_stride, start, end);
        let (shard, params) = if dims.held_rows == 0 {
            (0, Span::default())
        } else {
            let (shard, shard_row, _) = self.shards.of(row);
            let first = self.layout.shards[shard].start;
            let rows = (row - shard_row, row_end - shard_row);
            (shard, slices(first, self.params_stride, rows.0, rows.1))
        };
        let (first_index_row, last_index_row) = blocks.index_rows;
        let is_one_block =
            !blocks.are_several && self.binds_all_rows(window) && dims.held_rows == dims.row_count;
        let kernel = if is_one_block && self.find != FindRows::General {
            kernel.for_one_block(end - start, piece_bytes)
        } else {
            kernel
        };
        let bytes = spanned(end - start, self.output_stride, piece_bytes);
        let shares = kernel.shares(end - start, piece_bytes, output.start % 4 + bytes);
        // True if one of the blocks has the outer coordinate 0.
        let is_first_outer = blocks.first_outer == 0 || blocks.outer_size != u32::MAX;
        Dispatch {
            kernel,
            find: self.find.of(kernel),
            shares,
            workgroups: grid(shares.workgroups, self.max_grid_width),
            output_rows: window.output_rows,
            params_rows: window.params_rows,
            piece,
            piece_bytes,
            params_stride: self.params_stride,
            output_stride: self.output_stride,
            blocks,
            reports: piece == 0 && is_first_outer,
            shard,
            params,
            indices: span(
                self.layout.indices_start + first_index_row * self.index_row_bytes,
                self.layout.indices_start + last_index_row * self.index_row_bytes,
            ),
            output,
        }
    }
}
