//! Cuts a gather into tiles: output chunks, and the params windows that each may need.

use std::ops::Range;

use super::{Cut, MAX_COUNT, Tile};
use crate::gpu::kernel::{are_worth_workgroups, packed_rows};

/// The shader numbers the rows of a block modulo this number.
const ROW_NUMBERS: u64 = 1 << u32::BITS;

impl Cut<'_> {
    /// The first chunk: as many consecutive output rows as bindings hold, in output and indices, or a piece of one row.
    /// `None` if the output is empty.
    pub(super) fn first_chunk(&self) -> Option<Tile> {
        (self.dims.output_len() > 0).then(|| self.chunk_from(0, 0))
    }

    /// The chunk after `chunk`; `None` at the end.
    pub(super) fn chunk_after(&self, chunk: Tile) -> Option<Tile> {
        let (start, end) = chunk.output_rows;
        let piece = chunk.piece + self.piece_bytes;
        if piece < self.slice_bytes {
            return Some(self.chunk_from(start, piece));
        }
        (end < self.dims.output_rows()).then(|| self.chunk_from(end, 0))
    }

    /// The chunk that starts in output row `start`, with the piece at its byte `piece`.
    fn chunk_from(&self, start: u64, piece: u64) -> Tile {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        let batch_rows = outer_size * index_count;
        let block_end = (start / index_count + 1) * index_count;
        let batch = start / batch_rows;
        let n = start % index_count;

        let rows = self.most_rows().min(match self.is_whole() {
            true => {
                let start = self.output_row_start(start) + piece;
                self.rows_in_binding(start, self.output_stride, self.slice_bytes)
            }
            false => 1,
        });
        let mut end = start.saturating_add(rows).min(self.dims.output_rows());
        if self.dims.repeats_index_rows() {
            end = self.end_of_repeated(start, end);
        } else if self.index_row_bytes > 0 {
            // The binding for indices holds whole batches, or some rows of one batch.
            let first = batch * index_count;
            let held = self.index_rows_in_binding(first);
            end = end.min(if held >= index_count {
                (batch + held / index_count).saturating_mul(batch_rows)
            } else {
                block_end.min(start + self.index_rows_in_binding(first + n))
            });
        }
        if let Some(whole) = self.whole_blocks_end((start, end), index_count) {
            end = whole;
        } else if !end.is_multiple_of(index_count)
            && let Some(lane_rows) = packed_rows(self.slice_bytes)
            && end - start > lane_rows
        {
            // The next chunk then starts with a whole vector in indices and in the output.
            end -= (end - start) % lane_rows;
        }
        if index_count > MAX_COUNT || self.is_indirect {
            let numbers_end = start + (ROW_NUMBERS - n % ROW_NUMBERS);
            end = end.min(block_end).min(numbers_end);
        }
        if batch_rows > MAX_COUNT {
            end = end.min((batch + 1) * batch_rows);
        }
        Tile {
            output_rows: (start, end),
            params_rows: self.rows_of_blocks(start, end),
            piece,
        }
    }

    /// Where the whole batches in rows `start..end` end, or else the whole blocks of one batch; a block has `block_rows` rows. What
    /// follows then starts with a block. `None` if nothing is gained or no block is whole.
    fn whole_blocks_end(&self, (start, end): (u64, u64), block_rows: u64) -> Option<u64> {
        let unit = self.unit()?;
        let is_worth = self.find.is_short()
            && are_worth_workgroups(self.dims.index_count, self.slice_bytes, unit);
        let batch_rows = self.dims.outer_size * block_rows;
        let whole = match start.is_multiple_of(batch_rows) && end - start >= batch_rows {
            true => end - end % batch_rows,
            false => (end - end % block_rows).min((start / batch_rows + 1) * batch_rows),
        };
        (is_worth && start.is_multiple_of(block_rows) && whole > start).then_some(whole)
    }

    /// How many index rows a binding holds from index row `first` on.
    fn index_rows_in_binding(&self, first: u64) -> u64 {
        let bytes = self.index_row_bytes;
        self.rows_in_binding(self.index_row_start(first), bytes, bytes)
    }

    /// Where a chunk that begins with output row `start` ends: at `end`, or before, so that a binding holds its index rows, some
    /// of which broadcasting repeats.
    fn end_of_repeated(&self, start: u64, mut end: u64) -> u64 {
        while end - start > 1 {
            let (first, last) = self.dims.index_rows_of(start, end - 1);
            if last - first < self.index_rows_in_binding(first) {
                break;
            }
            end = start + (end - start) / 2;
        }
        end
    }

    /// The params rows in the blocks that output rows `start..end` lie in.
    pub(super) fn rows_of_blocks(&self, start: u64, end: u64) -> (u64, u64) {
        let (index_count, block_rows) = (self.dims.index_count, self.block_rows());
        (
            start / index_count * block_rows,
            ((end - 1) / index_count + 1) * block_rows,
        )
    }

    /// How many params rows a block has. Params without rows gets a window with one row, which no index selects.
    pub(super) fn block_rows(&self) -> u64 {
        self.dims.held_rows.max(1)
    }

    /// A chunk's windows: each has as many params rows as a binding holds, and the output rows that may need them.
    pub(super) fn windows(&self, chunk: Tile) -> impl Iterator<Item = Tile> {
        let (index_count, block_rows) = (self.dims.index_count, self.block_rows());
        let (start, end) = chunk.output_rows;
        let (mut row, last_row) = chunk.params_rows;
        std::iter::from_fn(move || {
            if row == last_row {
                return None;
            }
            let row_end = self.window_end(row, chunk.piece).min(last_row);
            let rows_start = start.max(row / block_rows * index_count);
            let rows_end = end.min(((row_end - 1) / block_rows + 1) * index_count);
            let window = Tile {
                output_rows: (rows_start, rows_end),
                params_rows: (row, row_end),
                ..chunk
            };
            row = row_end;
            Some(window)
        })
    }

    /// Where the window that starts with params row `row` ends, so that its winners lie in one buffer, as a dispatch binds one.
    /// All blocks of a batch share winners.
    fn winners_end(&self, row: u64) -> u64 {
        let of_buffer = self.winner_rows;
        if of_buffer == u64::MAX {
            return u64::MAX;
        }
        let (block_rows, outer_size) = (self.block_rows(), self.dims.outer_size);
        let (block, of_block) = (row / block_rows, row % block_rows);
        let batch = block / outer_size;
        let buffer_end = ((batch * block_rows + of_block) / of_buffer + 1) * of_buffer;
        let whole_batches_end = buffer_end / block_rows;
        if outer_size == 1 {
            buffer_end
        } else if whole_batches_end > batch && (batch * block_rows + of_buffer) >= buffer_end {
            whole_batches_end * outer_size * block_rows
        } else {
            let end_of_block = (buffer_end - batch * block_rows).min(block_rows);
            block * block_rows + end_of_block
        }
    }

    /// Where the window that starts with params row `row` ends.
    fn window_end(&self, row: u64, piece: u64) -> u64 {
        if self.dims.held_rows == 0 || !self.is_whole() {
            return row + 1;
        }
        let held = self.shards.of(row);
        let start =
            held.start + (row - held.first_row) * self.params_stride + self.in_params(piece);
        let slice_bytes = self.in_params(self.slice_bytes);
        let mut rows = self.rows_in_binding(start, self.params_stride, slice_bytes);
        for qparam in self.qparams {
            let Range { start, end } =
                self.qparam_bytes(qparam, (row, row + 1), 0..self.slice_bytes);
            if start < end {
                let stride = qparam.parts.bytes_of(self.dims.params_stride);
                rows = rows.min(self.rows_in_binding(start, stride, end - start));
            }
        }
        let end = (row + rows).min(held.end_row).min(self.winners_end(row));
        match end < held.end_row {
            true => {
                let whole = self.whole_blocks_end((row, end), self.block_rows());
                whole.unwrap_or(end)
            }
            false => end,
        }
    }
}
