//! The loop of a scatter.
//!
//! ```text
//! scatter(updates, rows, target):
//!     for each thread, which has some rows of the target:
//!         for n in 0..slices of updates:
//!             if rows[n] is one of the thread's: target[rows[n]] = update(target[rows[n]], updates[n])
//! ```
//!
//! A thread reads the indices of every block in which it has rows. Each row belongs to one thread, so its updates apply in
//! order. Rows are located some at a time, as for gathers without a loop of their own, so this loop is compiled once for each
//! number type, not for each index type.

use std::ops::Range;

use super::often::{OftenRows, RowsOfBlock, Sums};
use super::rows::{Job, LOCATED_ROWS, Rows, run_all};
use super::update::{Slices, Step, Update};
use crate::cpu::copy::Prefetch;
use crate::cpu::gather::threads_for;
use crate::error::RunError;
use crate::index::IndexValues;
use crate::memory::address;
use crate::plan::With;
use crate::reduce::Reduce;

/// Rows in a step, and those that wait from the step before so that prefetch can look ahead.
const STEP_ROWS: usize = LOCATED_ROWS + Prefetch::MAX_ROWS_AHEAD;

/// Threads share a block only if its slices have at least so many bytes. With shorter ones, a thread would pass over others'
/// rows for longer than it updates its own.
const MIN_SHARED_SLICE_BYTES: usize = 64;

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
    // For float sums, the rows that meet more than 1,024 updates: the later ones are summed apart from the target.
    let often = match update.is_sum_of_floats() && !with.rules.unique {
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
    let threads = threads.unwrap_or_else(|| {
        let threads = threads_for(dims.output_rows(), slice_bytes);
        let blocks = usize::try_from(dims.batch_size * dims.outer_size).unwrap_or(usize::MAX);
        match slice_bytes < MIN_SHARED_SLICE_BYTES {
            true => threads.min(blocks),
            false => threads,
        }
    });
    let mut parts = scatter.parts(target, threads, &often)?;
    match &mut parts[..] {
        [part] => scatter.update_part(part, &often),
        parts => {
            let job = |part| -> Job<'_> { Box::new(|| scatter.update_part(part, &often)) };
            run_all(parts.iter_mut().map(job).collect());
        }
    }
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
    /// Parts of the target: one for each thread that has rows.
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

    #[inline(never)]
    fn update_part(&self, part: &mut Part<'_, T>, often: &OftenRows) {
        let dims = self.rows.dims();
        let blocks = part.rows.start / dims.held_rows..part.rows.end.div_ceil(dims.held_rows);
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

    /// Where a row of a part begins, in elements.
    fn start(&self, row: u64) -> usize {
        address(row).wrapping_mul(self.slices.target_stride)
    }

    /// Applies the updates of some blocks to a part: of one block if `often`, the rows that have sums, is not empty.
    fn update_blocks(&self, part: &mut Part<'_, T>, blocks: Range<u64>, often: RowsOfBlock<'_>) {
        let index_count = self.rows.dims().index_count;
        let [mut done, end] = [blocks.start, blocks.end].map(|block| address(block * index_count));
        let (mut located, mut waiting) = ([0; STEP_ROWS], 0);
        while done < end {
            let count = STEP_ROWS.min(end - done);
            let next = done + waiting;
            let new = &mut located[waiting..count];
            self.rows.locate(next as u64, new);
            if !often.is_empty() {
                self.update_sums(part, next, new, &often);
            }
            waiting = match done + count == end {
                true => 0,
                false => self.slices.prefetch.rows_ahead(),
            };
            let ready = count - waiting;
            self.update.update(Step {
                slices: &self.slices,
                rows: &located[..count],
                count: ready,
                updates: &self.updates[done * self.slices.updates_stride..],
                part: part.rows.clone(),
                target: part.target,
            });
            located.copy_within(ready..count, 0);
            done += ready;
        }
    }

    /// Updates the located rows that have sums, and marks them as no rows of the part.
    fn update_sums(
        &self,
        part: &mut Part<'_, T>,
        mut from: usize,
        located: &mut [u64],
        often: &RowsOfBlock<'_>,
    ) {
        let (len, updates_stride) = (self.slices.len, self.slices.updates_stride);
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
