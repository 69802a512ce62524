//! Rows that meet so many float updates that these are summed apart.
//!
//! The first 1,024 updates of a row are added to it one by one. Each later 1,024 are summed by themselves, starting from their
//! first, and that sum is then added. So a GPU need not add a million updates in one chain, and the sum rounds less.
//!
//! A small target of single numbers has a sum for each row. For other targets, updates are counted while they are added, in a few
//! counters, each for several rows. Only when a counter passes 1,024 are the block's index rows read again, to find the rows that
//! have so many.

use std::ops::Range;

use crate::cpu::index_rows::NOT_HELD;
use crate::error::RunError;
use crate::memory::address;
use crate::operand::Operand;
use crate::plan::GatherDims;

use super::rows::{Rows, STEP_ROWS, Slices};
use super::update::{Step, Update, UpdatesOfRow};

/// How many first updates of a row are added one by one, and how many each later sum covers.
const UPDATES_OF_A_SUM: u32 = 1024;

/// Updates that a counter counts on average: so few that it seldom passes `UPDATES_OF_A_SUM`.
const UPDATES_OF_A_COUNTER: u64 = 256;

/// A core's near caches hold so many sums beside other data.
const MAX_SMALL_ROWS: u64 = 8 << 10;

/// A small target's rows meet so many updates on average: enough that it pays to copy all rows.
const MIN_UPDATES_OF_SMALL: u64 = 16;

/// The most index rows of a block that may select one row: in a gather_elements, those along the axis.
fn most_of_a_row(dims: &GatherDims) -> u64 {
    let of_axis = dims.element_dims.iter().filter(|dim| dim.stride == 0);
    match dims.has_element_dims() {
        true => of_axis.map(|dim| dim.size).product(),
        false => dims.index_count,
    }
}

/// The rows of a block that more than 1,024 of its index rows may select, with their sums.
pub(super) struct OftenRows<T> {
    slice_len: usize,
    /// The block's first row, as rows are located.
    first_row: u64,
    held_rows: u64,
    /// True if all rows have sums, in each block.
    are_all: bool,
    /// True if `rows` are those of the block's batch.
    are_known: bool,
    /// Until then, how many updates rows have met, those together whose numbers have equal low bits. From then on a row's
    /// place in `rows` plus 1, for one of those rows; 0 if none is often.
    counters: Vec<u32>,
    /// Room to find `rows`.
    runs: Vec<u64>,
    /// Numbers of rows in their block, ascending. All blocks of a batch have the same.
    rows: Vec<u64>,
    /// A slice for each of `rows`: it begins as the row itself, and later as the first update of a sum.
    sums: Vec<T>,
    /// How many updates each sum still takes, plus 1.
    left: Vec<u32>,
    /// True where the sum is to be added to the row, and false where it is to replace the row.
    are_later: Vec<bool>,
    /// Rows of a step, but for those with sums.
    others: Vec<u64>,
}

impl<T: Copy> OftenRows<T> {
    /// `None` if no row can have more than 1,024 updates. Reserves all memory that sums may need: at most 9 bytes for each
    /// index row of a block, and a slice for each 1,024. Unless there are such rows, it writes to little of that. For a small
    /// target it takes up to 29 bytes for each of its rows.
    pub(super) fn new(dims: &GatherDims, slice_len: usize) -> Result<Option<Self>, RunError> {
        if most_of_a_row(dims) <= UPDATES_OF_A_SUM.into() {
            return Ok(None);
        }
        let (held_rows, index_count) = (dims.held_rows, dims.index_count);
        let are_few = held_rows <= MAX_SMALL_ROWS.min(index_count / MIN_UPDATES_OF_SMALL);
        let are_all = are_few && slice_len == 1;
        // Few counters, so that they stay in a core's cache.
        let [counters, most] = match are_all {
            true => [held_rows; 2],
            false => [UPDATES_OF_A_COUNTER, UPDATES_OF_A_SUM.into()]
                .map(|updates| held_rows.min(index_count / updates)),
        };
        let counters = counters.next_power_of_two();
        let runs = if counters < held_rows { index_count } else { 0 };
        let mut often = Self {
            slice_len,
            first_row: 0,
            held_rows,
            are_all,
            are_known: false,
            counters: Operand::Counts.vector(counters)?,
            runs: Operand::Counts.vector(runs)?,
            rows: Operand::Counts.vector(most)?,
            sums: Operand::Counts.vector(most.saturating_mul(slice_len as u64))?,
            left: Operand::Counts.vector(most)?,
            are_later: Operand::Counts.vector(most)?,
            others: Operand::Counts.vector(STEP_ROWS as u64)?,
        };
        often.counters.resize(address(counters), 0);
        if are_all {
            often.rows.extend(0..held_rows);
            often.know();
        }
        Ok(Some(often))
    }

    /// Starts the counts and sums of a block. `first_row` is the number by which its first row is located.
    pub(super) fn begin(&mut self, is_first_of_batch: bool, first_row: u64, of: (&[T], &Slices)) {
        self.first_row = first_row;
        if is_first_of_batch && !self.are_all {
            self.are_known = false;
            self.rows.clear();
            self.counters.fill(0);
        }
        self.begin_sums(of);
    }

    /// Notes the places of `rows`.
    fn know(&mut self) {
        self.are_known = true;
        self.counters.fill(0);
        let mask = self.counters.len() - 1;
        for (place, &row) in (1..).zip(&self.rows) {
            self.counters[address(row) & mask] = place;
        }
    }

    /// Where the slice of a row with a sum lies in the block's target.
    fn slice_of(&self, place: usize, slices: &Slices) -> Range<usize> {
        let start = address(self.rows[place]).wrapping_mul(slices.target_stride);
        start..start + self.slice_len
    }

    /// Begins the sums of the block's rows, which have met no updates.
    fn begin_sums(&mut self, (target, slices): (&[T], &Slices)) {
        self.sums.clear();
        for place in 0..self.rows.len() {
            let slice = &target[self.slice_of(place, slices)];
            self.sums.extend_from_slice(slice);
        }
        self.left.clear();
        self.left.resize(self.rows.len(), UPDATES_OF_A_SUM + 1);
        self.are_later.clear();
        self.are_later.resize(self.rows.len(), false);
    }

    /// Counts located rows, unless the rows with sums are known. True if a row may have more than 1,024 updates, so that they
    /// must be found.
    pub(super) fn count(&mut self, located: &[u64]) -> bool {
        if self.are_known {
            return false;
        }
        let mask = self.counters.len() - 1;
        // A bit of 1,024 and above is set if a counter has it.
        let mut bits = 0;
        for row in located {
            let counter = &mut self.counters[address(row.wrapping_sub(self.first_row)) & mask];
            *counter += 1;
            bits |= *counter;
        }
        bits >= UPDATES_OF_A_SUM
    }

    /// Finds the rows of the block's batch. `added` are the block's updates that were added before, `block` all of them.
    #[cold]
    #[inline(never)]
    pub(super) fn find(
        &mut self,
        rows: &Rows<'_>,
        added: Range<usize>,
        block: Range<usize>,
        of: (&[T], &Slices),
    ) {
        let mask = self.counters.len() - 1;
        let (first_row, held_rows) = (self.first_row, self.held_rows);
        // Neighbours that are equal are counted at once.
        let for_each_run = |visit: &mut dyn FnMut(u64, u32)| {
            rows.each_step(block.clone(), |located| {
                for run in located.chunk_by(|a, b| a == b) {
                    let row = run[0].wrapping_sub(first_row);
                    if row < held_rows {
                        let len = u32::try_from(run.len()).expect("at most a step");
                        visit(row, len);
                    }
                }
            });
        };
        self.counters.fill(0);
        for_each_run(&mut |row, len| {
            let counter = &mut self.counters[address(row) & mask];
            *counter = counter.saturating_add(len);
        });
        let may_be_often = |row: u64| self.counters[address(row) & mask] > UPDATES_OF_A_SUM;
        if self.runs.capacity() == 0 {
            self.rows
                .extend((0..held_rows).filter(|&row| may_be_often(row)));
        } else {
            // A run's length less 1 in the low byte, and the row above it: a target in memory has fewer than 2^56.
            self.runs.clear();
            for_each_run(&mut |row, len| {
                if may_be_often(row) {
                    self.runs.push(row << 8 | u64::from(len - 1));
                }
            });
            self.runs.sort_unstable();
            let of_rows = self.runs.chunk_by(|a, b| a >> 8 == b >> 8);
            let updates_of = |runs: &[u64]| -> u64 { runs.iter().map(|run| (run & 255) + 1).sum() };
            let of_rows = of_rows.filter(|runs| updates_of(runs) > UPDATES_OF_A_SUM.into());
            self.rows.extend(of_rows.map(|runs| runs[0] >> 8));
        }
        self.know();
        self.begin_sums(of);
        if self.are_any() {
            // No row had more than 1,024.
            rows.each_step(added, |located| {
                for &row in located {
                    if let Some(place) = self.place(row) {
                        self.left[place] -= 1;
                    }
                }
            });
        }
    }

    /// False if no row of the block is known to be often.
    pub(super) fn are_any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The place of a located row among these rows.
    #[inline]
    fn place(&self, row: u64) -> Option<usize> {
        let row = row.wrapping_sub(self.first_row);
        let hint = self.counters[address(row) & (self.counters.len() - 1)];
        let place = (hint as usize).checked_sub(1)?;
        match self.rows[place] == row {
            true => Some(place),
            // Several rows share the counter.
            false => self.rows.binary_search(&row).ok(),
        }
    }

    /// Applies the updates of a step to sums, and to rows without sums.
    pub(super) fn update(&mut self, step: Step<'_, T>, by: &impl Update<T>) {
        let (slices, rows) = (step.slices, &step.rows[..step.count]);
        let stride = slices.updates_stride;
        if !self.are_all {
            self.others.clear();
            self.others.extend_from_slice(step.rows);
        }
        let (mut done, mut others) = (0, 0);
        while done < rows.len() {
            if self.are_all && stride == 1 {
                let (sums, updates) = (
                    (&mut self.sums[..], &mut self.left[..]),
                    &step.updates[done..],
                );
                done += by.add_numbers(sums, &rows[done..], self.first_row, updates);
            }
            let Some(&row) = rows.get(done) else { break };
            let later = rows[done + 1..].iter();
            let count = 1 + later.take_while(|&&later| later == row).count();
            if let Some(place) = self.place(row) {
                let target = &mut step.target[self.slice_of(place, slices)];
                let run = UpdatesOfRow {
                    updates: &step.updates[done * stride..],
                    stride,
                    count,
                };
                self.add(place, target, run, by);
                let others = self.others.iter_mut().skip(done).take(count);
                others.for_each(|row| *row = NOT_HELD);
            } else {
                others += count;
            }
            done += count;
        }
        if others > 0 && !self.are_all {
            by.update(Step {
                rows: &self.others,
                ..step
            });
        }
    }

    /// Adds a run of a row's updates to its sum.
    #[inline]
    fn add(
        &mut self,
        place: usize,
        target: &mut [T],
        mut run: UpdatesOfRow<'_, T>,
        by: &impl Update<T>,
    ) {
        let sum = &mut self.sums[place * self.slice_len..][..self.slice_len];
        let (left, is_later) = (&mut self.left[place], &mut self.are_later[place]);
        while run.count > 0 {
            if *left <= 1 {
                end_sum(*is_later, target, sum, by);
                sum.copy_from_slice(&run.take(1).updates[..self.slice_len]);
                (*left, *is_later) = (UPDATES_OF_A_SUM, true);
            } else {
                let count = run.count.min(*left as usize - 1);
                by.add(sum, run.take(count));
                *left -= u32::try_from(count).expect("at most what is left");
            }
        }
    }

    /// Ends a block: applies the last sum of each row.
    pub(super) fn end(&mut self, target: &mut [T], slices: &Slices, by: &impl Update<T>) {
        // The next block of the batch has the same rows.
        self.are_known = true;
        for (place, sum) in self.sums.chunks_exact(self.slice_len).enumerate() {
            let is_later = self.are_later[place];
            if is_later || self.left[place] <= UPDATES_OF_A_SUM {
                let target = &mut target[self.slice_of(place, slices)];
                end_sum(is_later, target, sum, by);
            }
        }
    }
}

/// Applies a sum to its row.
fn end_sum<T: Copy>(is_later: bool, target: &mut [T], sum: &[T], by: &impl Update<T>) {
    if !is_later {
        target.copy_from_slice(sum);
    }
    let mut sums = UpdatesOfRow::one(sum);
    // Without an update, a NaN of the row becomes the one NaN.
    sums.count = usize::from(is_later);
    by.add(target, sums);
}
