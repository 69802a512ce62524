//! The bytes of a piece of a slice within a device's limits, and the least limits that a cut needs.

use super::Cut;
use crate::error::GatherError;
use crate::gpu::bound::common_alignment;
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::types::{WORD_BYTES, range_bytes};
use crate::plan::dims::spanned;

/// Pieces, except the last of a slice, have a multiple of this many bytes: whole units of every kernel.
const PIECE_BYTES_STEP: u64 = 16;

impl Cut<'_> {
    /// Bytes of a piece: of a whole slice, unless a binding or a dispatch holds less.
    pub(super) fn fitting_piece_bytes(&self) -> Result<u64, GatherError> {
        let slices = self.least_bytes_for_slices();
        let index_rows = self.least_bytes_for_index_rows();
        let most_piece = self.most_piece_bytes();
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
        if slices <= self.binding_bytes && self.slice_bytes <= most_piece {
            return Ok(self.slice_bytes);
        }
        let held = self.binding_bytes.saturating_sub(self.alignment);
        Ok(held.min(most_piece) / PIECE_BYTES_STEP * PIECE_BYTES_STEP)
    }

    /// The least bytes of a binding that holds either the largest shard and the output whole, or any slice.
    fn least_bytes_for_slices(&self) -> u64 {
        let spanned = |rows, stride| spanned(rows, stride, self.slice_bytes);
        let shards = self.shards.iter();
        let shards = shards.map(|shard| shard.start + spanned(shard.rows, self.params_stride));
        let output = self.output_start + spanned(self.dims.output_rows(), self.output_stride);
        let whole = shards.fold(output, u64::max);
        let before = self.alignment - self.slice_alignment;
        range_bytes(whole.min(self.slice_bytes.saturating_add(before)))
    }

    /// The least bytes of a binding that holds either the indices whole, or any index row.
    fn least_bytes_for_index_rows(&self) -> u64 {
        let (start, bytes) = (self.indices_start, self.index_row_bytes);
        let before = self.alignment - common_alignment([start, bytes], self.alignment);
        let all_rows = self.dims.index_rows().saturating_mul(bytes);
        range_bytes(all_rows.saturating_add(start).min(bytes + before))
    }

    /// The most bytes of a slice that one dispatch can copy: a word for each lane, less for a slice that starts within
    /// a word.
    fn most_piece_bytes(&self) -> u64 {
        (self.max_workgroups * u64::from(WORKGROUP_SIZE * WORD_BYTES)).saturating_sub(8)
    }
}
