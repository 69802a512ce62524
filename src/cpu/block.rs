//! The copy loop of one thread: each index row is compared with its dims, and its slice copied, in one pass.

use std::mem;
use std::slice::ChunksExact;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::element::GatherIndex;
use crate::index_rows::IndexRows;
use crate::plan::GatherPlan;

/// The operands of a gather, and its sizes as numbers of this machine.
#[derive(Debug)]
pub(super) struct Source<'a, T, I> {
    params: &'a [T],
    pub(super) index_rows: IndexRows<'a, I>,
    outer_size: usize,
    index_count: usize,
    held_rows: usize,
    pub(super) slice_len: usize,
    /// What the slice of a row holds that is not in params.
    pub(super) zero: T,
    /// What that of a bad row holds.
    pub(super) fill: T,
}

impl<T: Copy, I> Clone for Source<'_, T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy, I> Copy for Source<'_, T, I> {}

impl<'a, T: Copy, I: GatherIndex> Source<'a, T, I> {
    /// The operands have the lengths that the plan gives them, and the output is not empty.
    pub(super) fn new(
        plan: &'a GatherPlan,
        params: &'a [T],
        indices: &'a [I],
        zero: T,
        fill: T,
    ) -> Self {
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
            fill,
        }
    }

    /// Gathers the output rows from `output_row` on that fill `output`.
    ///
    /// A bad row, and one that params does not hold, is zeroed; or, if `first_bad_row` is there, noted, and no row behind it is gathered.
    pub(super) fn gather_rows(
        &self,
        output_row: usize,
        mut output: &mut [T],
        first_bad_row: Option<&FirstBadRow>,
    ) {
        let copy = self.copy_loop();
        let (mut part, mut index) = match output_row {
            0 => (0, 0),
            row => (row / self.index_count, row % self.index_count),
        };
        while !output.is_empty() {
            // One run: what is left of a part, or parts of one batch, or of many where a batch has one part.
            let (batch, outer) = match self.outer_size {
                1 => (part, 0),
                outer_size => (part / outer_size, part % outer_size),
            };
            let rows = self.index_count - index;
            let parts = match self.outer_size {
                _ if index > 0 => 1,
                1 => usize::MAX,
                outer_size => outer_size - outer,
            };
            let run = Run {
                part,
                index_row: batch * self.index_count + index,
                rows,
                next_index_rows: if self.outer_size == 1 { rows } else { 0 },
            };
            if first_bad_row.is_some_and(|first| first.is_before(run.index_row)) {
                return;
            }
            let len = parts
                .saturating_mul(rows * self.slice_len)
                .min(output.len());
            let slices;
            (slices, output) = output.split_at_mut(len);
            let bad_row = copy(self, run, first_bad_row.is_none(), slices);
            if let (Some(bad_row), Some(first_bad_row)) = (bad_row, first_bad_row) {
                return first_bad_row.note(bad_row);
            }
            (part, index) = (part.saturating_add(parts), 0);
        }
    }

    /// The loop for this gather. What most are has one of its own, which costs no more than one written by
    /// hand for it.
    fn copy_loop(&self) -> CopyLoop<'a, T, I> {
        match self.index_rows.whole_dims() {
            Some([_]) => self.copy_loop_of::<1>(),
            Some([_, _]) => self.copy_loop_of::<2>(),
            _ if self.index_rows.are_whole_with_places() => match self.slice_len {
                1 => Self::copy_placed::<1>,
                _ => Self::copy_placed::<ANY>,
            },
            _ => Self::copy_any,
        }
    }

    fn copy_loop_of<const DEPTH: usize>(&self) -> CopyLoop<'a, T, I> {
        match self.slice_len {
            1 => Self::copy::<DEPTH, 1>,
            2 => Self::copy::<DEPTH, 2>,
            3 => Self::copy::<DEPTH, 3>,
            4 => Self::copy::<DEPTH, 4>,
            8 => Self::copy::<DEPTH, 8>,
            16 => Self::copy::<DEPTH, 16>,
            _ => Self::copy::<DEPTH, ANY>,
        }
    }

    /// Copies the slices of a run from params that hold all rows; those of bad rows are zeroed, or the first
    /// of them is returned. Slices have `LEN` elements: with a length that the compiler knows no call is made.
    fn copy<const DEPTH: usize, const LEN: usize>(
        &self,
        run: Run,
        zeros: bool,
        output: &mut [T],
    ) -> Option<usize> {
        let slice_len = if LEN == ANY { self.slice_len } else { LEN };
        let from_end = self.index_rows.counts_from_end();
        let mut dims: [u64; DEPTH] = self.index_rows.dims();
        if DEPTH == 1 {
            // The same number, and the one that bounds params: so scalars are compared once.
            dims[0] = self.held_rows as u64;
        }
        for (part, mut output) in output.chunks_mut(run.rows * slice_len).enumerate() {
            let params = self.part(run.part + part);
            let mut index_row = run.index_row + part * run.next_index_rows;
            let end = index_row + run.rows;
            loop {
                let indices = self.index_rows.values_of::<DEPTH>(index_row..end);
                let rows = if LEN == ANY {
                    copy_long::<_, _, DEPTH>(params, indices, dims, from_end, slice_len, output)
                } else {
                    copy_rows::<_, _, DEPTH>(params, indices, dims, from_end, LEN, output)
                };
                let rest = &mut mem::take(&mut output)[rows * slice_len..];
                let Some((slice, rest)) = rest.split_at_mut_checked(slice_len) else {
                    break;
                };
                if !zeros {
                    return Some(index_row + rows);
                }
                slice.fill(self.fill);
                (index_row, output) = (index_row + rows + 1, rest);
            }
        }
        None
    }

    /// The same for any params and any depth.
    fn copy_any(&self, run: Run, zeros: bool, output: &mut [T]) -> Option<usize> {
        for (part, output) in output.chunks_mut(run.rows * self.slice_len).enumerate() {
            let params = self.part(run.part + part);
            let index_row = run.index_row + part * run.next_index_rows;
            for (row, slice) in (index_row..).zip(output.chunks_exact_mut(self.slice_len)) {
                let selected = self.index_rows.selected(row);
                if selected.is_none() && !zeros {
                    return Some(row);
                }
                match selected.map(|row| self.index_rows.held(row)) {
                    Some(Some(held)) => {
                        let start = in_memory(held) * self.slice_len;
                        slice.copy_from_slice(&params[start..][..self.slice_len]);
                    }
                    Some(None) => slice.fill(self.zero),
                    None => slice.fill(self.fill),
                }
            }
        }
        None
    }

    /// One part of params.
    pub(super) fn part(&self, part: usize) -> &'a [T] {
        let part_len = self.held_rows * self.slice_len;
        &self.params[part * part_len..][..part_len]
    }
}

/// Stands for any length of a slice.
const ANY: usize = 0;

/// Copies slices until the output is full or a row is bad. Returns how many.
///
/// One pass over index values, each compared and then used. To check a block of them first, whether into a
/// list of offsets or not, and to leave the bounds checks out took as long or longer; to prefetch gained less
/// than a tenth, on long slices alone.
#[inline(always)]
fn copy_rows<T: Copy, I: GatherIndex, const DEPTH: usize>(
    params: &[T],
    indices: ChunksExact<'_, I>,
    dims: [u64; DEPTH],
    from_end: bool,
    slice_len: usize,
    output: &mut [T],
) -> usize {
    let mut rows = 0;
    for (index, slice) in indices.zip(output.chunks_exact_mut(slice_len)) {
        let mut selected = 0;
        for (index, dim) in index.iter().zip(dims) {
            let position = index.position(dim, from_end);
            if position >= dim {
                return rows;
            }
            selected = selected * dim + position;
        }
        slice.copy_from_slice(&params[in_memory(selected) * slice_len..][..slice_len]);
        rows += 1;
    }
    rows
}

/// The same as a function of its own, where each slice is a call of memcpy, so that the loop keeps what it
/// can in registers.
#[inline(never)]
fn copy_long<T: Copy, I: GatherIndex, const DEPTH: usize>(
    params: &[T],
    indices: ChunksExact<'_, I>,
    dims: [u64; DEPTH],
    from_end: bool,
    slice_len: usize,
    output: &mut [T],
) -> usize {
    copy_rows::<T, I, DEPTH>(params, indices, dims, from_end, slice_len, output)
}

/// Output rows, from one part of params and those that follow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    /// The first part.
    pub(super) part: usize,
    /// The first index row of the first part.
    pub(super) index_row: usize,
    /// Index rows of each part.
    pub(super) rows: usize,
    /// How many rows further those of the next part begin: none if the parts have the same.
    pub(super) next_index_rows: usize,
}

type CopyLoop<'a, T, I> = fn(&Source<'a, T, I>, Run, bool, &mut [T]) -> Option<usize>;

#[expect(
    clippy::cast_possible_truncation,
    reason = "a row that params holds is in memory"
)]
pub(super) fn in_memory(row: u64) -> usize {
    row as usize
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
