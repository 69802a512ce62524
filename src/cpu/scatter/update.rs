//! The innermost loop of a scatter, which assigns or reduces the rows of a step.

use std::ops::Range;

use crate::cpu::copy::{Prefetch, by_width};
use crate::memory::{Byte, address};
use crate::reduce::{Number, Reduce};

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

    fn update(&self, step: Step<'_, T>);

    /// Adds slices to another, in order; called for float sums only.
    fn add<'u>(&self, _to: &mut [T], _updates: impl Iterator<Item = &'u [T]>)
    where
        T: 'u,
    {
    }
}

/// The slices of target and updates, measured in elements of the loop's type.
pub(super) struct Slices {
    pub(super) len: usize,
    pub(super) target_stride: usize,
    pub(super) updates_stride: usize,
    pub(super) prefetch: Prefetch,
}

impl<T> Step<'_, T> {
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
        // None for a bad row, a row that is not held, and another thread's row.
        let row_count = self.part.end - self.part.start;
        let held =
            |row: u64| Some(row.wrapping_sub(self.part.start)).filter(|&row| row < row_count);
        for (k, &row) in self.rows[..self.count].iter().enumerate() {
            if let Some(&later) = self.later(k) {
                let start = address(held(later).unwrap_or(0)).wrapping_mul(target_stride);
                prefetch.slice(self.target, start, len);
            }
            if let Some(row) = held(row) {
                let target = &mut self.target[address(row) * target_stride..][..len];
                update(target, &self.updates[k * updates_stride..][..len]);
            }
        }
    }

    /// As [`each`](Self::each), for slices that are one `E` without gaps: one comparison judges a row and finds its slice.
    #[inline(always)]
    fn each_value<E: Copy>(&self, target: &mut [E], updates: &[E], update: impl Fn(E, E) -> E) {
        let place = |row: u64| address(row.wrapping_sub(self.part.start));
        let rows = self.rows[..self.count].iter();
        for (k, (&row, &from)) in rows.zip(updates).enumerate() {
            if let Some(&later) = self.later(k) {
                self.slices.prefetch.slice(target, place(later), 1);
            }
            if let Some(to) = target.get_mut(place(row)) {
                *to = update(*to, from);
            }
        }
    }

    /// The row to prefetch before row `k` is updated.
    #[inline(always)]
    fn later(&self, k: usize) -> Option<&u64> {
        match self.slices.prefetch.rows_ahead() {
            0 => None,
            ahead => self.rows.get(k + ahead),
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

    fn update(&self, step: Step<'_, T>) {
        match self.0 {
            Reduce::Add => step.reduce(T::plus),
            Reduce::Mul => step.reduce(T::times),
            Reduce::Min => step.reduce(T::lesser),
            Reduce::Max => step.reduce(T::greater),
        }
    }

    fn add<'u>(&self, to: &mut [T], updates: impl Iterator<Item = &'u [T]>) {
        // A single number stays in a register. A NaN stays a NaN, so it is replaced once, at the end.
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

impl<T: Number> Step<'_, T> {
    #[inline(always)]
    fn reduce(mut self, reduce: impl Fn(T, T) -> T) {
        match self.slices.len {
            1 if self.is_dense() => {
                let target = std::mem::take(&mut self.target);
                self.each_value(target, self.updates, |to, from| {
                    reduce(to, from).of_one_nan()
                });
            }
            len => self.each(len, |to, from| reduce_slice(to, from, &reduce)),
        }
    }
}

/// Reduces each element of a slice with its update. One check after the loop finds whether a NaN came out, so that the loop
/// stays short.
#[inline(always)]
fn reduce_slice<T: Number>(elements: &mut [T], updates: &[T], reduce: impl Fn(T, T) -> T) {
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
