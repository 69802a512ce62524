//! The loop of a scatter.
//!
//! ```text
//! scatter(updates, rows, target):
//!     for each thread, which has some blocks:
//!         for n in 0..slices of the blocks' updates:
//!             target[rows[n]] = update(target[rows[n]], updates[n])
//! ```
//!
//! A block belongs to one thread, so the updates of a row apply in order. Threads do not share a block: each would read all indices
//! and the cache lines of most updates, so that two of them did 1.3 to 3.3 times the work of one.
//!
//! Rows are located some at a time, as for gathers without a loop of their own, so this loop is compiled once for each number
//! type, not for each index type. Indices of 64 bits that are the rows are read as they are.
//!
//! Where rows meet several long assigns, only the winner of each, its last, is copied: see [`Scatter::assign_winners`]. Threads
//! share the copies of a block.

use std::ops::Range;

use super::often::OftenRows;
use super::rows::{Job, Rows, Slices, run_all};
use super::update::{Step, Update};
use crate::cpu::copy::Prefetch;
use crate::cpu::gather::{MIN_BYTES_PER_TASK, threads_for};
use crate::cpu::index_rows::{LOCATED_ROWS, NOT_HELD};
use crate::error::RunError;
use crate::index::IndexValues;
use crate::memory::address;
use crate::operand::Operand;
use crate::plan::With;
use crate::reduce::Reduce;

/// Enough parts that a thread which is held up leaves some to others.
const PARTS_PER_THREAD: u64 = 8;

/// Slices of so many bytes, of which a row meets so many on average, are copied only if they win. On an Emerald Rapids this takes
/// .43 to .51 times as long for two of 128 and 512 bytes, and .17 to .25 times for eight.
const MIN_BYTES_OF_WINNER: usize = 128;
const MIN_UPDATES_OF_WINNER: u64 = 2;

/// A core's nearest cache holds a stretch of the target up to this many bytes.
const SMALL_STRETCH_BYTES: usize = 16 << 10;

/// Scatters on `threads` threads, or on as many as finish soonest. Each element is `width` values of `T`. The caller has
/// checked all lengths.
pub(super) fn scatter<T: Copy + Send + Sync, U: Update<T>>(
    with: With<'_, Reduce>,
    indices: IndexValues<'_>,
    updates: &[T],
    (target, width): (&mut [T], usize),
    update: &U,
    threads: Option<usize>,
) -> Result<(), RunError> {
    let plan = with.plan;
    let dims = plan.dims();
    // No slices, or slices without bytes.
    if dims.output_rows() == 0 || dims.slice_len == 0 || width == 0 || size_of::<T>() == 0 {
        return Ok(());
    }
    let rows = Rows::new(plan, indices);
    rows.check()?;
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
    let slice_bytes = len * size_of::<T>();
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
            updates_stride: match with.rules.one_update {
                true => 0,
                false => in_values(dims.output_stride),
            },
            // The core prefetches small stretches by itself, as they follow each other.
            prefetch: match stretch_bytes <= SMALL_STRETCH_BYTES {
                true => Prefetch::default(),
                false => {
                    Prefetch::above(Prefetch::MIN_COPIED_BYTES, size_of_val(target), slice_bytes)
                }
            },
        },
    };
    let of_rows = (&scatter.rows, &scatter.slices);
    if let Some(done) = update.scatter_halves(of_rows, updates, target, threads) {
        return done;
    }
    // Float sums need to know the rows that meet more than 1,024 updates.
    let has_sums = update.is_sum_of_floats() && !with.rules.unique;
    let new_often = || match has_sums {
        true => OftenRows::new(dims, len),
        false => Ok(None),
    };
    let often = new_often()?;
    let blocks = dims.batch_size * dims.outer_size;
    let parts = match threads.unwrap_or_else(|| threads_for(dims.output_rows(), slice_bytes)) {
        1 => 1,
        threads => {
            // Each part with sums takes memory.
            let each = if often.is_some() { 1 } else { PARTS_PER_THREAD };
            blocks.min(threads as u64 * each)
        }
    };
    if parts == 1 {
        scatter.update_part(&mut Part {
            blocks: 0..blocks,
            target,
            often,
            winners: scatter.winners(with.rules.unique),
        });
        return Ok(());
    }
    drop(often);
    let (mut all, mut rest, mut start) = (Vec::with_capacity(address(parts)), target, 0);
    for part in 1..=parts {
        let end = blocks / parts * part + (blocks % parts).min(part);
        let len = match part == parts {
            true => rest.len(),
            false => scatter.start((end - start) * dims.held_rows),
        };
        let (target, after) = rest.split_at_mut(len);
        rest = after;
        all.push(Part {
            blocks: start..end,
            target,
            often: new_often()?,
            winners: scatter.winners(with.rules.unique),
        });
        start = end;
    }
    let job = |part| -> Job<'_> { Box::new(|| scatter.update_part(part)) };
    run_all(all.iter_mut().map(job).collect());
    Ok(())
}

/// One scatter, which has updates.
struct Scatter<'a, T, U> {
    rows: Rows<'a>,
    updates: &'a [T],
    update: &'a U,
    slices: Slices,
}

/// Blocks that one thread writes.
struct Part<'a, T> {
    blocks: Range<u64>,
    target: &'a mut [T],
    /// `None` if no row has sums.
    often: Option<OftenRows<T>>,
    /// Room for winners; `None` if all assigns are made.
    winners: Option<Vec<u64>>,
}

impl<T: Copy + Send + Sync, U: Update<T>> Scatter<'_, T, U> {
    #[inline(never)]
    fn update_part(&self, part: &mut Part<'_, T>) {
        let (blocks, mut target) = (part.blocks.clone(), &mut *part.target);
        if part.often.is_none() && part.winners.is_none() && !self.rows.are_of_blocks() {
            return self.update_blocks(blocks, target, None);
        }
        for block in blocks {
            // The gap after the last row may be missing.
            let len = self.start(self.rows.dims().held_rows).min(target.len());
            let (of_block, rest) = target.split_at_mut(len);
            match &mut part.winners {
                Some(winners) => self.assign_winners(block, of_block, winners),
                None => self.update_blocks(block..block + 1, of_block, part.often.as_mut()),
            }
            target = rest;
        }
    }

    /// Where a row of a part begins, in elements.
    fn start(&self, row: u64) -> usize {
        address(row).wrapping_mul(self.slices.target_stride)
    }

    /// Room for the winners of a block's rows, if assigns are sooner made by these, and if there is memory.
    fn winners(&self, is_unique: bool) -> Option<Vec<u64>> {
        let dims = self.rows.dims();
        let pays = !is_unique
            && self.update.is_assign()
            && self.slices.len >= MIN_BYTES_OF_WINNER
            && dims.index_count / MIN_UPDATES_OF_WINNER >= dims.held_rows;
        pays.then(|| Operand::Counts.vector(dims.held_rows).ok())?
    }

    /// Assigns to the rows of a block: finds the last update of each, then copies these in the order of rows.
    fn assign_winners(&self, block: u64, target: &mut [T], winners: &mut Vec<u64>) {
        let dims = self.rows.dims();
        let first_row = self.rows.first_of(block);
        let [start, end] = [block, block + 1].map(|block| address(block * dims.index_count));
        winners.clear();
        winners.resize(address(dims.held_rows), NOT_HELD);
        let mut number = 0;
        self.rows.each_step(start..end, |rows| {
            for row in rows {
                let place = usize::try_from(row.wrapping_sub(first_row)).ok();
                if let Some(winner) = place.and_then(|place| winners.get_mut(place)) {
                    *winner = number;
                }
                number += 1;
            }
        });
        let updates = &self.updates[start * self.slices.updates_stride..];
        let copy = |(target, winners): (_, &[u64])| {
            let updates = (updates, dims.index_count);
            self.update
                .copy_winners(&self.slices, winners, updates, target);
        };
        if threads_for(dims.held_rows, self.slices.len) == 1 {
            return copy((target, winners));
        }
        let rows = MIN_BYTES_PER_TASK.div_ceil(self.slices.len);
        let parts = target.chunks_mut(rows.saturating_mul(self.slices.target_stride));
        let job = |part| -> Job<'_> { Box::new(move || copy(part)) };
        run_all(parts.zip(winners.chunks(rows)).map(job).collect());
    }

    /// Applies the updates of some blocks to their target: of one block, if rows are counted in their block or may have sums.
    fn update_blocks(
        &self,
        blocks: Range<u64>,
        target: &mut [T],
        mut often: Option<&mut OftenRows<T>>,
    ) {
        let (dims, slices) = (self.rows.dims(), &self.slices);
        let first_row = self.rows.first_of(blocks.start);
        let part = first_row..first_row + (blocks.end - blocks.start) * dims.held_rows;
        if let Some(often) = &mut often {
            let is_first_of_batch = dims.batch_of(blocks.start).1 == 0;
            often.begin(is_first_of_batch, first_row, (target, slices));
        }
        let [start, end] = [blocks.start, blocks.end].map(|b| address(b * dims.index_count));
        let (mut done, mut room) = (start, None);
        while done < end {
            let count = LOCATED_ROWS.min(end - done);
            let until = end.min(done + count + slices.prefetch.rows_ahead());
            let rows = self.rows.locate(done..until, &mut room);
            if let Some(often) = &mut often
                && often.count(&rows[..count])
            {
                often.find(&self.rows, start..done, start..end, (target, slices));
            }
            let step = Step {
                slices,
                rows,
                count,
                updates: &self.updates[done * slices.updates_stride..],
                part: part.clone(),
                target,
            };
            match &mut often {
                Some(often) if often.are_any() => often.update(step, self.update),
                _ => self.update.update(step),
            }
            done += count;
        }
        if let Some(often) = often {
            often.end(target, slices, self.update);
        }
    }
}
