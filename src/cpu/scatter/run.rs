//! The loop of a scatter.
//!
//! ```text
//! scatter(updates, rows, target):
//!     for each thread, which has some rows of the target:
//!         for n in 0..slices of updates:
//!             if rows[n] is one of the thread's: target[rows[n]] = update(target[rows[n]], updates[n])
//! ```
//!
//! A thread reads the indices of the blocks in which it has rows. Each row has one thread, so it meets its updates in order. Rows
//! are located some at a time, as for gathers that have no loop of their own: so this loop is compiled once for each type of
//! number, not for each type of index. Short slices of whole blocks are updated by their rows; of all others the thread keeps
//! a list of moves of those that are its own.

use std::ops::Range;

use super::often::{OftenRows, RowsOfBlock, Sums};
use super::rows::{Job, LOCATED_ROWS, Rows, run_all};
use crate::cpu::copy::{ByWidth, Prefetch, by_width};
use crate::cpu::gather::threads_for;
use crate::error::RunError;
use crate::index::IndexValues;
use crate::memory::{Byte, address};
use crate::plan::GatherPlan;
use crate::reduce::{Reduce, ScatterNumber};

/// Rows that a thread keeps: those of a step, and those of the step before that wait so that prefetch can look ahead.
const KEPT_ROWS: usize = LOCATED_ROWS + Prefetch::MAX_ROWS_AHEAD;

/// Bytes of a stretch of the target that a core's nearest cache holds.
const SMALL_STRETCH_BYTES: usize = 16 << 10;

/// The places of an update's two slices, each counted in elements to its first one: in the thread's part of the target, and in
/// updates.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Move {
    to: usize,
    from: usize,
}

/// Slices to update: those of the first `count` moves, in their order. The target is prefetched for later ones.
pub(super) struct Moves<'a, T> {
    slices: &'a Slices,
    updates: &'a [T],
    target: &'a mut [T],
    moves: &'a [Move],
    count: usize,
}

/// The kind of an update: an assign, or a reduction.
pub(super) trait Update<T>: Sync {
    /// True for a sum of floats, which depends on the order of its terms.
    fn is_sum_of_floats(&self) -> bool {
        false
    }

    fn update(&self, moves: Moves<'_, T>);

    /// True if slices of so many values are updated by [`update_short`](Self::update_short).
    fn is_short(&self, len: usize) -> bool;

    /// Updates slices without gaps, each by the next of `updates`.
    fn update_short(&self, rows: ShortRows<'_>, updates: &[T], target: &mut [T]);

    /// Adds slices to another, one after another; called for sums of floats only.
    fn add<'u>(&self, _to: &mut [T], _updates: impl Iterator<Item = &'u [T]>)
    where
        T: 'u,
    {
    }
}

/// The slices of both operands, in elements of the loop's type.
pub(super) struct Slices {
    pub(super) len: usize,
    target_stride: usize,
    updates_stride: usize,
    prefetch: Prefetch,
}

/// Rows of the target, each of which is a short slice: to keep a move of it would take as long as to update it. The target is
/// prefetched for the rows after the first `count`. `first` is the number of the target's first row.
#[derive(Clone, Copy)]
pub(super) struct ShortRows<'a> {
    rows: &'a [u64],
    count: usize,
    first: u64,
    len: usize,
    prefetch: Prefetch,
}

impl ShortRows<'_> {
    #[inline(always)]
    fn update<E: Copy>(self, updates: &[E], target: &mut [E], update: impl Fn(&mut E, E)) {
        let ahead = self.prefetch.rows_ahead();
        let place = |row: u64| address(row.wrapping_sub(self.first));
        for (k, &of_row) in updates[..self.count].iter().enumerate() {
            if ahead > 0
                && let Some(&later) = self.rows.get(k + ahead)
            {
                self.prefetch.slice(target, place(later), 1);
            }
            // A bad row, or one that is not held, stays beyond the target after `first` is subtracted.
            if let Some(element) = target.get_mut(place(self.rows[k])) {
                update(element, of_row);
            }
        }
    }

    #[inline(always)]
    fn reduce<T: ScatterNumber>(self, updates: &[T], target: &mut [T], reduce: impl Fn(T, T) -> T) {
        self.update(updates, target, |element, update| {
            *element = reduce(*element, update).of_one_nan();
        });
    }

    #[inline(always)]
    fn assign<const N: usize>(self, updates: &[Byte], target: &mut [Byte]) {
        let (updates, target) = (updates.as_chunks::<N>().0, target.as_chunks_mut::<N>().0);
        self.update(updates, target, |element, update| *element = update);
    }
}

/// The last update of a row is what it holds.
pub(super) struct Assign;

impl Update<Byte> for Assign {
    fn update(&self, moves: Moves<'_, Byte>) {
        by_width(moves.slices.len, moves);
    }

    fn is_short(&self, len: usize) -> bool {
        matches!(len, 1 | 2 | 4 | 8 | 16)
    }

    fn update_short(&self, rows: ShortRows<'_>, updates: &[Byte], target: &mut [Byte]) {
        match rows.len {
            1 => rows.assign::<1>(updates, target),
            2 => rows.assign::<2>(updates, target),
            4 => rows.assign::<4>(updates, target),
            8 => rows.assign::<8>(updates, target),
            _ => rows.assign::<16>(updates, target),
        }
    }
}

impl ByWidth for Moves<'_, Byte> {
    type Output = ();

    #[inline(always)]
    fn copy(self, width: usize, copy_slice: impl Fn(&[Byte], &mut [Byte])) {
        for k in 0..self.count {
            self.prefetch_after(k, width);
            let Move { to, from } = self.moves[k];
            let update = &self.updates[from..][..width];
            copy_slice(update, &mut self.target[to..][..width]);
        }
    }
}

/// An element becomes the reduction of itself and its updates.
pub(super) struct Reduced(pub(super) Reduce);

impl<T: ScatterNumber> Update<T> for Reduced {
    fn is_sum_of_floats(&self) -> bool {
        T::IS_FLOAT && self.0 == Reduce::Add
    }

    fn update(&self, moves: Moves<'_, T>) {
        match self.0 {
            Reduce::Add => moves.reduce(T::plus),
            Reduce::Mul => moves.reduce(T::times),
            Reduce::Min => moves.reduce(T::lesser),
            Reduce::Max => moves.reduce(T::greater),
        }
    }

    fn is_short(&self, len: usize) -> bool {
        len == 1
    }

    fn update_short(&self, rows: ShortRows<'_>, updates: &[T], target: &mut [T]) {
        match self.0 {
            Reduce::Add => rows.reduce(updates, target, T::plus),
            Reduce::Mul => rows.reduce(updates, target, T::times),
            Reduce::Min => rows.reduce(updates, target, T::lesser),
            Reduce::Max => rows.reduce(updates, target, T::greater),
        }
    }

    fn add<'u>(&self, to: &mut [T], updates: impl Iterator<Item = &'u [T]>) {
        // A single number stays in a register, and a NaN stays a NaN.
        match to {
            [to] => {
                *to = updates
                    .fold(*to, |sum, update| sum.plus(update[0]))
                    .of_one_nan()
            }
            to => updates.for_each(|update| reduce_slice(to, update, T::plus)),
        }
    }
}

/// Reduces a slice. A NaN is looked for once in it, which spares vectors half of their instructions.
#[inline(always)]
fn reduce_slice<T: ScatterNumber>(elements: &mut [T], updates: &[T], reduce: impl Fn(T, T) -> T) {
    let mut nans = 0;
    for (element, &update) in elements.iter_mut().zip(updates) {
        *element = reduce(*element, update);
        nans |= u32::from(element.is_a_nan());
    }
    if nans > 0 {
        elements
            .iter_mut()
            .for_each(|element| *element = element.of_one_nan());
    }
}

impl<T: ScatterNumber> Moves<'_, T> {
    #[inline(always)]
    fn reduce(self, reduce: impl Fn(T, T) -> T) {
        let len = self.slices.len;
        for k in 0..self.count {
            self.prefetch_after(k, len);
            let Move { to, from } = self.moves[k];
            let elements = &mut self.target[to..][..len];
            reduce_slice(elements, &self.updates[from..][..len], &reduce);
        }
    }
}

impl<T> Moves<'_, T> {
    /// `len` repeats that of the slices: where it is a constant, a prefetch is one or two moves.
    #[inline(always)]
    fn prefetch_after(&self, k: usize, len: usize) {
        let prefetch = self.slices.prefetch;
        let ahead = prefetch.rows_ahead();
        if ahead > 0
            && let Some(later) = self.moves.get(k + ahead)
        {
            prefetch.slice(self.target, later.to, len);
        }
    }
}

/// Scatters, on as many threads as do it soonest unless `threads` says how many. Elements are `width` values of `T` each. The
/// lengths of the operands are checked.
pub(super) fn scatter<T: Copy + Send + Sync, U: Update<T>>(
    plan: &GatherPlan,
    indices: IndexValues<'_>,
    updates: &[T],
    (target, width): (&mut [T], usize),
    update: &U,
    threads: Option<usize>,
) -> Result<(), RunError> {
    let dims = plan.dims();
    // No slices, or slices without bytes.
    if dims.output_rows() == 0 || dims.slice_len == 0 || width == 0 || size_of::<T>() == 0 {
        return Ok(());
    }
    let rows = Rows::new(plan, indices);
    // Rows that meet many updates, which are summed apart.
    let often = match update.is_sum_of_floats() && !plan.scatter.unique_indices {
        true => OftenRows::new(&rows)?,
        false => OftenRows::default(),
    };
    if !often.are_good {
        rows.check()?;
    }
    if target.is_empty() {
        return Ok(());
    }
    // The stride of a single row may exceed memory.
    let in_values = |elements: u64| {
        usize::try_from(elements)
            .unwrap_or(usize::MAX)
            .saturating_mul(width)
    };
    let len = in_values(dims.slice_len);
    // Rows that the indices of a stretch select from.
    let rows_of_stretch = match dims.has_element_dims() {
        true => dims.indexed_dims[0] * dims.index_stride,
        false => dims.held_rows,
    };
    let target_stride = in_values(dims.params_stride);
    let stretch_bytes = address(rows_of_stretch)
        .saturating_mul(target_stride)
        .saturating_mul(size_of::<T>());
    let scatter = Scatter {
        rows,
        updates,
        update,
        slices: Slices {
            len,
            target_stride,
            updates_stride: match plan.scatter.one_update {
                true => 0,
                false => in_values(dims.output_stride),
            },
            // The core prefetches small stretches by itself, as they follow each other.
            prefetch: match stretch_bytes <= SMALL_STRETCH_BYTES {
                true => Prefetch::default(),
                false => Prefetch::of_copies(size_of_val(target), len * size_of::<T>()),
            },
        },
    };
    let threads = threads.unwrap_or_else(|| threads_for(dims.output_rows(), len * size_of::<T>()));
    let mut parts = scatter.parts(target, threads, &often)?;
    let job = |part| -> Job<'_> { Box::new(|| scatter.update_part(part, &often)) };
    run_all(parts.iter_mut().map(job).collect());
    Ok(())
}

/// One scatter, which has updates.
struct Scatter<'a, T, U> {
    rows: Rows<'a>,
    updates: &'a [T],
    update: &'a U,
    slices: Slices,
}

/// Rows of the target that one thread writes.
struct Part<'a, T> {
    rows: Range<u64>,
    target: &'a mut [T],
    sums: Sums<T>,
}

impl<T: Copy + Send + Sync, U: Update<T>> Scatter<'_, T, U> {
    /// Parts of the target: one for each thread that has updates.
    fn parts<'t>(
        &self,
        mut target: &'t mut [T],
        threads: usize,
        often: &OftenRows,
    ) -> Result<Vec<Part<'t, T>>, RunError> {
        let dims = self.rows.dims();
        let stride = self.slices.target_stride.wrapping_mul(size_of::<T>());
        let ends = self.rows.ends(threads, target.as_ptr().addr(), stride);
        let mut parts = Vec::with_capacity(ends.len());
        let mut start = 0;
        for end in ends {
            if end == start {
                continue;
            }
            let len = match end == dims.params_rows() {
                true => target.len(),
                false => self.start(end - start),
            };
            let (part, rest) = target.split_at_mut(len);
            target = rest;
            let most = often.most_in(dims, &(start..end));
            parts.push(Part {
                rows: start..end,
                target: part,
                sums: Sums::new(most, self.slices.len, self.updates[0])?,
            });
            start = end;
        }
        Ok(parts)
    }

    /// Updates the rows of a part.
    fn update_part(&self, part: &mut Part<'_, T>, often: &OftenRows) {
        let dims = self.rows.dims();
        let blocks = part.rows.start / dims.held_rows..part.rows.end.div_ceil(dims.held_rows);
        let (slices, rows) = (&self.slices, &part.rows);
        let is_dense = slices.target_stride == slices.len && slices.updates_stride == slices.len;
        // All updates of whole blocks are the part's own.
        let has_blocks = [rows.start, rows.end]
            .iter()
            .all(|row| row % dims.held_rows == 0);
        if often.is_empty() && is_dense && has_blocks && self.update.is_short(slices.len) {
            return self.update_short(part, blocks);
        }
        if often.is_empty() {
            return self.update_blocks(part, blocks, RowsOfBlock::default());
        }
        for block in blocks {
            let rows = often.of_block(dims, block, &part.rows);
            self.update_blocks(part, block..block + 1, rows);
            for (place, row) in rows.iter().enumerate() {
                let target =
                    &mut part.target[self.start(row - part.rows.start)..][..self.slices.len];
                part.sums.end(place, target, self.update);
            }
        }
    }

    /// Updates the short slices of whole blocks.
    fn update_short(&self, part: &mut Part<'_, T>, blocks: Range<u64>) {
        let (len, prefetch) = (self.slices.len, self.slices.prefetch);
        let [mut done, end] =
            [blocks.start, blocks.end].map(|block| address(block * self.rows.dims().index_count));
        let mut located = [0; KEPT_ROWS];
        let mut waiting = 0;
        while done < end {
            let count = KEPT_ROWS.min(end - done);
            let next = (done + waiting) as u64;
            self.rows.locate(next, &mut located[waiting..count]);
            waiting = match done + count == end {
                true => 0,
                false => prefetch.rows_ahead(),
            };
            let rows = ShortRows {
                rows: &located[..count],
                count: count - waiting,
                first: part.rows.start,
                len,
                prefetch,
            };
            let updates = &self.updates[done * len..];
            self.update.update_short(rows, updates, part.target);
            done += rows.count;
            located.copy_within(count - waiting..count, 0);
        }
    }

    /// The first element of a row of a part.
    fn start(&self, row: u64) -> usize {
        address(row).wrapping_mul(self.slices.target_stride)
    }

    /// Updates the rows of a part with the updates of some blocks. `often` are those rows of a block that have sums.
    fn update_blocks(&self, part: &mut Part<'_, T>, blocks: Range<u64>, often: RowsOfBlock<'_>) {
        let index_count = self.rows.dims().index_count;
        let (mut next, end) = (blocks.start * index_count, blocks.end * index_count);
        let (first, count) = (part.rows.start, part.rows.end - part.rows.start);
        let mut room = [0; LOCATED_ROWS];
        let mut moves = [Move::default(); KEPT_ROWS];
        let mut kept = 0;
        while next < end {
            let located = self.rows.locate_some(next..end, &mut room);
            let step = located.len();
            if !often.is_empty() {
                self.update_sums(part, next, located, &often);
            }
            for (from, &mut row) in (address(next)..).zip(located) {
                // A bad row, and one that is not held, is larger than all rows.
                let at = row.wrapping_sub(first);
                moves[kept] = Move {
                    to: address(at).wrapping_mul(self.slices.target_stride),
                    from: from * self.slices.updates_stride,
                };
                kept += usize::from(at < count);
            }
            next += step as u64;
            let waiting = match next == end {
                true => 0,
                false => self.slices.prefetch.rows_ahead().min(kept),
            };
            let ready = kept - waiting;
            self.update.update(Moves {
                slices: &self.slices,
                updates: self.updates,
                target: part.target,
                moves: &moves[..kept],
                count: ready,
            });
            moves.copy_within(ready..kept, 0);
            kept = waiting;
        }
    }

    /// Updates those of the located rows that have sums, and marks them as no rows of the part.
    fn update_sums(
        &self,
        part: &mut Part<'_, T>,
        first: u64,
        located: &mut [u64],
        often: &RowsOfBlock<'_>,
    ) {
        let (len, updates_stride) = (self.slices.len, self.slices.updates_stride);
        let mut from = address(first);
        for rows in located.chunk_by_mut(|a, b| a == b) {
            if let Some(place) = often.place(rows[0]) {
                let target = &mut part.target[self.start(rows[0] - part.rows.start)..][..len];
                let updates = (from..from + rows.len())
                    .map(|from| &self.updates[from * updates_stride..][..len]);
                part.sums.update(place, target, updates, self.update);
                rows.fill(u64::MAX);
            }
            from += rows.len();
        }
    }
}
