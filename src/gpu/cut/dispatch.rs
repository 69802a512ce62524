//! One dispatch of a cut: its rows, its kernel, and what it binds of each operand.

use super::blocks::Blocks;
use super::{Cut, Tile};
use crate::encoding::{BlockQuantized, Decoding, Parts};
use crate::gpu::bound::BoundRange;
use crate::gpu::find_rows::FindRows;
use crate::gpu::kernel::{Choice, Kernel, Sizes};
use crate::gpu::shares::{Shares, grid};
use crate::gpu::types::size;
use crate::plan::dims::spanned;

/// One dispatch, and what it binds of each operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) kernel: Kernel,
    pub(crate) find: FindRows,
    pub(crate) shares: Shares,
    /// The grid in workgroups: width, height and depth.
    pub(crate) workgroups: [u32; 3],
    /// True if workgroup.y numbers the blocks in a batch, and workgroup.z the batches.
    pub(crate) has_block_grid: bool,
    pub(crate) output_rows: (u64, u64),
    /// The bound params rows, counted over all blocks.
    pub(crate) params_rows: (u64, u64),
    /// The first bound params row, counted from the block that [`Blocks`] names.
    pub(crate) window_first_row: u64,
    /// The slice's output bytes before the piece that is copied.
    pub(crate) piece: u64,
    pub(crate) piece_bytes: u64,
    /// Bytes from one params row to the next, and from one output row to the next.
    pub(crate) params_stride: u64,
    pub(crate) output_stride: u64,
    pub(crate) blocks: Blocks,
    /// True if the dispatch reports bad rows. Each index row is reported once, for one piece and one outer coordinate.
    pub(crate) reports: bool,
    /// The shard's number.
    pub(crate) shard: usize,
    pub(crate) params: BoundRange,
    pub(crate) indices: BoundRange,
    pub(crate) output: BoundRange,
    /// How many rows the last dim has, if values in one share a scale or if scales lie beside params.
    pub(crate) last_dim: Option<Parts>,
    /// How quantised params holds its numbers; its scales and zero points are then bound too.
    pub(crate) quantized: Option<BlockQuantized>,
    pub(crate) qparams: [BoundRange; 2],
}

impl Dispatch {
    pub(crate) fn rows(&self) -> u64 {
        self.output_rows.1 - self.output_rows.0
    }

    /// The bytes by which starts and strides in params are counted.
    pub(crate) fn params_unit_bytes(&self) -> u64 {
        match (self.quantized, self.last_dim) {
            (Some(_), Some(row)) => row.bytes,
            _ => self.kernel.params_unit_bytes(),
        }
    }
}

impl Cut<'_> {
    /// The first `most` dispatches in row order, and if there are more, one that takes the pipeline of the last rows, which may be
    /// too few for the other dispatches' kernels.
    pub(crate) fn dispatches_up_to(&self, most: usize) -> impl Iterator<Item = Dispatch> {
        let mut dispatches = self.dispatches();
        let mut number = 0;
        let mut last = None;
        std::iter::from_fn(move || {
            if number < most {
                number += 1;
                return dispatches.next();
            }
            if number == most {
                number += 1;
                last = dispatches.next().map(|next| {
                    let (start, _) = next.output_rows;
                    self.dispatches_of(Tile {
                        output_rows: (start, start + 1),
                        params_rows: next.params_rows,
                        piece: next.piece,
                    })
                });
            }
            last.as_mut()?.next()
        })
    }

    /// The dispatches in row order; none if the output is empty.
    pub(crate) fn dispatches(&self) -> impl Iterator<Item = Dispatch> {
        let chunks = std::iter::successors(self.first_chunk(), |&chunk| self.chunk_after(chunk));
        chunks
            .flat_map(move |chunk| self.windows(chunk))
            .flat_map(move |window| self.dispatches_of(window))
    }

    /// A window's dispatches: one, or one that packs rows and one for the rows left over.
    pub(super) fn dispatches_of(&self, window: Tile) -> impl Iterator<Item = Dispatch> {
        let mut left_over = window;
        std::iter::from_fn(move || {
            let (start, end) = left_over.output_rows;
            (start < end).then(|| {
                let choice = Choice::of(&self.sizes(left_over));
                let next = start + choice.rows;
                let tile = Tile {
                    output_rows: (start, next),
                    ..left_over
                };
                // The rows left over need params from their first row's block on.
                let first_row = next / self.dims.index_count * self.block_rows();
                let (row, row_end) = left_over.params_rows;
                left_over = Tile {
                    output_rows: (next, end),
                    params_rows: (row.max(first_row), row_end),
                    ..left_over
                };
                self.dispatch(tile, choice)
            })
        })
    }

    fn sizes(&self, tile: Tile) -> Sizes {
        let dims = self.dims;
        let (start, end) = tile.output_rows;
        let (first_index_row, _) = self.blocks(start, end).index_rows;
        Sizes {
            rows: end - start,
            first_n: start % dims.index_count,
            index_count: dims.index_count,
            whole_blocks: self.whole_blocks(start, end),
            max_grid_width: self.max_grid_width,
            binds_blocks: tile.params_rows == self.rows_of_blocks(start, end)
                && dims.held_rows == dims.row_count,
            bytes: self.bytes_of(tile),
            has_gaps: self.params_stride.max(self.output_stride) > self.slice_bytes,
            decoding: self.decoding.map(Decoding::of_pipeline),
            alignment: self.slice_alignment(),
            fill_words: self.fill_words,
            indices_start: self.index_row_start(first_index_row),
            output_start: self.output_row_start(start),
            find: self.find,
            element_rows: match dims.element_dims.last() {
                Some(dim) if !dims.repeats_index_rows() => dim.size,
                _ => 0,
            },
            is_indirect: self.is_indirect,
            update: self.update,
        }
    }

    /// How many blocks a batch has and how many batches output rows `start..end` fill, if all are whole and equally large.
    fn whole_blocks(&self, start: u64, end: u64) -> Option<[u64; 2]> {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        if !start.is_multiple_of(index_count) || !end.is_multiple_of(index_count) {
            return None;
        }
        let (first, end) = (start / index_count, end / index_count);
        if first / outer_size == (end - 1) / outer_size {
            return Some([end - first, 1]);
        }
        let is_whole = first.is_multiple_of(outer_size) && end.is_multiple_of(outer_size);
        is_whole.then_some([outer_size, (end - first) / outer_size])
    }

    /// The output bytes that a tile copies: a slice, or a piece of it.
    fn bytes_of(&self, tile: Tile) -> u64 {
        self.piece_bytes.min(self.slice_bytes - tile.piece)
    }

    fn dispatch(&self, tile: Tile, choice: Choice) -> Dispatch {
        let piece = tile.piece;
        let ((start, end), (row, row_end)) = (tile.output_rows, tile.params_rows);
        let piece_bytes = self.bytes_of(tile);
        let blocks = self.blocks(start, end);
        let bound = |bytes| BoundRange::of(bytes, self.alignment);
        let slices = |first: u64, rows: u64, stride: u64, piece_bytes: u64| {
            bound(first..first + spanned(rows, stride, piece_bytes))
        };
        let output = slices(
            self.output_row_start(start) + piece,
            end - start,
            self.output_stride,
            piece_bytes,
        );
        let (shard, params) = if self.dims.held_rows == 0 {
            (0, BoundRange::default())
        } else {
            let held = self.shards.of(row);
            let first = held.start + (row - held.first_row) * self.params_stride;
            let slices = slices(
                first + self.in_params(piece),
                row_end - row,
                self.params_stride,
                self.in_params(piece_bytes),
            );
            (held.shard, slices)
        };
        let qparams = self.qparams.map(|qparam| match self.dims.held_rows {
            0 => BoundRange::default(),
            _ => bound(self.qparam_bytes(qparam, tile.params_rows, piece..piece + piece_bytes)),
        });
        let (first_index_row, end_index_row) = blocks.index_rows;
        let indices =
            bound(self.index_row_start(first_index_row)..self.index_row_start(end_index_row));
        let output_bytes = spanned(end - start, self.output_stride, piece_bytes);
        let share_bytes = match choice.kernel {
            Kernel::WordParts => 4 * self.touched_words(piece_bytes),
            _ => piece_bytes,
        };
        let shares_of =
            |rows| (choice.kernel).shares(rows, share_bytes, output.start % 4 + output_bytes);
        let grid_blocks = match choice.kernel {
            Kernel::FourRows(_) if blocks.index_count < u32::MAX => self.whole_blocks(start, end),
            _ => None,
        };
        let (shares, workgroups) = match grid_blocks {
            Some([outer, batches]) => {
                let of_block = shares_of(self.dims.index_count);
                let shares = Shares {
                    workgroups: of_block.workgroups * outer * batches,
                    ..of_block
                };
                (shares, [of_block.workgroups, outer, batches].map(size))
            }
            None => {
                let shares = shares_of(end - start);
                (shares, grid(shares.workgroups, self.max_grid_width))
            }
        };
        // True if one of the blocks has the outer coordinate 0.
        let is_first_outer = blocks.first_block.is_multiple_of(self.dims.outer_size);
        Dispatch {
            kernel: choice.kernel,
            find: choice.find,
            shares,
            workgroups,
            has_block_grid: grid_blocks.is_some(),
            output_rows: tile.output_rows,
            params_rows: tile.params_rows,
            window_first_row: row - blocks.first_block * self.block_rows(),
            piece,
            piece_bytes,
            params_stride: self.params_stride,
            output_stride: self.output_stride,
            blocks,
            reports: piece == 0 && is_first_outer,
            shard,
            params,
            indices,
            output,
            last_dim: (self.decoding)
                .and_then(|of| of.encoding.has_whole_rows().then_some(self.parts)),
            quantized: (self.decoding).and_then(|of| of.encoding.block_quantized()),
            qparams,
        }
    }
}
