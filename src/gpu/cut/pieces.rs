//! How large a piece of a slice may be within a device's limits, and the least limits that a cut needs.

use super::Cut;
use crate::error::GatherError;
use crate::gpu::bound::common_alignment;
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::types::{WORD_BYTES, range_bytes};
use crate::plan::dims::spanned;

/// A piece has a multiple of this many bytes, except a slice's last piece: so it is whole units in every kernel. If params is
/// decoded, a piece is whole blocks too.
const PIECE_BYTES_STEP: u64 = 16;

impl Cut<'_> {
    /// The bytes in a piece: a whole slice, unless a binding or a dispatch holds less.
    pub(super) fn fitting_piece_bytes(&self) -> Result<u64, GatherError> {
        let slices = self.least_bytes_for_slices();
        let index_rows = self.least_bytes_for_index_rows();
        let most_piece = self.most_piece_bytes();
        let step = self.piece_step();
        let [params_before, output_before] = self.most_before_piece();
        let [scales, zero_points] = self.in_qparam(step);
        // The bytes that a step takes in each operand, and the most before them.
        let steps = [
            (output_before, step),
            (params_before, self.in_params(step)),
            (self.alignment, scales),
            (self.alignment, zero_points),
        ];
        let steps = steps.into_iter().filter(|&(_, bytes)| bytes > 0);
        let least = |(before, bytes): (u64, u64)| bytes.saturating_add(before);
        let least_piece = steps.clone().map(least).fold(0, u64::max);
        let least_piece = slices.min(least_piece);
        for (name, expected, found) in [
            (
                "max_compute_workgroups_per_dimension",
                self.least_grid_width(step),
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
        let most_piece = match most_piece < self.slice_bytes {
            true => most_piece / step * step,
            false => self.slice_bytes,
        };
        if slices <= self.binding_bytes {
            return Ok(most_piece);
        }
        let held = |before: u64, step_bytes: u64| {
            self.binding_bytes.saturating_sub(before) / step_bytes * step
        };
        let pieces = steps.map(|(before, bytes)| held(before, bytes));
        Ok(pieces.fold(most_piece, u64::min))
    }

    /// How wide the smallest grid is that has a lane for each word of a step.
    fn least_grid_width(&self, step: u64) -> u64 {
        let workgroups = (step.min(self.slice_bytes) + self.most_half_before_piece())
            .div_ceil(u64::from(WORKGROUP_SIZE * WORD_BYTES));
        match workgroups.isqrt() {
            width if width * width == workgroups => width,
            width => width + 1,
        }
    }

    /// How many bytes each of the qparams has for so many output bytes of a slice.
    fn in_qparam(&self, output_bytes: u64) -> [u64; 2] {
        let len = output_bytes / self.element_bytes;
        self.qparams.map(|qparam| qparam.parts.bytes_of(len))
    }

    /// A piece has a multiple of this many output bytes, except a slice's last piece.
    fn piece_step(&self) -> u64 {
        match self.decoding {
            Some(_) => self.part_bytes() * PIECE_BYTES_STEP.div_ceil(self.part_bytes()),
            None => PIECE_BYTES_STEP,
        }
    }

    /// The most bytes from an aligned offset to a piece: in params, and in the output.
    fn most_before_piece(&self) -> [u64; 2] {
        let step = self.piece_step();
        match self.decoding {
            None => [self.alignment; 2],
            Some(_) => [
                (self.in_params(step), self.params_alignment),
                (step, self.output_alignment),
            ]
            .map(|(step, slices)| self.alignment - common_alignment([step], slices)),
        }
    }

    /// How many bytes a binding must hold at least, so that it holds the largest shard and the output whole, or else any slice.
    fn least_bytes_for_slices(&self) -> u64 {
        let shards = self.shards.different();
        let params_slice = self.in_params(self.slice_bytes);
        let shards =
            shards.map(|shard| shard.start + spanned(shard.rows, self.params_stride, params_slice));
        let (rows, stride) = (self.dims.output_rows(), self.output_stride);
        let output = self.output_start + spanned(rows, stride, self.slice_bytes);
        let whole = shards.fold(output, u64::max);
        let rows = (0, self.dims.params_rows());
        let qparams = self
            .qparams
            .map(|qparam| self.qparam_bytes(qparam, rows, 0..self.slice_bytes));
        let whole = qparams
            .iter()
            .fold(whole, |whole, bytes| whole.max(bytes.end));
        let any = |slice: u64, alignment: u64| slice.saturating_add(self.alignment - alignment);
        let in_params = any(params_slice, self.params_alignment);
        let in_output = any(self.slice_bytes, self.output_alignment);
        let in_qparam = match self.in_qparam(self.slice_bytes) {
            [0, 0] => 0,
            [scales, zero_points] => any(scales.max(zero_points), 1),
        };
        range_bytes(whole.min(in_params.max(in_output).max(in_qparam)))
    }

    /// How many bytes a binding must hold at least, so that it holds all indices, or else any index row.
    fn least_bytes_for_index_rows(&self) -> u64 {
        let (start, bytes) = (self.indices_start, self.index_row_bytes);
        let before = self.alignment - common_alignment([start, bytes], self.alignment);
        let all_rows = self.dims.index_rows().saturating_mul(bytes);
        range_bytes(all_rows.saturating_add(start).min(bytes + before))
    }

    /// The most bytes of one slice that a dispatch can copy: a word for each lane, less if the slice may start within a word.
    fn most_piece_bytes(&self) -> u64 {
        let lanes = self.max_workgroups * u64::from(WORKGROUP_SIZE * WORD_BYTES);
        match self.decoding {
            Some(_) => lanes - self.most_half_before_piece(),
            None => lanes.saturating_sub(8),
        }
    }

    /// The bytes of a half that may lie before a piece, in the word in which it starts.
    fn most_half_before_piece(&self) -> u64 {
        match common_alignment([self.piece_step()], self.output_alignment) {
            2 if self.decoding.is_some() => 2,
            _ => 0,
        }
    }
}
