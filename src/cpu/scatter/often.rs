//! Rows that meet so many float updates that these are summed apart.
//!
//! The first 1,024 updates of a row are added to it one by one. Each later 1,024 are summed by themselves, starting from their
//! first, and that sum is then added. So a GPU need not add a million updates in one chain, and the sum rounds less.

use std::ops::Range;

use crate::error::RunError;
use crate::memory::address;
use crate::operand::Operand;
use crate::plan::GatherDims;

use super::rows::{LOCATED_ROWS, Rows};
use super::update::Update;

/// How many first updates of a row are added one by one, and how many each later sum covers.
const UPDATES_OF_A_SUM: u64 = 1024;

/// Updates that a counter counts on average: so few that it seldom passes `UPDATES_OF_A_SUM`.
const UPDATES_OF_A_COUNTER: u64 = 256;

/// The rows that more than 1,024 index rows of their batch select.
#[derive(Debug, Default)]
pub(super) struct OftenRows {
    /// True if every index row was counted, and so selects a row of the target.
    pub(super) are_good: bool,
    /// `batch * held_rows + row in its block`, ascending: all blocks of a batch share them.
    rows: Vec<u64>,
}

impl OftenRows {
    /// Finds these rows by counting. Takes at most 9 bytes for each index row of a batch.
    pub(super) fn new(rows: &Rows<'_>) -> Result<Self, RunError> {
        let dims = rows.dims();
        let mut often = Self::default();
        // The most index rows of a block that may select one row: in a gather_elements, those along the axis.
        let of_axis = dims.element_dims.iter().filter(|dim| dim.stride == 0);
        let most = match dims.has_element_dims() {
            true => of_axis.map(|dim| dim.size).product(),
            false => dims.index_count,
        };
        if most <= UPDATES_OF_A_SUM {
            return Ok(often);
        }
        // Few, so that they stay in a core's cache. Rows that share a counter are told apart only if it counts too many.
        let counters = (dims.index_count / UPDATES_OF_A_COUNTER).min(dims.held_rows);
        let counters = address(counters).next_power_of_two();
        let mut counts = Operand::Counts.vector::<u64>(counters as u64)?;
        let mut counted = 0;
        for batch in 0..dims.batch_size {
            let block = batch * dims.outer_size;
            let for_each_step = |visit: &mut dyn FnMut(&[u64])| {
                let mut room = [0; LOCATED_ROWS];
                let (mut next, end) = (block * dims.index_count, (block + 1) * dims.index_count);
                while next < end {
                    let left = usize::try_from(end - next).unwrap_or(usize::MAX);
                    let located = &mut room[..left.min(LOCATED_ROWS)];
                    rows.locate(next, located);
                    visit(located);
                    next += located.len() as u64;
                }
            };
            let in_block = |&row: &u64| {
                let row = row.wrapping_sub(block * dims.held_rows);
                (row < dims.held_rows).then_some(row)
            };
            counts.clear();
            counts.resize(counters, 0);
            let counter = |row: u64| address(row) & (counters - 1);
            for_each_step(&mut |located| {
                let rows = located.iter().filter_map(in_block);
                rows.for_each(|row| counts[counter(row)] += 1);
            });
            let is_often = |count: u64| count > UPDATES_OF_A_SUM;
            counted += counts.iter().sum::<u64>();
            let shared: u64 = counts.iter().filter(|&&count| is_often(count)).sum();
            if shared == 0 {
                continue;
            }
            Operand::Counts.reserve(&mut often.rows, shared / UPDATES_OF_A_SUM)?;
            let first = batch * dims.held_rows;
            if dims.held_rows <= counters as u64 {
                let rows = (0..dims.held_rows).filter(|&row| is_often(counts[counter(row)]));
                often.rows.extend(rows.map(|row| first + row));
                continue;
            }
            // Runs of one row, at most 256 long: the length less one in the low byte, and the row above it (a target in memory
            // has fewer than 2⁵⁶).
            let mut runs = Operand::Counts.vector::<u64>(shared)?;
            for_each_step(&mut |located| {
                let rows = located.iter().filter_map(in_block);
                for row in rows.filter(|&row| is_often(counts[counter(row)])) {
                    match runs.last_mut() {
                        Some(run) if *run >> 8 == row && *run & 255 < 255 => *run += 1,
                        _ => runs.push(row << 8),
                    }
                }
            });
            runs.sort_unstable();
            let rows = runs.chunk_by(|a, b| a >> 8 == b >> 8);
            let updates_of = |runs: &[u64]| runs.iter().map(|run| (run & 255) + 1).sum();
            let rows = rows.filter(|runs| is_often(updates_of(runs)));
            often.rows.extend(rows.map(|runs| first + (runs[0] >> 8)));
        }
        often.are_good = counted == dims.batch_size * dims.index_count;
        Ok(often)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Those rows of a block that lie in a part of the target.
    pub(super) fn of_block(
        &self,
        dims: &GatherDims,
        block: u64,
        part: &Range<u64>,
    ) -> RowsOfBlock<'_> {
        let first = block / dims.outer_size * dims.held_rows;
        let base = block * dims.held_rows - first;
        let start = part.start.saturating_sub(base).max(first);
        let end = part
            .end
            .saturating_sub(base)
            .clamp(start, first + dims.held_rows);
        let place = |row: u64| self.rows.partition_point(|&at| at < row);
        RowsOfBlock {
            rows: &self.rows[place(start)..place(end)],
            base,
        }
    }

    /// The most rows that `of_block` returns for a block of the part.
    pub(super) fn most_in(&self, dims: &GatherDims, part: &Range<u64>) -> usize {
        if self.is_empty() {
            return 0;
        }
        let blocks = part.start / dims.held_rows..part.end.div_ceil(dims.held_rows);
        let rows = blocks.map(|block| self.of_block(dims, block, part).rows.len());
        rows.max().unwrap_or(0)
    }
}

/// Rows of a block that have sums.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowsOfBlock<'a> {
    rows: &'a [u64],
    /// Added to one of `rows`, it gives the row's number in the target.
    base: u64,
}

impl RowsOfBlock<'_> {
    /// The place of a target row among these rows.
    pub(super) fn place(&self, row: u64) -> Option<usize> {
        self.rows.binary_search(&row.wrapping_sub(self.base)).ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows, numbered among all rows of the target.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().map(|row| row + self.base)
    }
}

/// The sums for [`RowsOfBlock`].
#[derive(Debug)]
pub(super) struct Sums<T> {
    slice_len: usize,
    /// Updates that each row has met.
    counts: Vec<u64>,
    /// A slice for each row.
    sums: Vec<T>,
}

impl<T: Copy> Sums<T> {
    /// Room for `rows` rows; `value` is any element.
    pub(super) fn new(rows: usize, slice_len: usize, value: T) -> Result<Self, RunError> {
        let room = rows.saturating_mul(slice_len) as u64;
        let mut counts = Operand::Counts.vector(rows as u64)?;
        let mut sums = Operand::Counts.vector(room)?;
        counts.resize(rows, 0);
        sums.resize(rows * slice_len, value);
        Ok(Self {
            slice_len,
            counts,
            sums,
        })
    }

    /// Adds some of a row's updates to its slice, or to its sum.
    pub(super) fn update<'u>(
        &mut self,
        place: usize,
        target: &mut [T],
        mut updates: impl ExactSizeIterator<Item = &'u [T]>,
        by: &impl Update<T>,
    ) where
        T: 'u,
    {
        let count = &mut self.counts[place];
        let sum = &mut self.sums[place * self.slice_len..][..self.slice_len];
        while updates.len() > 0 {
            let of_sum = *count % UPDATES_OF_A_SUM;
            if *count >= UPDATES_OF_A_SUM && of_sum == 0 {
                if *count > UPDATES_OF_A_SUM {
                    by.add(target, [&*sum].into_iter());
                }
                sum.copy_from_slice(updates.next().expect("one is left"));
                *count += 1;
                continue;
            }
            let to = if *count < UPDATES_OF_A_SUM {
                &mut *target
            } else {
                &mut *sum
            };
            let left = updates.len();
            by.add(
                to,
                updates.by_ref().take(address(UPDATES_OF_A_SUM - of_sum)),
            );
            *count += (left - updates.len()) as u64;
        }
    }

    /// Adds a row's last sum to its slice, and begins anew.
    pub(super) fn end(&mut self, place: usize, target: &mut [T], by: &impl Update<T>) {
        if self.counts[place] > UPDATES_OF_A_SUM {
            let sum = &self.sums[place * self.slice_len..][..self.slice_len];
            by.add(target, [sum].into_iter());
        }
        self.counts[place] = 0;
    }
}
