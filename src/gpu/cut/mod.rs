//! Cuts a plan to a device's limits: which rows each dispatch gathers, and which bytes of each operand it binds. Pure:
//! a function of sizes and limits, for plans of any size.
//!
//! ```text
//! for each chunk of output rows        as many rows as bindings of output and indices hold
//!     for each piece of a slice        one, unless a slice is longer than a binding or a dispatch holds
//!         for each window of params    as many rows as a binding holds, of the rows that the chunk may need
//!             one dispatch             of the chunk's rows that may need the window; two if some rows are left over
//! ```
//!
//! Exactly one dispatch writes each piece of an output row: the dispatch that binds the params row, or, if the index
//! row is bad or selects a row outside the shard, the dispatch that binds the first row of the block. Dispatches are in
//! the order of rows, so the first dispatch that reports a bad row reports the smallest.

mod blocks;
mod dispatch;
mod pieces;
mod shards;
mod tiles;

use std::ops::Range;

pub(crate) use self::dispatch::Dispatch;
pub(crate) use self::shards::{Shard, Shards};
use super::bound::{alignment, binding_bytes, common_alignment};
use super::find_rows::FindRows;
use super::kernel::{Unit, WORKGROUP_SIZE, check_element_dims};
use super::placed::Placed;
use super::types::TypedPlan;
use super::update::Update;
use crate::encoding::{Decoding, Parts};
use crate::error::GatherError;
use crate::plan::GatherDims;
use crate::plan::dims::spanned;

/// The most invocations in a dispatch, and the most rows from its first block's start: the shader numbers both in 32 bits.
const MAX_COUNT: u64 = 1 << 31;

/// Scales or zero points. They start `start` bytes after the last aligned offset; `parts` says how many bytes they have for each
/// part of params.
#[derive(Debug, Clone, Copy)]
struct Qparam {
    start: u64,
    parts: Parts,
}

/// The slots of a sum of halves, an `f32` for each: see shaders/fold_halves.wgsl.
const SLOTS: Qparam = Qparam {
    start: 0,
    parts: Parts::elements(4),
};

/// A gather in bytes, and how many bytes and workgroups one dispatch may take.
#[derive(Debug, Clone)]
pub(crate) struct Cut<'a> {
    dims: &'a GatherDims,
    find: FindRows,
    fill_words: u32,
    /// True if only the device knows how many index rows there are. Each dispatch then takes one block, and none packs.
    is_indirect: bool,
    /// How a scatter updates; `None` for a gather.
    update: Option<Update>,
    /// How many rows one buffer of winners has, if a scatter has several; else `u64::MAX`.
    winner_rows: u64,
    shards: Shards,
    indices_start: u64,
    output_start: u64,
    /// How the gather decodes params, if it does.
    decoding: Option<Decoding>,
    element_bytes: u64,
    /// The parts of params that no gather cuts.
    parts: Parts,
    /// Scales and zero points; without bytes if there are none. In a sum of halves the first is the slots.
    qparams: [Qparam; 2],
    /// The output bytes in a slice. In params a slice has as many, unless it is encoded.
    slice_bytes: u64,
    /// Bytes from one params row to the next, and from one output row to the next.
    params_stride: u64,
    output_stride: u64,
    /// The alignment that every slice has in params, and in the output, in bytes: powers of two.
    params_alignment: u64,
    output_alignment: u64,
    /// The output bytes in a piece of a slice: `slice_bytes`, unless slices are cut.
    piece_bytes: u64,
    index_row_bytes: u64,
    /// The most bytes that a dispatch binds of an operand.
    binding_bytes: u64,
    alignment: u64,
    max_workgroups: u64,
    max_grid_width: u64,
}

/// A part of the gather, which is cut into smaller ones: output rows with a piece of their slices, and the params rows that they
/// may need.
#[derive(Debug, Clone, Copy)]
struct Tile {
    output_rows: (u64, u64),
    /// Params rows, counted over all blocks.
    params_rows: (u64, u64),
    /// At which output byte of the slice the piece starts: 0, unless slices are cut.
    piece: u64,
}

impl<'a> Cut<'a> {
    /// Cuts a call; an error if the limits hold no piece of a slice.
    pub(crate) fn new(
        typed: TypedPlan<'a>,
        placed: &Placed,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let TypedPlan {
            plan,
            types,
            parts,
            qparam_parts,
            update,
            ..
        } = typed;
        let shards = placed.shards.clone();
        let dims = plan.dims();
        let in_bytes = |elements: u64| elements.saturating_mul(types.element_bytes);
        let slice_bytes = in_bytes(dims.slice_len);
        let output_stride = in_bytes(dims.output_stride);
        let params_stride = parts.bytes_of(dims.params_stride);
        let alignment = alignment(limits);
        let held = shards.different().filter(|shard| shard.rows > 0);
        let starts = held.map(|shard| shard.start);
        let params_slice = parts.bytes_of(dims.slice_len);
        let params_offsets = starts.chain([params_stride, params_slice]);
        let params_alignment = common_alignment(params_offsets, alignment);
        let output_offsets = [placed.output_start, output_stride, slice_bytes];
        let max_grid_width = u64::from(limits.max_compute_workgroups_per_dimension);
        let mut cut = Self {
            dims,
            find: FindRows::of_plan(plan, types.index_kind),
            fill_words: placed.fill.words,
            // Folds skip index rows beyond the index count, by their key.
            is_indirect: placed.has_index_count && !matches!(update, Some(Update::Fold(..))),
            update,
            winner_rows: u64::MAX,
            params_alignment,
            shards,
            output_alignment: common_alignment(output_offsets, alignment),
            indices_start: placed.indices_start,
            output_start: placed.output_start,
            decoding: types.decodes(),
            element_bytes: types.element_bytes,
            parts,
            qparams: [0, 1].map(|operand| match update {
                Some(update) if operand == 0 && update.has_slots() => SLOTS,
                _ => Qparam {
                    start: placed.qparam_starts[operand].unwrap_or(0),
                    parts: qparam_parts[operand],
                },
            }),
            slice_bytes,
            params_stride,
            output_stride,
            piece_bytes: slice_bytes,
            index_row_bytes: dims.index_depth() as u64 * types.index_kind.bytes(),
            binding_bytes: binding_bytes(limits),
            alignment,
            max_workgroups: max_grid_width
                .saturating_mul(max_grid_width)
                .min(MAX_COUNT / u64::from(WORKGROUP_SIZE)),
            max_grid_width,
        };
        if dims.output_len() > 0 {
            check_element_dims(dims)?;
            cut.piece_bytes = cut.fitting_piece_bytes()?;
        }
        Ok(cut)
    }

    /// As `self`, where one buffer of winners has so many rows.
    pub(crate) fn with_winner_rows(self, winner_rows: u64) -> Self {
        Self {
            winner_rows,
            ..self
        }
    }

    /// The bytes of all slots of a sum of halves; 0 if one chunk has all updates, so that the target needs none.
    pub(crate) fn slots_bytes(&self) -> u64 {
        let next = self.first_chunk().and_then(|chunk| self.chunk_after(chunk));
        let rows = (0, self.dims.params_rows());
        match next {
            Some(_) => (self.qparam_bytes(self.qparams[0], rows, 0..self.slice_bytes)).end,
            None => 0,
        }
    }

    /// The most rows that one dispatch can gather with any kernel. A row takes a lane for each word, rounded up to a power of
    /// two, since a workgroup may hold only one row that fills more than half its lanes.
    fn most_rows(&self) -> u64 {
        // The kernel for bytes has lanes for words in gaps too.
        let row_bytes = match (self.unit(), self.update) {
            (None, None) => self.piece_bytes.max(self.output_stride),
            (None, Some(_)) => 4 * self.touched_words(self.piece_bytes),
            (Some(_), _) => self.piece_bytes,
        };
        let row_lanes = row_bytes.div_ceil(4).next_power_of_two();
        let lanes = self.max_workgroups * u64::from(WORKGROUP_SIZE);
        // Rows that start within a word take one lane more, for which one row less leaves room.
        (lanes / row_lanes).saturating_sub(1).clamp(1, MAX_COUNT)
    }

    /// The most words that a piece of so many bytes may touch in a scatter's target.
    fn touched_words(&self, piece_bytes: u64) -> u64 {
        (piece_bytes + 4 - self.params_alignment.min(4)).div_ceil(4)
    }

    /// The unit by which slices are copied; `None` if they are no whole units.
    fn unit(&self) -> Option<Unit> {
        Unit::of(self.slice_alignment(), self.fill_words, self.decoding)
    }

    /// A power of two, in bytes, that divides all slice offsets that decide the unit.
    fn slice_alignment(&self) -> u64 {
        match self.decoding {
            // A slice with several rows along the last dim is decoded value by value.
            Some(of) if of.encoding.has_whole_rows() && self.slice_bytes != self.part_bytes() => {
                self.output_alignment.min(self.element_bytes)
            }
            Some(_) => self.output_alignment,
            None => {
                let unit = self.update.map_or(u64::MAX, Update::most_unit_bytes);
                self.output_alignment.min(self.params_alignment).min(unit)
            }
        }
    }

    /// The output bytes that a part of decoded params has.
    fn part_bytes(&self) -> u64 {
        self.parts.len.saturating_mul(self.element_bytes)
    }

    /// How many bytes params has for so many output bytes of a slice.
    fn in_params(&self, output_bytes: u64) -> u64 {
        match self.decoding {
            Some(_) => self.parts.bytes_of(output_bytes / self.element_bytes),
            None => output_bytes,
        }
    }

    /// Where `qparam` lies for params rows from `row` on, or for a piece of them: bytes from an aligned offset on.
    fn qparam_bytes(
        &self,
        qparam: Qparam,
        (row, row_end): (u64, u64),
        piece: Range<u64>,
    ) -> Range<u64> {
        let in_qparam = |bytes: u64| qparam.parts.bytes_of(bytes / self.element_bytes);
        let stride = qparam.parts.bytes_of(self.dims.params_stride);
        let first = qparam.start + row * stride + in_qparam(piece.start);
        first..first + spanned(row_end - row, stride, in_qparam(piece.end - piece.start))
    }

    fn is_whole(&self) -> bool {
        self.piece_bytes == self.slice_bytes
    }

    /// How many rows a binding holds, if each has `row_bytes` bytes and starts `stride` bytes after the one before, the first
    /// `start` bytes after an aligned offset.
    fn rows_in_binding(&self, start: u64, stride: u64, row_bytes: u64) -> u64 {
        match (self.binding_bytes - start % self.alignment).checked_sub(row_bytes) {
            // One slice of updates serves all rows.
            Some(_) if stride == 0 => u64::MAX,
            Some(more) => more / stride + 1,
            None => 0,
        }
    }

    /// How many bytes lie between an aligned offset and an index row.
    fn index_row_start(&self, index_row: u64) -> u64 {
        self.indices_start + index_row * self.index_row_bytes
    }

    /// How many bytes lie between an aligned offset and an output row.
    fn output_row_start(&self, row: u64) -> u64 {
        self.output_start + row * self.output_stride
    }
}

#[cfg(test)]
mod tests;
