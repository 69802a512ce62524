//! The chunks of the output: as many consecutive rows as bindings of output and indices hold, or a piece of one row.

use super::{Cut, MAX_COUNT};

/// Some output rows, or one piece of an output row: consecutive bytes of the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub(super) start: u64,
    pub(super) end: u64,
    /// The byte of the slice at which the piece starts: 0, unless slices are cut.
    pub(super) piece: u64,
}

impl Cut<'_> {
    /// The first chunk; `None` if the output is empty.
    pub(super) fn first_chunk(&self) -> Option<Chunk> {
        (self.dims.output_len() > 0).then(|| self.chunk_from(0, 0))
    }

    /// The chunk whose output starts where the output of `chunk` ends; `None` at the end.
    pub(super) fn chunk_after(&self, chunk: Chunk) -> Option<Chunk> {
        let Chunk { start, end, piece } = chunk;
        let piece = piece + self.piece_bytes;
        if piece < self.slice_bytes {
            return Some(self.chunk_from(start, piece));
        }
        (end < self.dims.output_rows()).then(|| self.chunk_from(end, 0))
    }

    /// The chunk that starts with the piece at byte `piece` of output row `start`.
    fn chunk_from(&self, start: u64, piece: u64) -> Chunk {
        let (index_count, outer_size) = (self.dims.index_count, self.dims.outer_size);
        let batch_rows = outer_size * index_count;
        let block_end = (start / index_count + 1) * index_count;
        let batch = start / batch_rows;

        let rows = self.most_rows().min(match self.is_whole() {
            true => self.rows_in(
                self.layout.output_start + start * self.output_stride + piece,
                self.output_stride,
                self.slice_bytes,
            ),
            false => 1,
        });
        let mut end = (start + rows).min(self.dims.output_rows());
        if self.dims.repeats_index_rows() {
            end = self.end_of_repeated(start, end);
        } else if self.index_row_bytes > 0 {
            // A binding of indices holds whole batches, or some rows of one batch.
            let first = batch * index_count;
            let held = self.index_rows_in_chunk(first);
            end = end.min(if held >= index_count {
                (batch + held / index_count).saturating_mul(batch_rows)
            } else {
                let first = first + start % index_count;
                let held = self.index_rows_in_chunk(first);
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
            if last - first < self.index_rows_in_chunk(first) {
                break;
            }
            end = start + (end - start) / 2;
        }
        end
    }
}
