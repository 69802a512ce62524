//! The bytes of a piece of a slice within a device's limits, and the least limits that a cut needs.

use super::Cut;
use crate::error::GatherError;
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::types::{WORD_BYTES, range_bytes};
use crate::plan::dims::spanned;

/// Pieces, except the last of a slice, have a multiple of this many bytes: whole units of every kernel.
const PIECE_BYTES_STEP: u64 = 16;

impl Cut<'_> {
    /// Cuts slices into pieces if a binding or a dispatch does not hold a whole slice.
    pub(super) fn fit_pieces(&mut self) -> Result<(), GatherError> {
        let slices = self.least_bytes_for_slices();
        let index_rows = self.least_bytes_for_index_rows();
        let most_piece = self.most_piece_bytes();
        if slices > self.binding_bytes || self.slice_bytes > most_piece {
            self.piece_bytes = (self.binding_bytes.saturating_sub(self.alignment)).min(most_piece)
                / PIECE_BYTES_STEP
                * PIECE_BYTES_STEP;
        }
        let least_piece = slices.min(self.alignment + PIECE_BYTES_STEP);
        for (name, expected, found) in [
            (
                "max_compute_workgroups_per_dimension",
                1,
                self.max_grid_width,
            ),
            (
                "max_storage_buffer_binding_size",
                least_piece.max(index_rows),
                self.binding_bytes,
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
        Ok(())
    }

    /// The least bytes of a binding that holds either the largest shard and the output whole, or any slice.
    fn least_bytes_for_slices(&self) -> u64 {
        let spanned = |rows, stride| spanned(rows, stride, self.slice_bytes);
        let shards = self.layout.shards.iter();
        let shards = shards.map(|shard| shard.start + spanned(shard.rows, self.params_stride));
        let output =
            self.layout.output_start + spanned(self.dims.output_rows(), self.output_stride);
        let whole = shards.fold(output, u64::max);
        let any_slice = self
            .slice_bytes
            .saturating_add(self.most_before(self.place_bits));
        range_bytes(whole.min(any_slice))
    }

    /// The most bytes from an offset that can be bound to a place whose number has only `bits`.
    fn most_before(&self, bits: u64) -> u64 {
        let step = bits.trailing_zeros().min(self.alignment.trailing_zeros());
        self.alignment - (1 << step)
    }

    /// The least bytes of a binding that holds either the indices whole, or any index row.
    fn least_bytes_for_index_rows(&self) -> u64 {
        let start = self.layout.indices_start;
        let any_row = self.index_row_bytes + self.most_before(self.index_row_bytes | start);
        let all_rows = self.dims.index_rows().saturating_mul(self.index_row_bytes);
        range_bytes(all_rows.saturating_add(start).min(any_row))
    }

    /// The most bytes of a slice that one dispatch can copy: a word for each lane, less for a slice that starts within
    /// a word.
    fn most_piece_bytes(&self) -> u64 {
        (self.max_workgroups * u64::from(WORKGROUP_SIZE * WORD_BYTES)).saturating_sub(8)
    }
}
