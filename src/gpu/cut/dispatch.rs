//! One dispatch of a cut: what it binds, and what the shader reads of it.

use super::{Cut, Window};
use crate::gpu::kernel::{Unit, WORKGROUP_SIZE};
use crate::gpu::window::{GatherWindow, low_and_high, range_bytes};

/// One dispatch, and the bytes of each operand that it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) window: GatherWindow,
    pub(crate) workgroups: (u32, u32),
    /// Which buffer of params.
    pub(crate) shard: usize,
    pub(crate) params: Span,
    pub(crate) indices: Span,
    pub(crate) output: Span,
}

/// Bytes of an operand, from its start: an aligned offset and whole words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Cut<'_> {
    /// The dispatch of a window.
    pub(crate) fn dispatch(&self, window: Window) -> Dispatch {
        let dims = self.dims;
        let part = window.part;
        let ((start, end), (row, row_end)) = (window.output_rows, window.params_rows);
        let (index_count, outer_size) = (dims.index_count, dims.outer_size);
        let part_bytes = self.part_bytes.min(self.slice_bytes - part);
        let (params_part, last_part) = (start / index_count, (end - 1) / index_count);
        let (batch, last_batch) = (params_part / outer_size, last_part / outer_size);

        // Within one part, or one batch, the shader needs no size to count beyond it.
        let (window_index_count, first_index, index_rows) = if params_part == last_part {
            let first = batch * index_count + start % index_count;
            (u32::MAX, 0, (first, first + (end - start)))
        } else {
            let index_rows = (batch * index_count, (last_batch + 1) * index_count);
            (size(index_count), size(start % index_count), index_rows)
        };
        let outer = params_part % outer_size;
        let (window_outer_size, first_outer) = if batch == last_batch {
            (u32::MAX, size(outer.min(1)))
        } else {
            (size(outer_size), size(outer))
        };

        let span = |start: u64, end: u64| {
            let offset = start / self.alignment * self.alignment;
            (
                Span {
                    offset,
                    bytes: range_bytes(end - offset),
                },
                start - offset,
            )
        };
        let slices = |start: u64, end: u64| {
            let start = start * self.slice_bytes + part;
            span(start, (end - 1) * self.slice_bytes + part + part_bytes)
        };
        let (output, output_start) = slices(start, end);
        let (indices, indices_start) = span(
            index_rows.0 * self.index_row_bytes,
            index_rows.1 * self.index_row_bytes,
        );
        let (shard, (params, params_start)) = if dims.held_rows == 0 {
            (
                0,
                (
                    Span {
                        offset: 0,
                        bytes: 0,
                    },
                    0,
                ),
            )
        } else {
            let (shard, shard_row, _) = self.shard_of(row);
            (shard, slices(row - shard_row, row_end - shard_row))
        };

        let unit_bytes = self.kernel.unit.bytes();
        let invocations = match self.kernel.unit {
            Unit::Byte => (output_start % 4 + (end - start) * part_bytes).div_ceil(4),
            Unit::Vec4 | Unit::Word => (end - start) << self.kernel.lanes_log2,
        };
        let workgroups = self.grid(invocations);
        let mut indexed_dims = [[0; 2]; 8];
        for (words, &dim) in indexed_dims.iter_mut().zip(&dims.indexed_dims) {
            *words = low_and_high(dim);
        }
        Dispatch {
            window: GatherWindow {
                output_rows: size(end - start),
                index_count: window_index_count,
                outer_size: window_outer_size,
                first_index,
                first_outer,
                index_depth: size(dims.index_depth() as u64),
                slice_units: size(part_bytes / unit_bytes),
                lanes_log2: self.kernel.lanes_log2,
                held_rows: low_and_high(dims.held_rows),
                first_row: low_and_high(dims.first_row),
                params_first_row: low_and_high(row - params_part * dims.held_rows.max(1)),
                params_rows: size(row_end - row),
                params_start: size(params_start / unit_bytes),
                indices_start: size(indices_start / 4),
                output_start: size(output_start / unit_bytes),
                grid_width: workgroups.0,
                reports: u32::from(part == 0),
                index_row_base: low_and_high(index_rows.0),
                unused: [0; 2],
                indexed_dims,
            },
            workgroups,
            shard,
            params,
            indices,
            output,
        }
    }

    /// As few rows of workgroups as the device allows, of equal width, that hold all invocations.
    fn grid(&self, invocations: u64) -> (u32, u32) {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE.into());
        let height = workgroups.div_ceil(self.max_workgroups);
        (size(workgroups.div_ceil(height)), size(height))
    }
}

/// A size within one dispatch: its bytes are counted in 32 bits, and so is all that makes them up.
fn size(size: u64) -> u32 {
    u32::try_from(size).expect("a size within one dispatch has 32 bits")
}
