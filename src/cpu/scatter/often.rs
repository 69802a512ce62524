//! Rows that meet so many float updates that these are summed apart.
//!
//! The first 1,024 updates of a row are added to it one by one. Each later 1,024 are summed by themselves, starting from their
//! first, and that sum is then added. So a GPU need not add a million updates in one chain, and the sum rounds less.
//!
//! While updates are added, they are counted in a few counters, each for several rows. Only when a counter passes 1,024 are
//! the block's index rows read again, to find the rows that have so many.

use std::ops::Range;

use crate::error::RunError;
use crate::memory::address;
use crate::operand::Operand;
use crate::plan::GatherDims;

use super::rows::Rows;
use super::update::{Update, UpdatesOfRow};

/// How many first updates of a row are added one by one, and how many each later sum covers.
const UPDATES_OF_A_SUM: u64 = 1024;

/// Updates that a counter counts on average: so few that it seldom passes `UPDATES_OF_A_SUM`.
const UPDATES_OF_A_COUNTER: u64 = 256;

/// The most index rows of a block that may select one row: in a gather_elements, those along the axis.
fn most_of_a_row(dims: &GatherDims) -> u64 {
    let of_axis = dims.element_dims.iter().filter(|dim| dim.stride == 0);
    match dims.has_element_dims() {
        true => of_axis.map(|dim| dim.size).product(),
        false => dims.index_count,
    }
}

/// The rows of a block that more than 1,024 of its index rows select, with their sums.
pub(super) struct OftenRows<T> {
    slice_len: usize,
    /// The block's first row in the target.
    first_row: u64,
    held_rows: u64,
    /// True if `rows` are those of the block's batch.
    is_known: bool,
    /// Until then, how many updates rows have met, those together whose numbers have equal low bits. From then on a row's
    /// place in `rows` plus 1, for one of those rows; 0 if none is often.
    counters: Vec<u32>,
    /// Room to find `rows`.
    runs: Vec<u64>,
    /// Numbers of rows in their block, ascending. All blocks of a batch have the same.
    rows: Vec<u64>,
    /// Updates that each of `rows` has met.
    met: Vec<u64>,
    /// A slice for each of `rows`.
    sums: Vec<T>,
}

impl<T: Copy> OftenRows<T> {
    /// `None` if no row can have more than 1,024 updates. Reserves all memory that sums may need: at most 9 bytes for each
    /// index row of a block, and a slice for each 1,024. Unless there are such rows, it writes to little of that.
    pub(super) fn new(dims: &GatherDims, slice_len: usize) -> Result<Option<Self>, RunError> {
        if most_of_a_row(dims) <= UPDATES_OF_A_SUM {
            return Ok(None);
        }
        // Few, so that they stay in a core's cache.
        let counters = (dims.index_count / UPDATES_OF_A_COUNTER).min(dims.held_rows);
        let counters = address(counters).next_power_of_two();
        let most = (dims.index_count / UPDATES_OF_A_SUM).min(dims.held_rows);
        let runs = match counters as u64 >= dims.held_rows {
            true => 0,
            false => dims.index_count,
        };
        let mut often = Self {
            slice_len,
            first_row: 0,
            held_rows: dims.held_rows,
            is_known: false,
            counters: Operand::Counts.vector(counters as u64)?,
            runs: Operand::Counts.vector(runs)?,
            rows: Operand::Counts.vector(most)?,
            met: Operand::Counts.vector(most)?,
            sums: Operand::Counts.vector(most.saturating_mul(slice_len as u64))?,
        };
        often.counters.resize(counters, 0);
        Ok(Some(often))
    }

    /// Begins a block.
    pub(super) fn begin(&mut self, dims: &GatherDims, block: u64) {
        self.first_row = block * self.held_rows;
        if dims.batch_of(block).1 == 0 {
            self.is_known = false;
            self.rows.clear();
            self.counters.fill(0);
        }
        self.met.fill(0);
    }

    /// Counts located rows. True if a row may have more than 1,024 updates, so that the rows must be found.
    pub(super) fn count(&mut self, located: &[u64]) -> bool {
        if self.is_known {
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
        u64::from(bits) >= UPDATES_OF_A_SUM
    }

    /// Finds the rows of the block's batch. `added` are the block's updates that were added before, `block` all of them.
    /// Sums start as `value`, which is not read.
    #[cold]
    #[inline(never)]
    pub(super) fn find(&mut self, rows: &Rows<'_>, added: Range<u64>, block: Range<u64>, value: T) {
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
        let is_often = |count: u64| count > UPDATES_OF_A_SUM;
        let may_be_often = |row: u64| is_often(self.counters[address(row) & mask].into());
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
            let updates_of = |runs: &[u64]| runs.iter().map(|run| (run & 255) + 1).sum();
            let of_rows = of_rows.filter(|runs| is_often(updates_of(runs)));
            self.rows.extend(of_rows.map(|runs| runs[0] >> 8));
        }
        self.counters.fill(0);
        for (place, &row) in (1..).zip(&self.rows) {
            self.counters[address(row) & mask] = place;
        }
        self.is_known = true;
        self.met.clear();
        self.met.resize(self.rows.len(), 0);
        self.sums.clear();
        self.sums.resize(self.rows.len() * self.slice_len, value);
        if !self.rows.is_empty() {
            rows.each_step(added, |located| {
                for &row in located {
                    if let Some(place) = self.place(row) {
                        self.met[place] += 1;
                    }
                }
            });
        }
    }

    /// False if no row of the block is known to be often.
    pub(super) fn are_any(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The place of a target row among these rows.
    #[inline]
    pub(super) fn place(&self, row: u64) -> Option<usize> {
        let row = row.wrapping_sub(self.first_row);
        let hint = self.counters[address(row) & (self.counters.len() - 1)];
        let place = (hint as usize).checked_sub(1)?;
        match self.rows[place] == row {
            true => Some(place),
            // Several rows share the counter.
            false => self.rows.binary_search(&row).ok(),
        }
    }

    /// Adds a run of a row's updates to its slice, or to its sum.
    #[inline]
    pub(super) fn update(
        &mut self,
        place: usize,
        target: &mut [T],
        mut run: UpdatesOfRow<'_, T>,
        by: &impl Update<T>,
    ) {
        let met = &mut self.met[place];
        let sum = &mut self.sums[place * self.slice_len..][..self.slice_len];
        while run.count > 0 {
            let of_sum = *met % UPDATES_OF_A_SUM;
            let count = run.count.min(address(UPDATES_OF_A_SUM - of_sum));
            let updates = run.take(count);
            match *met {
                ..UPDATES_OF_A_SUM => by.add(target, updates),
                _ if of_sum > 0 => by.add(sum, updates),
                met => {
                    if met > UPDATES_OF_A_SUM {
                        by.add(target, UpdatesOfRow::one(sum));
                    }
                    sum.copy_from_slice(&updates.updates[..self.slice_len]);
                    let mut others = updates;
                    others.take(1);
                    by.add(sum, others);
                }
            }
            *met += count as u64;
        }
    }

    /// Ends a block: calls `add` with each row that has a sum, by its number in the target, and with its last sum.
    pub(super) fn end(&mut self, mut add: impl FnMut(u64, &[T])) {
        // The next block of the batch has the same rows.
        self.is_known = true;
        let sums = self.sums.chunks_exact(self.slice_len);
        for ((&row, &met), sum) in self.rows.iter().zip(&self.met).zip(sums) {
            if met > UPDATES_OF_A_SUM {
                add(self.first_row + row, sum);
            }
        }
    }
}
