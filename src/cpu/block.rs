//! The copy loop of one thread: check a block of index rows, then copy its slices. Every index is compared
//! with its dim before anything is read.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::element::GatherIndex;
use crate::index_rows::IndexRows;
use crate::plan::GatherPlan;

/// Index rows checked in one go; their offsets stay in the first-level cache.
const BLOCK_ROWS: usize = 1024;

/// The offset of a slice of zeros. No slice of params starts there: it has fewer elements.
const ZERO_ROW: usize = usize::MAX;

/// The operands of a gather, and its sizes as numbers of this machine.
#[derive(Debug)]
pub(super) struct Source<'a, T, I> {
    params: &'a [T],
    pub(super) index_rows: IndexRows<'a, I>,
    outer_size: usize,
    index_count: usize,
    held_rows: u64,
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
            held_rows: dims.held_rows,
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
        let mut offsets = [ZERO_ROW; BLOCK_ROWS];
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

            let offsets = &mut offsets[..rows];
            if let (Err(bad_row), Some(first)) =
                (self.resolve_rows(part, index_row, offsets), first_bad_row)
            {
                return first.note(bad_row);
            }
            let block;
            (block, output) = output.split_at_mut(rows * self.slice_len);
            self.copy_slices(offsets, block);
            output_row += rows;
        }
    }

    /// The offset in params of each row from `index_row` on; `Err` names the first bad one.
    fn resolve_rows(
        &self,
        part: usize,
        index_row: usize,
        offsets: &mut [usize],
    ) -> Result<(), usize> {
        let mut first_bad = Ok(());
        for (row, offset) in (index_row..).zip(offsets) {
            let selected = self.index_rows.selected(row);
            if selected.is_none() {
                first_bad = first_bad.and(Err(row));
            }
            *offset = selected
                .and_then(|row| self.offset_of(part, row))
                .unwrap_or(ZERO_ROW);
        }
        first_bad
    }

    /// Where a row of a part starts in params, if params holds it.
    fn offset_of(&self, part: usize, row: u64) -> Option<usize> {
        let held = self.index_rows.held(row)?;
        let row = usize::try_from(part as u64 * self.held_rows + held).ok()?;
        Some(row * self.slice_len)
    }

    fn copy_slices(&self, offsets: &[usize], output: &mut [T]) {
        for (&offset, slice) in offsets.iter().zip(output.chunks_exact_mut(self.slice_len)) {
            match offset {
                ZERO_ROW => slice.fill(self.zero),
                offset => slice.copy_from_slice(&self.params[offset..offset + self.slice_len]),
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
