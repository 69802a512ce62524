//! Sums and products of halves: a row is widened to `f32`, takes all its updates, and is rounded once.
//!
//! So that a row needs `f32`s only while it takes its updates, the index rows of a block are sorted by the row that each selects.
//! Threads take neighbouring rows.

use std::ops::Range;

use super::rows::{Job, Rows, Slices, run_all};
use crate::cpu::gather::threads_for;
use crate::error::RunError;
use crate::memory::{Leveled, address, prefetch, run_at_best_level};
use crate::operand::Operand;
use crate::reduce::{Number, Reduce};

/// How many updates of a row are added one by one; each later as many are summed by themselves.
const SUM_UPDATES: usize = 1024;

/// How many updates ahead of the one that is added are prefetched.
const UPDATES_AHEAD: usize = 8;

/// A cache line.
const LINE_BYTES: usize = 64;

/// An index row: the row that it selects, counted in its block, and its number there.
type Pair = (u64, u64);

/// Reduces halves by `reduce`: a sum or a product. The caller has checked rows and lengths.
pub(super) fn scatter_halves<T: Number>(
    reduce: Reduce,
    (rows, slices): (&Rows<'_>, &Slices),
    updates: &[T],
    mut target: &mut [T],
    threads: Option<usize>,
) -> Result<(), RunError> {
    let dims = rows.dims();
    let pairs = || Operand::Counts.vector(dims.index_count);
    let (mut pairs, mut others) = (pairs()?, pairs()?);
    let threads = threads.unwrap_or_else(|| {
        threads_for(dims.index_count, slices.len.saturating_mul(size_of::<T>()))
    });
    let mut rooms = Vec::with_capacity(threads);
    for _ in 0..threads {
        rooms.push(Room::new(slices.len)?);
    }
    for block in 0..dims.batch_size * dims.outer_size {
        let of_block = block * dims.index_count..(block + 1) * dims.index_count;
        find_pairs(rows, of_block.clone(), rows.first_of(block), &mut pairs);
        sort(&mut pairs, &mut others, dims.held_rows);
        let len = address(dims.held_rows).wrapping_mul(slices.target_stride);
        let (of_target, rest) = target.split_at_mut(len.min(target.len()));
        target = rest;
        let updates = &updates[address(of_block.start) * slices.updates_stride..];
        let parts = Part {
            pairs: &pairs,
            target: of_target,
            first_row: 0,
            stride: slices.target_stride,
        };
        let sums = Sums {
            reduce,
            slices,
            updates,
        };
        let most = pairs.len().div_ceil(threads);
        let parts = parts.each(most).zip(&mut rooms);
        if threads == 1 {
            parts.for_each(|(part, room)| sums.update(part, room));
            continue;
        }
        let mut jobs: Vec<Job<'_>> = Vec::with_capacity(threads);
        for (part, room) in parts {
            jobs.push(Box::new(move || sums.update(part, room)));
        }
        run_all(jobs);
    }
    Ok(())
}

/// The block's index rows whose update is not dropped, in order.
fn find_pairs(rows: &Rows<'_>, of_block: Range<u64>, first_row: u64, pairs: &mut Vec<Pair>) {
    let held_rows = rows.dims().held_rows;
    pairs.clear();
    let mut number = 0;
    rows.each_step(address(of_block.start)..address(of_block.end), |located| {
        for row in located {
            let row = row.wrapping_sub(first_row);
            if row < held_rows {
                pairs.push((row, number));
            }
            number += 1;
        }
    });
}

/// Bits of a row's number by which one pass sorts.
const DIGIT_BITS: usize = 11;

/// Sorts pairs by their rows, which are fewer than `held_rows`. Those of one row keep their order.
fn sort(pairs: &mut Vec<Pair>, others: &mut Vec<Pair>, held_rows: u64) {
    if pairs.len() < 1 << DIGIT_BITS {
        return pairs.sort_unstable();
    }
    let bits = (u64::BITS - held_rows.leading_zeros()) as usize;
    for shift in (0..bits).step_by(DIGIT_BITS) {
        let digit = |row: u64| address(row >> shift) % (1 << DIGIT_BITS);
        if pairs.is_sorted_by_key(|&(row, _)| row) {
            return;
        }
        let mut places = [0; 1 << DIGIT_BITS];
        for &(row, _) in &*pairs {
            places[digit(row)] += 1;
        }
        let mut next = 0;
        for place in &mut places {
            next += std::mem::replace(place, next);
        }
        others.resize(pairs.len(), (0, 0));
        for &pair in &*pairs {
            let place = &mut places[digit(pair.0)];
            others[*place] = pair;
            *place += 1;
        }
        std::mem::swap(pairs, others);
    }
}

/// Sorted pairs, and the target rows that they select.
struct Part<'p, 't, T> {
    pairs: &'p [Pair],
    target: &'t mut [T],
    /// The target's first row.
    first_row: u64,
    stride: usize,
}

impl<'p, 't, T> Part<'p, 't, T> {
    /// Cuts into parts of `most` pairs, or of more if these select one row.
    fn each(self, most: usize) -> impl Iterator<Item = Self> {
        let mut left = Some(self);
        std::iter::from_fn(move || {
            let Part {
                pairs,
                target,
                first_row,
                stride,
            } = left.take().filter(|left| !left.pairs.is_empty())?;
            let (last, _) = pairs[most.min(pairs.len()) - 1];
            let end = pairs.partition_point(|&(row, _)| row <= last);
            let (pairs, later_pairs) = pairs.split_at(end);
            let start = address(last + 1 - first_row).saturating_mul(stride);
            let (target, later) = target.split_at_mut(start.min(target.len()));
            left = Some(Part {
                pairs: later_pairs,
                target: later,
                first_row: last + 1,
                stride,
            });
            Some(Part {
                pairs,
                target,
                first_row,
                stride,
            })
        })
    }
}

/// Room for a row, for a later sum of it, and for an update.
struct Room {
    row: Vec<f32>,
    sum: Vec<f32>,
    update: Vec<f32>,
}

impl Room {
    fn new(slice_len: usize) -> Result<Self, RunError> {
        let of_slice = || {
            let mut room = Operand::Counts.vector(slice_len as u64)?;
            room.resize(slice_len, 0.0);
            Ok::<_, RunError>(room)
        };
        Ok(Self {
            row: of_slice()?,
            sum: of_slice()?,
            update: of_slice()?,
        })
    }
}

/// The updates of a block, and how they are reduced.
#[derive(Clone, Copy)]
struct Sums<'a, T> {
    reduce: Reduce,
    slices: &'a Slices,
    updates: &'a [T],
}

struct PartOfSums<'a, 'p, 't, T>(Sums<'a, T>, Part<'p, 't, T>, &'a mut Room);

impl<T: Number> Leveled for PartOfSums<'_, '_, '_, T> {
    #[inline(always)]
    fn run(self) {
        let Self(sums, part, room) = self;
        sums.update_rows(part, room);
    }
}

impl<T: Number> Sums<'_, T> {
    fn update(self, part: Part<'_, '_, T>, room: &mut Room) {
        run_at_best_level(PartOfSums(self, part, room));
    }

    #[inline(always)]
    fn update_rows(&self, part: Part<'_, '_, T>, room: &mut Room) {
        let mut pairs = part.pairs;
        for run in part.pairs.chunk_by(|a, b| a.0 == b.0) {
            let start = address(run[0].0 - part.first_row) * part.stride;
            let row = &mut part.target[start..][..self.slices.len];
            T::widen(row, &mut room.row);
            for (number, run) in run.chunks(SUM_UPDATES).enumerate() {
                if number == 0 || self.reduce == Reduce::Mul {
                    pairs = self.add(pairs, run, &mut room.update, &mut room.row);
                } else {
                    T::widen(self.update_of(run[0].1), &mut room.sum);
                    pairs = self.add(&pairs[1..], &run[1..], &mut room.update, &mut room.sum);
                    self.reduce(&mut room.row, &room.sum);
                }
            }
            T::narrow(&room.row, row);
        }
    }

    /// Reduces `to` with the updates of `run`, which begin `pairs`. Returns the pairs after them.
    #[inline(always)]
    fn add<'p>(
        &self,
        pairs: &'p [Pair],
        run: &[Pair],
        update: &mut [f32],
        to: &mut [f32],
    ) -> &'p [Pair] {
        for (at, &(_, number)) in run.iter().enumerate() {
            if let Some(&(_, ahead)) = pairs.get(at + UPDATES_AHEAD) {
                let lines = (self.slices.len * size_of::<T>()).min(4 * LINE_BYTES);
                for line in (0..lines).step_by(LINE_BYTES) {
                    let start = address(ahead) * self.slices.updates_stride;
                    prefetch(self.updates, start + line / size_of::<T>());
                }
            }
            T::widen(self.update_of(number), update);
            self.reduce(to, update);
        }
        &pairs[run.len()..]
    }

    #[inline(always)]
    fn update_of(&self, number: u64) -> &[T] {
        &self.updates[address(number) * self.slices.updates_stride..][..self.slices.len]
    }

    #[inline(always)]
    fn reduce(&self, to: &mut [f32], updates: &[f32]) {
        let each = to.iter_mut().zip(updates);
        match self.reduce {
            Reduce::Mul => each.for_each(|(to, update)| *to *= update),
            _ => each.for_each(|(to, update)| *to += update),
        }
    }
}
