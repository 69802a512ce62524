//! The copy loop of one thread: each index row is compared with its dims, and its slice copied, in one pass.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::memory;
use super::slices::{AnySlices, Arrays, Overlapping, Rows, Slices, StreamedSlices, in_memory};
use super::whole::Selection;
use crate::bad_indices::BadIndices;
use crate::element::GatherIndex;
use crate::index_rows::IndexRows;
use crate::plan::GatherPlan;

/// What is longer the compiler copies by a call, whatever it knows of its length.
const MAX_INLINE_BYTES: usize = 128;

/// The operands of a gather, and its sizes as numbers of this machine.
#[derive(Debug)]
pub(super) struct Source<'a, T, I> {
    params: &'a [T],
    pub(super) index_rows: IndexRows<'a, I>,
    outer_size: usize,
    index_count: usize,
    held_rows: usize,
    pub(super) slice_len: usize,
    /// Whether the slices of bad rows are filled; if not, the first bad row ends the gather.
    pub(super) fills: bool,
    /// What the slice of a row holds that is not in params.
    pub(super) zero: T,
    /// What that of a bad row holds.
    pub(super) fill: T,
    /// How index rows select, if the gather is one of [`WholeRows`](super::WholeRows).
    selection: Option<&'a Selection>,
    /// Whether such a one writes its output past caches.
    streams: bool,
}

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
        let bytes = |len: u64| size(len) * size_of::<T>();
        Self {
            params,
            index_rows: IndexRows::new(plan, indices),
            outer_size: size(dims.outer_size),
            index_count: size(dims.index_count),
            held_rows: size(dims.held_rows),
            slice_len: size(dims.slice_len),
            fills: matches!(plan.bad_indices(), BadIndices::Zero | BadIndices::Clamp),
            zero,
            fill,
            selection: plan.whole_rows.as_ref().map(|whole| whole.selection::<T>()),
            streams: memory::pays_to_stream(bytes(dims.output_len()), bytes(dims.slice_len)),
        }
    }

    /// Gathers the output rows from `output_row` on that fill `output`. Returns the first bad row, unless such
    /// are filled; no row behind it is gathered, nor one behind `first_bad_row`, which other threads note.
    pub(super) fn gather_rows(
        &self,
        output_row: usize,
        mut output: &mut [T],
        first_bad_row: Option<&FirstBadRow>,
    ) -> Option<usize> {
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
                return None;
            }
            let len = parts
                .saturating_mul(rows * self.slice_len)
                .min(output.len());
            let slices;
            (slices, output) = output.split_at_mut(len);
            let bad_row = copy(self, run, slices);
            if bad_row.is_some() {
                return bad_row;
            }
            (part, index) = (part.saturating_add(parts), 0);
        }
        None
    }

    /// The loop for this gather.
    fn copy_loop(&self) -> CopyRun<'a, T, I> {
        let loops = match self.selection {
            Some(selection) if self.streams => Some(Loops::streamed(selection)),
            selection => selection.and_then(Loops::of),
        };
        match loops {
            Some(loops) => loops.run,
            None if self.index_rows.are_whole_with_places() => match self.slice_len {
                1 => Self::copy_placed::<1>,
                _ => Self::copy_placed::<0>,
            },
            None => Self::copy_any,
        }
    }

    /// Copies the slices of a run from params that hold all rows; those of bad rows are filled, or the first
    /// of them is returned.
    fn copy<const DEPTH: usize, S: Slices>(&self, run: Run, output: &mut [T]) -> Option<usize> {
        let slice_len = self.slice_len;
        let selection = self.selection.expect("the loop is for whole rows");
        for (part, mut output) in output.chunks_mut(run.rows * slice_len).enumerate() {
            let params = self.part(run.part + part);
            let mut index_row = run.index_row + part * run.next_index_rows;
            let end = index_row + run.rows;
            loop {
                let indices = self.index_rows.values_of::<DEPTH>(index_row..end);
                let rows = copy_part::<T, I, DEPTH, S>(selection, params, indices, output);
                let rest = &mut mem::take(&mut output)[rows * slice_len..];
                let Some((slice, rest)) = rest.split_at_mut_checked(slice_len) else {
                    break;
                };
                if !self.fills {
                    return Some(index_row + rows);
                }
                slice.fill(self.fill);
                (index_row, output) = (index_row + rows + 1, rest);
            }
        }
        None
    }

    /// The same for any params and any depth.
    fn copy_any(&self, run: Run, output: &mut [T]) -> Option<usize> {
        for (part, output) in output.chunks_mut(run.rows * self.slice_len).enumerate() {
            let params = self.part(run.part + part);
            let index_row = run.index_row + part * run.next_index_rows;
            for (row, slice) in (index_row..).zip(output.chunks_exact_mut(self.slice_len)) {
                let selected = self.index_rows.selected(row);
                if selected.is_none() && !self.fills {
                    return Some(row);
                }
                match selected.map(|row| self.index_rows.held(row)) {
                    Some(Some(held)) => {
                        let start = in_memory(held) * self.slice_len;
                        memory::copy(&params[start..][..self.slice_len], slice);
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

/// Copies slices from one part of params until the output is full or a row is bad. Returns how many.
///
/// One pass over index values, each compared and then used. To check a block of them first, whether into a
/// list of offsets or not, and to leave the bounds checks out took as long or longer. A function of its own, so
/// that its loops keep what they can in registers.
#[inline(never)]
fn copy_part<T: Copy, I: GatherIndex, const DEPTH: usize, S: Slices>(
    selection: &Selection,
    params: &[T],
    indices: &[I],
    output: &mut [T],
) -> usize {
    let rows = |from_end, looks_ahead| Rows {
        params,
        indices,
        dims: std::array::from_fn::<_, DEPTH, _>(|k| selection.dims[k]),
        slice_len: selection.slice_len,
        from_end,
        looks_ahead,
    };
    let from_end = I::KIND.is_signed() && selection.from_end;
    // A loop for each, which has less to do in each row, where that shows.
    match (from_end, selection.looks_ahead) {
        (_, false) if !S::ARE_ARRAYS => S::copy(rows(from_end, false), output),
        (_, true) if !S::ARE_ARRAYS => S::copy(rows(from_end, true), output),
        (false, false) => S::copy(rows(false, false), output),
        (false, true) => S::copy(rows(false, true), output),
        (true, false) => S::copy(rows(true, false), output),
        (true, true) => S::copy(rows(true, true), output),
    }
}

/// [`copy_part`] and [`Source::copy`] for one depth and one length of slices. What most gathers are has loops of its
/// own, which cost no more than one written by hand for it.
pub(super) struct Loops<'a, T, I> {
    pub(super) part: CopyPart<T, I>,
    run: CopyRun<'a, T, I>,
}

impl<T: Copy, I: GatherIndex> Loops<'_, T, I> {
    /// The loops for such rows, if there are some.
    #[inline]
    pub(super) fn of(selection: &Selection) -> Option<Self> {
        let [_, columns] = selection.dims;
        match selection.depth {
            1 => Some(Self::at_depth::<1>(selection.slice_len)),
            _ if size_of::<I>() > 4 || u32::try_from(columns).is_ok() => {
                Some(Self::at_depth::<2>(selection.slice_len))
            }
            _ => None,
        }
    }

    /// The loops for long slices of a long output.
    fn streamed(selection: &Selection) -> Self {
        match selection.depth {
            1 => Self::new::<1, StreamedSlices>(),
            _ => Self::new::<2, StreamedSlices>(),
        }
    }

    #[inline]
    fn at_depth<const DEPTH: usize>(slice_len: usize) -> Self {
        match slice_len {
            1 => Self::of_slices::<DEPTH, Arrays<1>>(),
            2 => Self::of_slices::<DEPTH, Arrays<2>>(),
            3 => Self::of_slices::<DEPTH, Arrays<3>>(),
            4 => Self::of_slices::<DEPTH, Arrays<4>>(),
            8 => Self::of_slices::<DEPTH, Arrays<8>>(),
            16 => Self::of_slices::<DEPTH, Arrays<16>>(),
            32 => Self::of_slices::<DEPTH, Arrays<32>>(),
            64 => Self::of_slices::<DEPTH, Arrays<64>>(),
            5..=7 => Self::of_slices::<DEPTH, Overlapping<4>>(),
            9..=15 => Self::of_slices::<DEPTH, Overlapping<8>>(),
            17..=31 => Self::of_slices::<DEPTH, Overlapping<16>>(),
            33..=63 => Self::of_slices::<DEPTH, Overlapping<32>>(),
            65..=128 => Self::of_slices::<DEPTH, Overlapping<64>>(),
            _ => Self::new::<DEPTH, AnySlices>(),
        }
    }

    /// The loops for such slices, if calls are spared by them.
    fn of_slices<const DEPTH: usize, S: Slices>() -> Self {
        match S::MAX_LEN {
            Some(len) if len.saturating_mul(size_of::<T>()) <= MAX_INLINE_BYTES => {
                Self::new::<DEPTH, S>()
            }
            _ => Self::new::<DEPTH, AnySlices>(),
        }
    }

    fn new<const DEPTH: usize, S: Slices>() -> Self {
        Self {
            part: copy_part::<T, I, DEPTH, S>,
            run: Source::copy::<DEPTH, S>,
        }
    }
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

type CopyPart<T, I> = fn(&Selection, &[T], &[I], &mut [T]) -> usize;
type CopyRun<'a, T, I> = fn(&Source<'a, T, I>, Run, &mut [T]) -> Option<usize>;

/// The smallest bad index row that any thread has met.
///
/// It is exact although threads stop early: each index row is looked at in the first outer part, where a
/// thread stops only behind a smaller bad row.
#[derive(Debug)]
pub(super) struct FirstBadRow(AtomicUsize);

#[cfg_attr(
    not(feature = "rayon"),
    expect(dead_code, reason = "one thread finds bad rows in their order")
)]
impl FirstBadRow {
    pub(super) fn none() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }

    pub(super) fn into_row(self) -> Option<usize> {
        Some(self.0.into_inner()).filter(|&row| row != usize::MAX)
    }

    pub(super) fn note(&self, row: usize) {
        self.0.fetch_min(row, Ordering::Relaxed);
    }

    #[inline]
    fn is_before(&self, row: usize) -> bool {
        self.0.load(Ordering::Relaxed) < row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gather;

    #[test]
    fn whole_rows_of_a_long_output_are_streamed() {
        let streams = |gather: Gather, slice_len: usize, rows: usize| {
            let plan = gather.plan(&[4, slice_len], &[rows]);
            let plan = plan.expect("a valid shape");
            let (params, indices) = (vec![0_u16; 4 * slice_len], vec![0_i32; rows]);
            let source = Source::new(&plan, &params, &indices, 0, 0);
            source.streams && source.selection.is_some()
        };
        let gather = Gather::new();
        assert!(streams(gather, 1024, 1 << 14));
        assert!(!streams(gather, 1024, (1 << 14) - 1));
        assert!(!streams(gather, 1023, 1 << 15));
        assert!(!streams(
            gather.bad_indices(BadIndices::Clamp),
            1024,
            1 << 14
        ));
    }
}
