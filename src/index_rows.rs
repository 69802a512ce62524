//! What each index row selects, as the host works it out.

use std::ops::Range;

use crate::bad_indices::{BadIndexError, BadIndices, NegativeIndices};
use crate::dims::GatherDims;
use crate::element::GatherIndex;
use crate::plan::GatherPlan;

/// The index rows of a plan.
#[derive(Debug)]
pub(crate) struct IndexRows<'a, I> {
    indices: &'a [I],
    plan: &'a GatherPlan,
    dims: &'a GatherDims,
    from_end: bool,
    clamp: bool,
}

impl<'a, I: GatherIndex> IndexRows<'a, I> {
    /// `indices` has the length that the plan gives it.
    pub(crate) fn new(plan: &'a GatherPlan, indices: &'a [I]) -> Self {
        Self {
            indices,
            plan,
            dims: plan.dims(),
            from_end: plan.negative_indices() == NegativeIndices::FromEnd,
            clamp: plan.bad_indices() == BadIndices::Clamp,
        }
    }

    /// The index rows whose values are in memory: none at index depth 0, where no row can be bad.
    pub(crate) fn len(&self) -> usize {
        let index_depth = self.dims.index_depth();
        self.indices.len().checked_div(index_depth).unwrap_or(0)
    }

    /// The values of one index row, counted over all batches.
    fn values(&self, row: usize) -> &'a [I] {
        let index_depth = self.dims.index_depth();
        &self.indices[row * index_depth..(row + 1) * index_depth]
    }

    /// The row of its part of params that an index row selects, if all its values are in range.
    #[inline]
    pub(crate) fn selected(&self, row: usize) -> Option<u64> {
        let mut index = self.values(row).iter().zip(&self.dims.indexed_dims);
        let selected = index.try_fold(0, |row, (index, &dim)| {
            let position = if self.clamp {
                Some(index.clamped(dim, self.from_end)).filter(|&position| position < dim)
            } else {
                index.resolve(dim, self.from_end)
            };
            position.map(|position| row * dim + position)
        })?;
        if !self.dims.has_places() {
            return Some(selected);
        }
        let place = self.dims.place(row as u64 % self.dims.index_count);
        Some(selected * self.dims.index_stride + place)
    }

    /// The same row counted in the params of a shard, if they hold it.
    #[inline]
    pub(crate) fn held(&self, selected: u64) -> Option<u64> {
        selected
            .checked_sub(self.dims.first_row)
            .filter(|&row| row < self.dims.held_rows)
    }

    /// The values of some index rows, at the depth that they have.
    #[inline]
    pub(crate) fn values_of<const DEPTH: usize>(&self, rows: Range<usize>) -> &'a [I] {
        &self.indices[rows.start * DEPTH..rows.end * DEPTH]
    }

    pub(crate) fn gather_dims(&self) -> &'a GatherDims {
        self.dims
    }

    /// The values of some index rows of one value each.
    pub(crate) fn values_at(&self, rows: Range<usize>) -> &'a [I] {
        &self.indices[rows]
    }

    /// Whether what an index row selects depends on its place too, params holds all rows, and what is not in its dims
    /// is bad.
    pub(crate) fn are_whole_with_places(&self) -> bool {
        self.dims.has_places() && self.dims.held_rows == self.dims.row_count && !self.clamp
    }

    pub(crate) fn counts_from_end(&self) -> bool {
        self.from_end
    }

    /// The error that names the first bad one of these index rows.
    pub(crate) fn check(&self, mut rows: Range<usize>) -> Result<(), BadIndexError> {
        match rows.find(|&row| self.selected(row).is_none()) {
            None => Ok(()),
            Some(row) => Err(self.bad_index(row)),
        }
    }

    /// The error that names an index row.
    pub(crate) fn bad_index(&self, row: usize) -> BadIndexError {
        let index = self.values(row).iter().map(|index| index.value());
        BadIndexError::new(self.plan, row as u64, index.collect())
    }
}
