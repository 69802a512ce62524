//! A gather on bytes: shares its output among threads, and fills or names bad rows.

use std::ops::Range;

use super::copy::{Prefetch, Slices, copy};
use super::cursor::Cursor;
use super::encoded::EncodedRows;
use super::index_rows::{IndexRows, LOCATED_ROWS, NOT_HELD};
use super::operands::{Operands, Params};
use super::stretches::CopyStretches;
use crate::bad_indices::{Beyond, NegativeIndices};
use crate::error::RunError;
use crate::index::{Index, IndexValues, by_index_type};
use crate::memory::{Byte, SliceBytes, address};
use crate::plan::GatherPlan;

/// Gathers into an output of the plan's length. Each element is written whole, and unless there is an error every element
/// is written but those in gaps.
pub(super) fn gather(
    plan: &GatherPlan,
    operands: &Operands<'_, Byte>,
    output: &mut [Byte],
) -> Result<(), RunError> {
    // No slices, or slices without bytes.
    if output.is_empty() || plan.dims().output_len() == 0 {
        return check(plan, operands);
    }
    let dims = plan.dims();
    let in_bytes = |elements: u64| {
        // One row may have any stride.
        let elements = usize::try_from(elements).unwrap_or(usize::MAX);
        elements.saturating_mul(operands.element_bytes)
    };
    let in_parts =
        |elements| usize::try_from(operands.parts.bytes_of(elements)).unwrap_or(usize::MAX);
    let slice = in_bytes(dims.slice_len);
    let encoded;
    let (params, params_slice, params_stride, prefetch) = match operands.params {
        Params::Elements(of) => (
            Source::Elements(of),
            slice,
            in_bytes(dims.params_stride),
            Prefetch::of_copies(of.len(), slice),
        ),
        Params::Encoded(of, to) => {
            encoded = EncodedRows::new(of, to, operands.parts, dims);
            let slice = in_parts(dims.slice_len);
            let prefetch = Prefetch::above(Prefetch::MIN_DECODED_BYTES, of.rows.len(), slice);
            (
                Source::Encoded(&encoded),
                slice,
                in_parts(dims.params_stride),
                prefetch,
            )
        }
    };
    let bytes = SliceBytes {
        slice,
        params_slice,
        params_stride,
        output_stride: in_bytes(dims.output_stride),
    };
    let bad = by_index_type!(judged(plan, operands.indices), |indices| {
        let execution = Execution {
            operands,
            params,
            slices: Slices { bytes, prefetch },
            index_rows: IndexRows::new(plan, indices),
        };
        execution.run(output)
    });
    match bad {
        None => Ok(()),
        Some(row) => by_index_type!(operands.indices, |indices| {
            let index_rows = IndexRows::new(plan, indices);
            Err(index_rows.bad_index_of(row as u64).into())
        }),
    }
}

/// The indices, without their signs if each index below zero is then larger than its dim, and is bad: one comparison judges an
/// unsigned index.
pub(super) fn judged<'a>(plan: &GatherPlan, indices: IndexValues<'a>) -> IndexValues<'a> {
    let is_below = |&dim: &u64| dim <= 1 << (8 * indices.kind().bytes() - 1);
    let reads_no_signs = plan.bad_indices().beyond() == Beyond::Bad
        && plan.negative_indices == NegativeIndices::Invalid
        && plan.dims().indexed_dims.iter().all(is_below);
    if reads_no_signs {
        indices.unsigned()
    } else {
        indices
    }
}

/// The error that a gather would return for its index rows.
pub(super) fn check(plan: &GatherPlan, operands: &Operands<'_, Byte>) -> Result<(), RunError> {
    if plan.bad_indices().fills_on_cpu() || plan.dims().output_len() == 0 {
        return Ok(());
    }
    by_index_type!(operands.indices, |indices| {
        Ok(IndexRows::new(plan, indices).check()?)
    })
}

/// Params, which the loop copies or decodes.
#[derive(Clone, Copy)]
enum Source<'a> {
    Elements(&'a [Byte]),
    Encoded(&'a EncodedRows<'a>),
}

/// One gather, whose output is not empty.
struct Execution<'a, I> {
    operands: &'a Operands<'a, Byte>,
    params: Source<'a>,
    slices: Slices,
    index_rows: IndexRows<'a, I>,
}

impl<I: Index> Execution<'_, I> {
    /// Gathers the whole output. Returns the first bad output row, unless bad rows are filled.
    ///
    /// Its index row is the smallest bad one: the first block of a batch has all its index rows, in order.
    fn run(&self, output: &mut [Byte]) -> Option<usize> {
        let rows = usize::try_from(self.index_rows.plan.dims().output_rows())
            .expect("the output is in memory");
        #[cfg(feature = "rayon")]
        if let Some(task_rows) = rows_per_task(rows, self.slices.bytes.slice) {
            use rayon::prelude::*;

            let tasks = output.par_chunks_mut(task_rows * self.slices.bytes.output_stride);
            return tasks.enumerate().find_map_first(|(task, output)| {
                let start = task * task_rows;
                self.gather_rows(start..rows.min(start + task_rows), output)
            });
        }
        self.gather_rows(0..rows, output)
    }

    /// Gathers some output rows. Returns the first bad one, unless bad rows are filled.
    fn gather_rows(&self, rows: Range<usize>, output: &mut [Byte]) -> Option<usize> {
        let rows_ahead = self.slices.prefetch.rows_ahead();
        let bad = if let Source::Elements(params) = self.params
            && let Some(copy) = self.index_rows.copy_of_stretches(&self.slices)
        {
            self.copy_stretches(copy, params, rows.clone(), output)
        } else if let Source::Elements(params) = self.params
            && self.index_rows.are_rows::<1>(rows_ahead)
        {
            self.copy_blocks::<1>(params, rows.clone(), output)
        } else if let Source::Elements(params) = self.params
            && self.index_rows.are_rows::<2>(rows_ahead)
        {
            self.copy_blocks::<2>(params, rows.clone(), output)
        } else {
            self.locate_and_copy(rows.clone(), output)
        };
        bad.map(|row| rows.start + row)
    }

    /// Gathers output rows stretch by stretch.
    fn copy_stretches(
        &self,
        copy: CopyStretches<I>,
        params: &[Byte],
        rows: Range<usize>,
        output: &mut [Byte],
    ) -> Option<usize> {
        let (dims, slice) = (self.index_rows.plan.dims(), self.slices.bytes.slice);
        let (mut cursor, mut done) = (Cursor::at(dims, rows.start as u64), 0);
        while done < rows.len() {
            let stretches = self
                .index_rows
                .stretches(&cursor, rows.len() - done, &self.slices);
            let count = stretches.rows();
            let mut copied = copy(params, stretches, &mut output[done * slice..]);
            if copied < count {
                if !self.fills(done + copied, output) {
                    return Some(done + copied);
                }
                copied += 1;
            }
            done += copied;
            match copied as u64 <= cursor.left {
                true => cursor.skip(copied),
                false => cursor = Cursor::at(dims, (rows.start + done) as u64),
            }
        }
        None
    }

    /// Gathers output rows block by block. The copy loop works out the params rows of each block.
    fn copy_blocks<const DEPTH: usize>(
        &self,
        params: &[Byte],
        rows: Range<usize>,
        output: &mut [Byte],
    ) -> Option<usize> {
        let (dims, bytes) = (self.index_rows.plan.dims(), self.slices.bytes);
        let mut done = 0;
        while done < rows.len() {
            let (block, n) = dims.block_of((rows.start + done) as u64);
            let first = address(dims.batch_of(block).0 * dims.batch_index_rows + n);
            let count = address(dims.index_count - n).min(rows.len() - done);
            let params = &params[address(block * dims.held_rows) * bytes.params_stride..];
            let indices = self.index_rows.as_rows::<DEPTH>(first..first + count);
            let rest = &mut output[done * bytes.output_stride..];
            let copied = copy(params, dims.held_rows, &self.slices, indices, count, rest);
            done += copied;
            if copied < count {
                if !self.fills(done, output) {
                    return Some(done);
                }
                done += 1;
            }
        }
        None
    }

    /// Gathers output rows in steps: locates params rows, then copies or decodes. The copies of a step's last rows wait for the
    /// next step, so that prefetch can look ahead of them.
    fn locate_and_copy(&self, rows: Range<usize>, output: &mut [Byte]) -> Option<usize> {
        let mut located = [0; LOCATED_ROWS];
        let row_count = self.index_rows.plan.dims().params_rows();
        let (mut done, mut waiting) = (0, 0);
        while done < rows.len() {
            let count = LOCATED_ROWS.min(rows.len() - done);
            let next = (rows.start + done + waiting) as u64;
            self.index_rows.locate(next, &mut located[waiting..count]);
            let is_end = done + count == rows.len();
            let ahead = self.slices.prefetch.rows_ahead();
            waiting = if is_end { 0 } else { ahead };
            let ready = count - waiting;
            let mut copied = 0;
            while copied < ready {
                let (rows, count) = (&located[copied..count], ready - copied);
                let rest = &mut output[(done + copied) * self.slices.bytes.output_stride..];
                copied += match self.params {
                    Source::Elements(of) => copy(of, row_count, &self.slices, rows, count, rest),
                    Source::Encoded(of) => of.decode(row_count, &self.slices, rows, count, rest),
                };
                if copied < ready {
                    let row = done + copied;
                    match located[copied] {
                        NOT_HELD => repeat(self.operands.zero, self.slice_of(row, output)),
                        _ if self.fills(row, output) => {}
                        _ => return Some(row),
                    }
                    copied += 1;
                }
            }
            located.copy_within(ready..count, 0);
            done += ready;
        }
        None
    }

    /// Fills the slice of a bad output row and returns true; returns false, and writes nothing, if a bad row is an error.
    fn fills(&self, row: usize, output: &mut [Byte]) -> bool {
        let fills = self.index_rows.plan.bad_indices().fills_on_cpu();
        if fills {
            repeat(self.operands.fill, self.slice_of(row, output));
        }
        fills
    }

    /// The slice of an output row.
    fn slice_of<'b>(&self, row: usize, output: &'b mut [Byte]) -> &'b mut [Byte] {
        let SliceBytes {
            slice,
            output_stride,
            ..
        } = self.slices.bytes;
        &mut output[row * output_stride..][..slice]
    }
}

/// Fills a slice with copies of an element.
fn repeat(element: &[Byte], slice: &mut [Byte]) {
    let mut filled = element.len();
    slice[..filled].copy_from_slice(element);
    while filled < slice.len() {
        let (from, to) = slice.split_at_mut(filled);
        let len = from.len().min(to.len());
        to[..len].copy_from_slice(&from[..len]);
        filled += len;
    }
}

/// The time that a slice takes besides the copy of its bytes, as the bytes that are copied in that time.
#[cfg(feature = "rayon")]
pub(super) const BYTES_PER_SLICE: usize = 128;

/// Bytes from which threads share a gather, of copies or of decoded rows. Another thread needs 20 to 50 us to wake. On two
/// virtual cores of a Zen 3, 2 MiB take 0.76 to 1.02 times as long on both of them, and 0.92 to 1.17 times if the other one
/// sleeps; 512 KiB take 0.97 to 1.22 and 1.15 to 1.92 times.
#[cfg(feature = "rayon")]
const MIN_BYTES_TO_SHARE: usize = 2 << 20;

/// Bytes of a task, so that the time to start it is small beside its work.
pub(super) const MIN_BYTES_PER_TASK: usize = 1 << 18;

/// Enough tasks for threads to end nearly together, few enough for prefetch to start anew seldom.
#[cfg(feature = "rayon")]
const MAX_TASKS_PER_THREAD: usize = 64;

/// Output rows of each task; `None` if one thread gathers all rows sooner than several do.
#[cfg(feature = "rayon")]
fn rows_per_task(output_rows: usize, slice_bytes: usize) -> Option<usize> {
    let threads = threads_for(output_rows as u64, slice_bytes);
    let bytes = output_rows * (slice_bytes + BYTES_PER_SLICE);
    let tasks = (bytes / MIN_BYTES_PER_TASK).min(threads * MAX_TASKS_PER_THREAD);
    (threads > 1).then(|| output_rows.div_ceil(tasks))
}

/// Threads that share so many slices: 1 if one thread is sooner done.
pub(super) fn threads_for(slices: u64, slice_bytes: usize) -> usize {
    #[cfg(feature = "rayon")]
    if slices.saturating_mul((slice_bytes + BYTES_PER_SLICE) as u64) >= MIN_BYTES_TO_SHARE as u64 {
        return threads();
    }
    let _ = (slices, slice_bytes);
    1
}

/// Threads of the rayon pool that the caller runs in, or else of rayon's global pool. 1 if the global pool cannot be
/// made because the system starts no thread.
#[cfg(feature = "rayon")]
fn threads() -> usize {
    static GLOBAL: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        // rayon panics if it cannot make its pool, and does not try again.
        None => *GLOBAL
            .get_or_init(|| std::panic::catch_unwind(rayon::current_num_threads).unwrap_or(1)),
    }
}
