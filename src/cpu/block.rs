//! The copy loop of one thread: check a block of index rows, then copy its slices. Every index is compared
//! with its dim before anything is read.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::element::GatherIndex;
use crate::index_rows::IndexRows;
use crate::plan::GatherPlan;

/// Index rows checked in one go; the starts of their slices stay in the first-level cache.
const BLOCK_ROWS: usize = 256;

/// The start of a slice of zeros. No slice of params starts there: it has fewer elements.
const ZERO_ROW: usize = usize::MAX;

/// The operands of a gather, and its sizes as numbers of this machine.
#[derive(Debug)]
pub(super) struct Source<'a, T, I> {
    params: &'a [T],
    pub(super) index_rows: IndexRows<'a, I>,
    outer_size: usize,
    index_count: usize,
    held_rows: usize,
    pub(super) slice_len: usize,
    /// What the slice of a bad row holds.
    zero: T,
}

impl<T: Copy, I> Clone for Source<'_, T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy, I> Copy for Source<'_, T, I> {}

impl<'a, T: Copy, I: GatherIndex> Source<'a, T, I> {
    /// The operands have the lengths that the plan gives them, and the output is not empty.
    pub(super) fn new(plan: &'a GatherPlan, params: &'a [T], indices: &'a [I], zero: T) -> Self {
        let dims = plan.dims();
        let size =
            |size: u64| usize::try_from(size).expect("a size of operands in memory is a usize");
        Self {
            params,
            index_rows: IndexRows::new(plan, indices),
            outer_size: size(dims.outer_size),
            index_count: size(dims.index_count),
            held_rows: size(dims.held_rows),
            slice_len: size(dims.slice_len),
            zero,
        }
    }

    /// Gathers the output rows from `output_row` on that fill `output`.
    ///
    /// A bad row, and one that params does not hold, is zeroed; or, if `first_bad_row` is there, noted, and no row behind it is gathered.
    pub(super) fn gather_rows(
        &self,
        mut output_row: usize,
        mut output: &mut [T],
        first_bad_row: Option<&FirstBadRow>,
    ) {
        let mut starts = [ZERO_ROW; BLOCK_ROWS];
        while !output.is_empty() {
            // Rows up to the next multiple of index_count share their part of params.
            let (part, index) = (output_row / self.index_count, output_row % self.index_count);
            let rows = (output.len() / self.slice_len)
                .min(self.index_count - index)
                .min(BLOCK_ROWS);
            let index_row = part / self.outer_size * self.index_count + index;
            if first_bad_row.is_some_and(|first| first.is_before(index_row)) {
                return;
            }

            let starts = &mut starts[..rows];
            let block;
            (block, output) = output.split_at_mut(rows * self.slice_len);
            let first = part * self.held_rows * self.slice_len;
            if self
                .index_rows
                .all_starts(index_row, first, self.slice_len, starts)
            {
                self.copy_slices(starts, block);
            } else {
                let resolved = self.resolve_rows(part, index_row, starts);
                if let (Err(bad_row), Some(first_bad_row)) = (resolved, first_bad_row) {
                    return first_bad_row.note(bad_row);
                }
                self.copy_slices_or_zeros(starts, block);
            }
            output_row += rows;
        }
    }

    /// Where the slice of each row from `index_row` on starts; `Err` names the first bad row.
    fn resolve_rows(
        &self,
        part: usize,
        index_row: usize,
        starts: &mut [usize],
    ) -> Result<(), usize> {
        let mut first_bad = Ok(());
        for (row, start) in (index_row..).zip(starts) {
            let selected = self.index_rows.selected(row);
            if selected.is_none() {
                first_bad = first_bad.and(Err(row));
            }
            let held = selected.and_then(|row| self.index_rows.held(row));
            *start = held.map_or(ZERO_ROW, |row| {
                let row = usize::try_from(row).expect("a row that is held is in memory");
                (part * self.held_rows + row) * self.slice_len
            });
        }
        first_bad
    }

    /// Copies the slices of params that start there.
    fn copy_slices(&self, starts: &[usize], output: &mut [T]) {
        match self.slice_len {
            1 => self.copy_slices_of::<1>(starts, output),
            2 => self.copy_slices_of::<2>(starts, output),
            3 => self.copy_slices_of::<3>(starts, output),
            4 => self.copy_slices_of::<4>(starts, output),
            8 => self.copy_slices_of::<8>(starts, output),
            16 => self.copy_slices_of::<16>(starts, output),
            32 => self.copy_slices_of::<32>(starts, output),
            slice_len => {
                for (&start, slice) in starts.iter().zip(output.chunks_exact_mut(slice_len)) {
                    slice.copy_from_slice(&self.params[start..start + slice_len]);
                }
            }
        }
    }

    /// The same for a length that the compiler knows: without a call for each slice.
    fn copy_slices_of<const LEN: usize>(&self, starts: &[usize], output: &mut [T]) {
        for (&start, slice) in starts.iter().zip(output.chunks_exact_mut(LEN)) {
            slice.copy_from_slice(&self.params[start..start + LEN]);
        }
    }

    fn copy_slices_or_zeros(&self, starts: &[usize], output: &mut [T]) {
        for (&start, slice) in starts.iter().zip(output.chunks_exact_mut(self.slice_len)) {
            match start {
                ZERO_ROW => slice.fill(self.zero),
                start => slice.copy_from_slice(&self.params[start..start + self.slice_len]),
            }
        }
    }
}

/// The smallest bad index row that any thread has met.
///
/// It is exact although threads stop early: each index row is looked at in the first outer part, where a
/// thread stops only behind a smaller bad row.
#[derive(Debug)]
pub(super) struct FirstBadRow(AtomicUsize);

impl FirstBadRow {
    pub(super) fn none() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }

    pub(super) fn into_row(self) -> Option<usize> {
        Some(self.0.into_inner()).filter(|&row| row != usize::MAX)
    }

    fn note(&self, row: usize) {
        self.0.fetch_min(row, Ordering::Relaxed);
    }

    fn is_before(&self, row: usize) -> bool {
        self.0.load(Ordering::Relaxed) < row
    }
}
