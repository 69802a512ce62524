//! The params rows that index rows select: for the copy loop, scatters, the mask and errors.

use std::ops::Range;

use super::cursor::Cursor;
use crate::bad_indices::{Beyond, NegativeIndices};
use crate::error::BadIndexError;
use crate::index::Index;
use crate::memory::address;
use crate::plan::GatherPlan;

/// Stands for the params row of a bad row.
const BAD_ROW: u64 = u64::MAX;

/// Stands for a params row that the plan's shard does not hold.
pub(super) const NOT_HELD: u64 = u64::MAX - 1;

/// Output rows of a block from which the copy loop begins anew for it: less often, rows of several blocks are sooner located
/// together.
const MIN_BLOCK_ROWS: u64 = 32;

/// Rows that are located in one step, before their copies or updates. Memory idles meanwhile, so a step is short.
pub(super) const LOCATED_ROWS: usize = 256;

/// Indices that a check judges together.
const CHECKED_INDICES: usize = 64;

/// The index rows of a plan, with their values.
#[derive(Debug)]
pub(super) struct IndexRows<'a, I> {
    indices: &'a [I],
    pub(super) plan: &'a GatherPlan,
    pub(super) from_end: bool,
    pub(super) beyond: Beyond,
}

impl<'a, I: Index> IndexRows<'a, I> {
    /// `indices` must have the length that the plan gives it.
    pub(super) fn new(plan: &'a GatherPlan, indices: &'a [I]) -> Self {
        Self {
            indices,
            plan,
            from_end: plan.negative_indices == NegativeIndices::FromEnd,
            beyond: plan.bad_indices().beyond(),
        }
    }

    /// The values of index rows `rows`, counted over all batches.
    pub(super) fn values_of(&self, rows: Range<usize>) -> &'a [I] {
        let index_depth = self.plan.dims().index_depth();
        &self.indices[rows.start * index_depth..rows.end * index_depth]
    }

    /// True if the copy loop works out the params rows of index rows itself, as [`as_rows`](Self::as_rows) gives them. All of
    /// these hold:
    ///
    /// * an index row has `DEPTH` values;
    /// * params has one block, or each block is much longer than `rows_ahead`, as prefetch looks ahead in a block only;
    /// * index rows are [plain](Self::are_plain);
    /// * at most one of these is true: an index row has two values, an index has 8 or 16 bits, its sign is read.
    ///
    /// The copy loop is compiled anew for each type of index that it reads. Other rows are located first.
    #[inline(always)]
    pub(super) fn are_rows<const DEPTH: usize>(&self, rows_ahead: usize) -> bool {
        let (is_narrow, is_signed) = (I::KIND.bytes() < 4, I::KIND.is_signed());
        // Said without a loop, so that the compiler leaves out the copy loop even where it inlines little.
        if DEPTH > 1 && (is_narrow || is_signed) || is_narrow && is_signed {
            return false;
        }
        let dims = self.plan.dims();
        let is_one_block = dims.batch_size * dims.outer_size == 1;
        let are_long = dims.index_count >= MIN_BLOCK_ROWS.max(4 * rows_ahead as u64);
        dims.index_depth() == DEPTH
            && (is_one_block || are_long)
            && !dims.has_element_dims()
            && self.are_plain()
    }

    /// Index rows `rows`, which lie in one batch, for the copy loop.
    #[inline(always)]
    pub(super) fn as_rows<const DEPTH: usize>(&self, rows: Range<usize>) -> Indices<'a, I, DEPTH> {
        let dims = std::array::from_fn(|k| self.plan.dims().indexed_dims[k]);
        Indices {
            index_rows: self.values_of(rows).as_chunks().0,
            dims,
            added: dims.map(|dim| added(dim, self.from_end)),
        }
    }

    /// Fills `rows` with the params rows of the output rows from `output_row` on, counted over all blocks of params:
    /// [`BAD_ROW`] for a bad row, [`NOT_HELD`] for a row outside the shard.
    #[inline(never)]
    pub(super) fn locate(&self, output_row: u64, rows: &mut [u64]) {
        let (from_end, beyond) = (self.from_end, self.beyond);
        let dims = self.plan.dims();
        // Depth 1, that of most gathers, has a loop of its own.
        match dims.indexed_dims[..] {
            [] => self.locate_by(output_row, rows, |_, _| Some(0)),
            [dim] if self.are_plain() && !I::KIND.is_signed() => match dims.has_element_dims() {
                true => self.locate_elements(output_row, rows, dim),
                false => self.locate_slices(output_row, rows, dim),
            },
            [dim] => self.locate_by(output_row, rows, |indices, k| {
                select(&indices[k..=k], &[dim], from_end, beyond)
            }),
            ref dims => self.locate_by(output_row, rows, |indices, k| {
                let index = &indices[k * dims.len()..][..dims.len()];
                select(index, dims, from_end, beyond)
            }),
        }
    }

    /// True if each index is the row that it selects, counted in its block, or if it is bad a number larger than all rows.
    pub(super) fn are_rows_of_blocks(&self) -> bool {
        let dims = self.plan.dims();
        let is_one_value = dims.index_depth() == 1 && !dims.has_element_dims();
        is_one_value && self.are_plain() && !I::KIND.is_signed()
    }

    /// True if each of these holds: an index row of a stretch is none of its neighbours, indices are neither clamped nor wrapped,
    /// and params has all rows of the plan.
    pub(super) fn are_plain(&self) -> bool {
        let dims = self.plan.dims();
        // Broadcasting may repeat an index row in a stretch.
        let repeats = (dims.element_dims.last()).is_some_and(|dim| dim.index_stride == 0);
        dims.held_rows == dims.row_count && self.beyond == Beyond::Bad && !repeats
    }

    /// Calls `locate` for each stretch of `rows`.
    #[inline(always)]
    fn for_each_stretch(
        &self,
        output_row: u64,
        mut rows: &mut [u64],
        locate: impl Fn(&Cursor<'_>, &mut [u64]),
    ) {
        let mut cursor = Cursor::at(self.plan.dims(), output_row);
        while !rows.is_empty() {
            let len = usize::try_from(cursor.left).map_or(rows.len(), |left| left.min(rows.len()));
            let (of_stretch, rest) = rows.split_at_mut(len);
            locate(&cursor, of_stretch);
            cursor.skip(len);
            rows = rest;
        }
    }

    /// As [`locate_by`](Self::locate_by), for unsigned indices into whole blocks.
    fn locate_elements(&self, output_row: u64, rows: &mut [u64], dim: u64) {
        self.for_each_stretch(output_row, rows, |cursor, rows| {
            let mut first = cursor.block_row + cursor.offset;
            let (stride, index_stride) = (cursor.innermost.stride, self.plan.dims().index_stride);
            let indices = &self.indices[address(cursor.index_row())..];
            for (row, index) in rows.iter_mut().zip(indices) {
                let position = index.position(0);
                *row = if position < dim {
                    first + position * index_stride
                } else {
                    BAD_ROW
                };
                first += stride;
            }
        });
    }

    /// As [`locate_by`](Self::locate_by), for unsigned indices whose positions are rows of their block.
    fn locate_slices(&self, output_row: u64, rows: &mut [u64], dim: u64) {
        self.for_each_stretch(output_row, rows, |cursor, rows| {
            let (block_row, first) = (cursor.block_row, address(cursor.index_row()));
            let indices = &self.indices[first..][..rows.len()];
            for (row, index) in rows.iter_mut().zip(indices) {
                let position = index.position(0);
                *row = if position < dim {
                    block_row + position
                } else {
                    BAD_ROW
                };
            }
        });
    }

    #[inline(always)]
    fn locate_by(
        &self,
        output_row: u64,
        rows: &mut [u64],
        select: impl Fn(&[I], usize) -> Option<u64>,
    ) {
        let dims = self.plan.dims();
        let (index_stride, first_held, held_rows) =
            (dims.index_stride, dims.first_row, dims.held_rows);
        self.for_each_stretch(output_row, rows, |cursor, rows| {
            let (mut offset, stride) = (cursor.offset, cursor.innermost.stride);
            // Broadcasting may repeat one index row in the whole stretch; else its index rows follow each other.
            let step = usize::from(cursor.innermost.index_stride > 0);
            let first = address(cursor.index_row());
            let indices = self.values_of(first..first + (rows.len() - 1) * step + 1);
            for (k, row) in rows.iter_mut().enumerate() {
                *row = match select(indices, k * step) {
                    None => BAD_ROW,
                    Some(selected) => {
                        let held = (selected * index_stride + offset).wrapping_sub(first_held);
                        match held < held_rows {
                            true => cursor.block_row + held,
                            false => NOT_HELD,
                        }
                    }
                };
                offset += stride;
            }
        });
    }

    /// Returns the error of the first bad row, if there is one. An index row without values is never bad.
    #[inline(never)]
    pub(super) fn check(&self) -> Result<(), BadIndexError> {
        let (dims, from_end) = (&self.plan.dims().indexed_dims[..], self.from_end);
        let mut chunks = self.indices.chunks(CHECKED_INDICES);
        let good_chunks = match *dims {
            // All numbers of a narrow type may be in range.
            [dim] if Self::are_all_below(dim) => None,
            // Without a branch or a comparison for each index: no dim has the highest bit, so only a position of `dim` or more
            // sets that of `bits`.
            [dim] if self.beyond == Beyond::Bad => chunks.position(|indices| {
                let bits = indices.iter().fold(0, |bits, index| {
                    let position = index.position(added(dim, from_end));
                    bits | position | dim.wrapping_sub(1).wrapping_sub(position)
                });
                bits >> 63 == 1
            }),
            _ => Some(0),
        };
        let first = good_chunks.map_or(self.indices.len(), |chunks| chunks * CHECKED_INDICES);
        let mut index_rows = self.indices[first..].chunks_exact(dims.len().max(1));
        let bad = index_rows.position(|index| select(index, dims, from_end, self.beyond).is_none());
        bad.map_or(Ok(()), |row| Err(self.bad_index(first + row)))
    }

    /// True if no number of the index type is beyond a dim of this size.
    fn are_all_below(dim: u64) -> bool {
        let bits = 8 * I::KIND.bytes();
        !I::KIND.is_signed() && bits < 64 && dim >> bits > 0
    }

    /// Notes for each index row whether one of its values is out of range, under any policy.
    pub(super) fn note_bad_rows(&self, bad_rows: &mut [bool]) {
        let (dims, from_end) = (&self.plan.dims().indexed_dims[..], self.from_end);
        let index_rows = self.indices.chunks_exact(dims.len().max(1));
        for (is_bad, index) in bad_rows.iter_mut().zip(index_rows) {
            *is_bad = match *dims {
                [dim] => index[0].position(added(dim, from_end)) >= dim,
                _ => select(index, dims, from_end, Beyond::Bad).is_none(),
            };
        }
    }

    /// The error that names the index row of an output row.
    pub(super) fn bad_index_of(&self, output_row: u64) -> BadIndexError {
        let row = Cursor::at(self.plan.dims(), output_row).index_row();
        self.bad_index(usize::try_from(row).expect("indices are in memory"))
    }

    /// The error that names an index row.
    pub(super) fn bad_index(&self, row: usize) -> BadIndexError {
        let index = self.values_of(row..row + 1).iter();
        self.plan
            .bad_index(row as u64, index.map(|index| index.value()).collect())
    }
}

/// Params rows, one for each output row in order.
pub(super) trait SelectedRows: Copy {
    fn len(self) -> usize;

    /// The first `count` rows.
    fn first(self, count: usize) -> Self;

    /// The params row that index row `k` selects. If index row `k` is bad, or selects a row that the shard does not
    /// hold, the result is `None` or a number beyond the rows of params.
    fn row(self, k: usize) -> Option<u64>;
}

impl SelectedRows for &[u64] {
    #[inline(always)]
    fn len(self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn first(self, count: usize) -> Self {
        &self[..count]
    }

    #[inline(always)]
    fn row(self, k: usize) -> Option<u64> {
        Some(self[k])
    }
}

/// Index rows of `DEPTH` values, whose row-major position in `dims` is the params row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indices<'a, I, const DEPTH: usize> {
    index_rows: &'a [[I; DEPTH]],
    dims: [u64; DEPTH],
    added: [u64; DEPTH],
}

impl<I: Index, const DEPTH: usize> SelectedRows for Indices<'_, I, DEPTH> {
    #[inline(always)]
    fn len(self) -> usize {
        self.index_rows.len()
    }

    #[inline(always)]
    fn first(self, count: usize) -> Self {
        Self {
            index_rows: &self.index_rows[..count],
            ..self
        }
    }

    #[inline(always)]
    fn row(self, k: usize) -> Option<u64> {
        let mut row = 0_u64;
        for ((value, dim), added) in self.index_rows[k].iter().zip(self.dims).zip(self.added) {
            let position = value.position(added);
            // The position of a single value is the row, which the copy loop compares with the row count.
            if DEPTH > 1 && position >= dim {
                return None;
            }
            row = row.wrapping_mul(dim).wrapping_add(position);
        }
        Some(row)
    }
}

/// The number that is added to an index below zero: its dim if `from_end`, else 0.
#[inline(always)]
fn added(dim: u64, from_end: bool) -> u64 {
    if from_end { dim } else { 0 }
}

/// The row-major position in `dims` of the values of one index row, if each value is in range.
#[inline(always)]
fn select<I: Index>(index: &[I], dims: &[u64], from_end: bool, beyond: Beyond) -> Option<u64> {
    let (mut selected, mut in_range) = (0_u64, true);
    for (&value, &dim) in index.iter().zip(dims) {
        let position = beyond.entry(value, dim, added(dim, from_end));
        in_range &= position < dim;
        // The product wraps only if a value is out of range.
        selected = selected.wrapping_mul(dim).wrapping_add(position);
    }
    in_range.then_some(selected)
}
