//! One dispatch of a cut: its rows, its kernel, and the bytes that it binds.

use super::{Cut, Window};
use crate::gpu::kernel::{FindRows, Kernel, Shares};
use crate::gpu::shaders::{EntryPoint, PipelineKey};
use crate::gpu::types::range_bytes;
use crate::gpu::types::size;

/// Bytes of a vector of words.
const VEC4_BYTES: u64 = 16;

/// From so many rows on a rest that fills no lane of packed rows is a dispatch of its own.
const MIN_ROWS_TO_SPLIT: u64 = 1024;

/// Dispatches after so many take the pipelines of those before, but for the last rows.
const MAX_DIFFERENT_DISPATCHES: usize = 1000;

/// One dispatch, and the bytes of each operand that it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) kernel: Kernel,
    pub(crate) find: FindRows,
    pub(crate) shares: Shares,
    /// Workgroups of a row of the grid, and rows.
    pub(crate) workgroups: (u32, u32),
    pub(crate) output_rows: (u64, u64),
    /// The params rows that are bound, counted over all blocks.
    pub(crate) params_rows: (u64, u64),
    /// The bytes of each slice before the piece that is copied, and those of the piece.
    pub(crate) piece: u64,
    pub(crate) piece_bytes: u64,
    pub(crate) blocks: Blocks,
    /// Bad rows of the dispatch are to be reported: only one piece and one outer coordinate of each index row is.
    pub(crate) reports: bool,
    /// Which buffer of params.
    pub(crate) shard: usize,
    pub(crate) params: Span,
    pub(crate) indices: Span,
    pub(crate) output: Span,
}

impl Dispatch {
    pub(crate) fn rows(&self) -> u64 {
        self.output_rows.1 - self.output_rows.0
    }

    /// Whether one of its operands has no bytes.
    pub(crate) fn binds_nothing(&self) -> bool {
        self.params.bytes == 0 || self.indices.bytes == 0
    }

    /// The pipeline that gathers.
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

/// Where the output rows of a dispatch stand among the blocks of params. Sizes that the shader need not count beyond are
/// `u32::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) are_several: bool,
    pub(crate) index_count: u32,
    pub(crate) outer_size: u32,
    pub(crate) first_index: u32,
    pub(crate) first_outer: u32,
    /// The place in its block of what `first_index` counts from.
    pub(crate) first_n: u32,
    /// The first params row of the first block, counted over all blocks.
    pub(crate) first_row: u64,
    /// The index rows that are bound.
    pub(crate) index_rows: (u64, u64),
}

/// Bytes of an operand, from its start: an aligned offset and whole words; the first row starts `start` bytes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) start: u64,
}

impl Cut<'_> {
    /// The pipelines that dispatches take where no operands share a buffer.
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
            // The last rows of many may be too few for what the others take.
            let kernel = Kernel::choose(self.slice_bytes, self.piece_bytes, self.fill_words);
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

    /// The dispatches of a window: of the rows that can be packed, and of the other rows.
    pub(crate) fn dispatches_of(&self, window: Window) -> impl Iterator<Item = Dispatch> {
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
            // Of params from the first block that is left.
            let first_row = packed_end / self.dims.index_count * self.dims.held_rows;
            let (row, row_end) = window.params_rows;
            let window = Window {
                output_rows: (packed_end, end),
                params_rows: (row.max(first_row), row_end),
                ..window
            };
            let piece_bytes = self.piece_bytes.min(self.slice_bytes - window.piece);
            let kernel = Kernel::choose(self.slice_bytes, piece_bytes, self.fill_words);
            self.dispatch(window, kernel)
        });
        packed.into_iter().chain(rest)
    }

    /// Whether these rows can be packed: all params rows of their blocks are bound, and the rows that a lane takes are of
    /// one block, and start with a vector of indices and of output.
    fn is_packed(&self, window: Window, lane_rows: u64) -> bool {
        let index_count = self.dims.index_count;
        let (start, end) = window.output_rows;
        let rows = end - start;
        let first_n = start % index_count;
        let first_index_row = self.blocks(start, end).index_rows.0;
        let is_one_block = start / index_count == (end - 1) / index_count;
        let starts_with_vec4 = |start: u64, row_bytes: u64| {
            (start * row_bytes % self.alignment).is_multiple_of(VEC4_BYTES)
        };
        // Another dispatch for the rest must be worth it.
        rows >= lane_rows
            && (rows.is_multiple_of(lane_rows) || rows >= MIN_ROWS_TO_SPLIT)
            && self.binds_all_rows(window)
            && (is_one_block
                || index_count.is_multiple_of(lane_rows) && first_n.is_multiple_of(lane_rows))
            && starts_with_vec4(start, self.slice_bytes)
            && starts_with_vec4(first_index_row, self.index_row_bytes)
    }

    /// Whether all rows of the blocks that output rows are of are bound.
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
        let first = batch * index_count + first_n;
        Blocks {
            // Where the place in a batch counts, a batch has no more rows than this.
            first_n: u32::try_from(first_n).unwrap_or(u32::MAX),
            index_rows: (first, first + (end - start)),
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
            let offset = start / self.alignment * self.alignment;
            Span {
                offset,
                bytes: range_bytes(end - offset),
                start: start - offset,
            }
        };
        let slices = |start: u64, end: u64| {
            let start = start * self.slice_bytes + piece;
            span(start, (end - 1) * self.slice_bytes + piece + piece_bytes)
        };
        let output = slices(start, end);
        let (shard, params) = if dims.held_rows == 0 {
            (0, Span::default())
        } else {
            let (shard, shard_row, _) = self.shards.of(row);
            (shard, slices(row - shard_row, row_end - shard_row))
        };
        let (first_index_row, last_index_row) = blocks.index_rows;
        let is_one_block =
            !blocks.are_several && self.binds_all_rows(window) && dims.held_rows == dims.row_count;
        let kernel = if is_one_block && self.find != FindRows::General {
            kernel.for_one_block(end - start, piece_bytes)
        } else {
            kernel
        };
        let shares = kernel.shares(end - start, piece_bytes, output.start % 4);
        // One of the blocks has the outer coordinate 0.
        let is_first_outer = blocks.first_outer == 0 || blocks.outer_size != u32::MAX;
        Dispatch {
            kernel,
            find: self.find.of(kernel),
            shares,
            workgroups: self.grid(shares.workgroups),
            output_rows: window.output_rows,
            params_rows: window.params_rows,
            piece,
            piece_bytes,
            blocks,
            reports: piece == 0 && is_first_outer,
            shard,
            params,
            indices: span(
                first_index_row * self.index_row_bytes,
                last_index_row * self.index_row_bytes,
            ),
            output,
        }
    }

    /// As few rows of workgroups as the device allows, of equal width, that hold all workgroups.
    fn grid(&self, workgroups: u64) -> (u32, u32) {
        let height = workgroups.div_ceil(self.max_grid_width);
        (size(workgroups.div_ceil(height)), size(height))
    }
}
