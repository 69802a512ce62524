//! What each index row selects, as the host works it out.

use std::ops::Range;

use crate::bad_indices::{BadIndexError, NegativeIndices};
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
}

impl<I> Clone for IndexRows<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for IndexRows<'_, I> {}

impl<'a, I: GatherIndex> IndexRows<'a, I> {
    /// `indices` has the length that the plan gives it.
    pub(crate) fn new(plan: &'a GatherPlan, indices: &'a [I]) -> Self {
        Self {
            indices,
            plan,
            dims: plan.dims(),
            from_end: plan.negative_indices() == NegativeIndices::FromEnd,
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
        index.try_fold(0, |row, (index, &dim)| {
            index
                .resolve(dim, self.from_end)
                .map(|position| row * dim + position)
        })
    }

    /// The same row counted in the params of a shard, if they hold it.
    #[inline]
    pub(crate) fn held(&self, selected: u64) -> Option<u64> {
        selected
            .checked_sub(self.dims.first_row)
            .filter(|&row| row < self.dims.held_rows)
    }

    /// Where the slices that index rows select start: at `first` of params for row 0 of the part, `slice_len`
    /// further for each row. False if one of the rows is bad or not held, and what `starts` then holds is
    /// unspecified. Without branches, for it is what most blocks of rows are asked.
    pub(crate) fn all_starts(
        &self,
        first_row: usize,
        first: usize,
        slice_len: usize,
        starts: &mut [usize],
    ) -> bool {
        match self.dims.indexed_dims[..] {
            [dim] => self.all_starts_of([dim], first_row, first, slice_len, starts),
            [a, b] => self.all_starts_of([a, b], first_row, first, slice_len, starts),
            [a, b, c] => self.all_starts_of([a, b, c], first_row, first, slice_len, starts),
            _ => false,
        }
    }

    #[inline]
    fn all_starts_of<const DEPTH: usize>(
        &self,
        dims: [u64; DEPTH],
        first_row: usize,
        first: usize,
        slice_len: usize,
        starts: &mut [usize],
    ) -> bool {
        let rows = &self.indices[first_row * DEPTH..][..starts.len() * DEPTH];
        let (held_from, held_rows, from_end) =
            (self.dims.first_row, self.dims.held_rows, self.from_end);
        let mut all = true;
        for (index, start) in rows.chunks_exact(DEPTH).zip(starts) {
            let mut row = 0_u64;
            for (index, dim) in index.iter().zip(dims) {
                let position = index.position(dim, from_end);
                all &= position < dim;
                row = row.wrapping_mul(dim).wrapping_add(position);
            }
            let row = row.wrapping_sub(held_from);
            all &= row < held_rows;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a row that is held is in memory"
            )]
            let row = row as usize;
            *start = first.wrapping_add(row.wrapping_mul(slice_len));
        }
        all
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
