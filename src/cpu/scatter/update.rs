//! The innermost loop of a scatter, which assigns or reduces the rows of a step.

use std::ops::Range;

use super::halves;
use super::rows::{Rows, Slices};
use crate::cpu::copy::{self, Prefetch, by_width};
use crate::error::RunError;
use crate::memory::{Byte, SliceBytes, address};
use crate::reduce::{Number, Reduce};

/// Slices of up to so many elements are added up part by part: each part of all slices of a run, before the next part. Of longer
/// slices, each part would read other cache lines far apart.
const MAX_LEN_OF_PARTS: usize = 64;

/// Target rows, and slices of updates in the same order. The first `count` rows are updated now; prefetch looks ahead at the
/// others.
pub(super) struct Step<'a, T> {
    pub(super) slices: &'a Slices,
    pub(super) rows: &'a [u64],
    pub(super) count: usize,
    pub(super) updates: &'a [T],
    /// The rows that the thread has, and their elements.
    pub(super) part: Range<u64>,
    pub(super) target: &'a mut [T],
}

/// How updates change the target: an assign, or a reduction.
pub(super) trait Update<T>: Sync {
    /// True for float sums, which depend on the order of their terms.
    fn is_sum_of_floats(&self) -> bool {
        false
    }

    /// Scatters sums and products of halves, which have a loop of their own. `None` for all other updates.
    fn scatter_halves(
        &self,
        _rows: (&Rows<'_>, &Slices),
        _updates: &[T],
        _target: &mut [T],
        _threads: Option<usize>,
    ) -> Option<Result<(), RunError>> {
        None
    }

    /// True if a row keeps its last update only.
    fn is_assign(&self) -> bool {
        false
    }

    fn update(&self, step: Step<'_, T>);

    /// Copies to each row the slice of updates that wins it, by its number, if there is one. Beside updates is how many
    /// there are. Called for assigns only.
    fn copy_winners(&self, _: &Slices, _winners: &[u64], _updates: (&[T], u64), _to: &mut [T]) {}

    /// Adds slices to another, in order; called for float sums only.
    fn add(&self, _to: &mut [T], _updates: UpdatesOfRow<'_, T>) {}

    /// Adds numbers to the sums of their rows, up to the first sum that takes no more; returns how many. Beside sums is how
    /// many each still takes, plus 1. A NaN stays one, of any bits. Called for float sums only.
    fn add_numbers(
        &self,
        _sums: (&mut [T], &mut [u32]),
        _rows: &[u64],
        _first_row: u64,
        _updates: &[T],
    ) -> usize {
        0
    }
}

/// Neighbouring slices of updates that one row meets. The first begins `updates`.
#[derive(Clone, Copy)]
pub(super) struct UpdatesOfRow<'a, T> {
    pub(super) updates: &'a [T],
    pub(super) stride: usize,
    pub(super) count: usize,
}

impl<'a, T> UpdatesOfRow<'a, T> {
    pub(super) fn one(updates: &'a [T]) -> Self {
        Self {
            updates,
            stride: 0,
            count: 1,
        }
    }

    /// Takes the first `count` away, and returns them.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Self {
        let first = Self { count, ..*self };
        self.count -= count;
        // Nothing may follow the last slice.
        let start = if self.count > 0 {
            count * self.stride
        } else {
            0
        };
        self.updates = &self.updates[start..];
        first
    }
}

impl<'a, T> Step<'a, T> {
    /// Calls `update` with each target slice and its slice of updates. `len` repeats their length: if it is a constant, a
    /// prefetch is one or two moves.
    #[inline(always)]
    fn each(self, len: usize, update: impl Fn(&mut [T], &[T])) {
        let &Slices {
            target_stride,
            updates_stride,
            prefetch,
            ..
        } = self.slices;
        let (first_row, row_count) = (self.part.start, self.part.end - self.part.start);
        let start_of = |row: u64| address(row).wrapping_mul(target_stride);
        let later = self.later();
        for (k, &row) in self.rows[..self.count].iter().enumerate() {
            if let Some(later) = later.get(k) {
                let start = start_of(later.wrapping_sub(first_row));
                prefetch.slice(self.target, start, len);
            }
            let row = row.wrapping_sub(first_row);
            // A bad row and one that is not held are larger than all.
            if row < row_count {
                let target = &mut self.target[start_of(row)..][..len];
                update(target, &self.updates[k * updates_stride..][..len]);
            }
        }
    }

    /// As [`each`](Self::each), for slices that are one `E` without gaps: one comparison judges a row and finds its slice.
    #[inline(always)]
    fn each_value<E: Copy>(&self, target: &mut [E], updates: &[E], update: impl Fn(E, E) -> E) {
        let first_row = self.part.start;
        let update_row = |target: &mut [E], row: u64, from: E| {
            let place = usize::try_from(row.wrapping_sub(first_row)).ok();
            if let Some(to) = place.and_then(|place| target.get_mut(place)) {
                *to = update(*to, from);
            }
        };
        let (rows, later) = (&self.rows[..self.count], self.later());
        let (first, rest) = rows.split_at(later.len());
        let (of_first, of_rest) = updates.split_at(later.len());
        for ((&row, &from), &later) in first.iter().zip(of_first).zip(later) {
            let place = address(later.wrapping_sub(first_row));
            self.slices.prefetch.slice(target, place, 1);
            update_row(target, row, from);
        }
        for (&row, &from) in rest.iter().zip(of_rest) {
            update_row(target, row, from);
        }
    }

    /// The rows to prefetch before the first rows are updated, one for each.
    fn later(&self) -> &'a [u64] {
        match self.slices.prefetch.rows_ahead() {
            0 => &[],
            ahead => {
                let later = self.rows.get(ahead..).unwrap_or_default();
                &later[..later.len().min(self.count)]
            }
        }
    }

    fn is_dense(&self) -> bool {
        let Slices {
            len,
            target_stride,
            updates_stride,
            ..
        } = *self.slices;
        (target_stride, updates_stride) == (len, len)
    }
}

/// A row keeps its last update.
pub(super) struct Assign;

impl Update<Byte> for Assign {
    fn is_assign(&self) -> bool {
        true
    }

    fn copy_winners(&self, of: &Slices, winners: &[u64], updates: (&[Byte], u64), to: &mut [Byte]) {
        let slices = copy::Slices {
            bytes: SliceBytes {
                slice: of.len,
                params_slice: of.len,
                params_stride: of.updates_stride,
                output_stride: of.target_stride,
            },
            prefetch: Prefetch::of_copies(updates.0.len(), of.len),
        };
        let mut done = 0;
        while done < winners.len() {
            let (rows, to) = (&winners[done..], &mut to[done * of.target_stride..]);
            // The copy ends before a row that has no winner.
            done += 1 + copy::copy(updates.0, updates.1, &slices, rows, rows.len(), to);
        }
    }

    fn update(&self, step: Step<'_, Byte>) {
        match (step.is_dense(), step.slices.len) {
            (true, 1) => step.assign::<1>(),
            (true, 2) => step.assign::<2>(),
            (true, 4) => step.assign::<4>(),
            (true, 8) => step.assign::<8>(),
            (true, 16) => step.assign::<16>(),
            (_, len) => by_width!(len, |width, copy_slice| {
                step.each(width, |to, from| copy_slice(from, to))
            }),
        }
    }
}

impl Step<'_, Byte> {
    #[inline(always)]
    fn assign<const N: usize>(mut self) {
        let target = std::mem::take(&mut self.target).as_chunks_mut::<N>().0;
        self.each_value(target, self.updates.as_chunks().0, |_, update| update);
    }
}

/// An element becomes the reduction of itself and its updates.
pub(super) struct Reduced(pub(super) Reduce);

impl<T: Number> Update<T> for Reduced {
    fn is_sum_of_floats(&self) -> bool {
        T::IS_FLOAT && self.0 == Reduce::Add
    }

    fn scatter_halves(
        &self,
        rows: (&Rows<'_>, &Slices),
        updates: &[T],
        target: &mut [T],
        threads: Option<usize>,
    ) -> Option<Result<(), RunError>> {
        let is_wide = T::IS_HALF && matches!(self.0, Reduce::Add | Reduce::Mul);
        is_wide.then(|| halves::scatter_halves(self.0, rows, updates, target, threads))
    }

    fn update(&self, step: Step<'_, T>) {
        match self.0 {
            Reduce::Add => step.reduce(T::plus),
            Reduce::Mul => step.reduce(T::times),
            Reduce::Min => step.reduce(T::lesser),
            Reduce::Max => step.reduce(T::greater),
        }
    }

    #[inline]
    fn add(&self, to: &mut [T], of: UpdatesOfRow<'_, T>) {
        if to.len() <= MAX_LEN_OF_PARTS {
            let done = add_chunks::<16, T>(to, 0, of);
            let done = add_chunks::<4, T>(to, done, of);
            add_chunks::<1, T>(to, done, of);
        } else {
            for k in 0..of.count {
                reduce_slice(to, &of.updates[k * of.stride..][..to.len()], T::plus);
            }
        }
    }

    #[inline(never)]
    fn add_numbers(
        &self,
        (sums, left): (&mut [T], &mut [u32]),
        rows: &[u64],
        first_row: u64,
        updates: &[T],
    ) -> usize {
        let sums = &mut sums[..left.len()];
        for (k, (&row, &update)) in rows.iter().zip(updates).enumerate() {
            let place = usize::try_from(row.wrapping_sub(first_row)).unwrap_or(usize::MAX);
            if let Some(left) = left.get_mut(place) {
                *left -= 1;
                if *left == 0 {
                    return k;
                }
                sums[place] = sums[place].plus(update);
            }
        }
        rows.len()
    }
}

impl<T: Number> Step<'_, T> {
    #[inline(always)]
    fn reduce(mut self, reduce: impl Fn(T, T) -> T) {
        match self.slices.len {
            1 if self.is_dense() => {
                let target = std::mem::take(&mut self.target);
                self.each_value(target, self.updates, |to, from| one_nan(reduce(to, from)));
            }
            // As a constant, the length of many float slices spares the loops over what is left.
            4 if T::IS_FLOAT => self.each(4, |to, from| reduce_slice(to, from, &reduce)),
            8 if T::IS_FLOAT => self.each(8, |to, from| reduce_slice(to, from, &reduce)),
            16 if T::IS_FLOAT => self.each(16, |to, from| reduce_slice(to, from, &reduce)),
            32 if T::IS_FLOAT => self.each(32, |to, from| reduce_slice(to, from, &reduce)),
            64 if T::IS_FLOAT => self.each(64, |to, from| reduce_slice(to, from, &reduce)),
            len => self.each(len, |to, from| reduce_slice(to, from, &reduce)),
        }
    }
}

/// Adds parts of slices to those of another, from element `done` on, with sums in registers. Returns how far it came.
#[inline(always)]
fn add_chunks<const N: usize, T: Number>(
    to: &mut [T],
    mut done: usize,
    of: UpdatesOfRow<'_, T>,
) -> usize {
    for chunk in to[done..].as_chunks_mut::<N>().0 {
        let mut sums = *chunk;
        for k in 0..of.count {
            let updates = &of.updates[k * of.stride + done..][..N];
            for (sum, &update) in sums.iter_mut().zip(updates) {
                *sum = sum.plus(update);
            }
        }
        // A NaN stays a NaN, so it is replaced once, at the end.
        *chunk = sums.map(T::of_one_nan);
        done += N;
    }
    done
}

/// A number, or the one NaN. A branch is sooner done than a choice: a NaN is rare.
#[inline(always)]
fn one_nan<T: Number>(number: T) -> T {
    #[cold]
    fn replaced<T: Number>(nan: T) -> T {
        nan.of_one_nan()
    }
    match number.is_a_nan() {
        true => replaced(number),
        false => number,
    }
}

/// Reduces each element of a slice with its update.
#[inline(always)]
fn reduce_slice<T: Number>(elements: &mut [T], updates: &[T], reduce: impl Fn(T, T) -> T) {
    if T::IS_FLOAT {
        let done = reduce_chunks::<16, T>(elements, updates, &reduce);
        let (elements, updates) = (&mut elements[done..], &updates[done..]);
        let done = reduce_chunks::<4, T>(elements, updates, &reduce);
        for (element, &update) in elements[done..].iter_mut().zip(&updates[done..]) {
            *element = reduce(*element, update).of_one_nan();
        }
    } else {
        for (element, &update) in elements.iter_mut().zip(updates) {
            *element = reduce(*element, update);
        }
    }
}

/// Reduces floats `N` at a time, which one check finds to hold a NaN or none. Returns how many it reduced.
#[inline(always)]
fn reduce_chunks<const N: usize, T: Number>(
    elements: &mut [T],
    updates: &[T],
    reduce: impl Fn(T, T) -> T,
) -> usize {
    let (chunks, rest) = elements.as_chunks_mut::<N>();
    for (chunk, updates) in chunks.iter_mut().zip(updates.as_chunks::<N>().0) {
        let (mut reduced, mut nans) = (*chunk, 0);
        for (value, &update) in reduced.iter_mut().zip(updates) {
            *value = reduce(*value, update);
        }
        // One comparison of two vectors finds a NaN in either.
        for k in 0..N / 2 {
            nans |= u32::from(reduced[k].is_a_nan() | reduced[k + N / 2].is_a_nan());
        }
        *chunk = reduced;
        if nans > 0 {
            *chunk = reduced.map(T::of_one_nan);
        }
    }
    updates.len() - rest.len()
}
