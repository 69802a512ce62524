//! Which target rows updates go to. Nothing here depends on the element type.

use std::ops::Range;

use crate::cpu::copy::Prefetch;
use crate::cpu::gather::judged;
use crate::cpu::index_rows::{IndexRows, LOCATED_ROWS};
use crate::error::RunError;
use crate::index::sealed::Sealed;
use crate::index::{IndexValues, by_index_type};
use crate::memory::address;
use crate::plan::{GatherDims, GatherPlan};

/// Rows of a step, and those after them that prefetch looks ahead at: they are located twice.
pub(super) const STEP_ROWS: usize = LOCATED_ROWS + Prefetch::MAX_ROWS_AHEAD;

/// Room for located rows. `None` until it is needed.
pub(super) type Room = Option<[u64; STEP_ROWS]>;

/// Blocks with fewer index rows are located together.
const MIN_BLOCK_ROWS: u64 = 32;

/// Finds the target row for each update.
pub(super) struct Rows<'a> {
    plan: &'a GatherPlan,
    indices: IndexValues<'a>,
    /// The indices, without their signs if nothing reads these.
    judged: IndexValues<'a>,
    /// True if the judged indices are the rows, counted in their block.
    are_of_blocks: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn new(plan: &'a GatherPlan, indices: IndexValues<'a>) -> Self {
        let (dims, judged) = (plan.dims(), judged(plan, indices));
        let are_of_blocks = by_index_type!(judged, |indices| {
            IndexRows::new(plan, indices).are_rows_of_blocks()
        });
        Self {
            plan,
            indices,
            judged,
            are_of_blocks: are_of_blocks
                && (dims.index_count >= MIN_BLOCK_ROWS || dims.batch_size * dims.outer_size == 1),
        }
    }

    /// The error of the first bad row, unless bad rows are dropped.
    pub(super) fn check(&self) -> Result<(), RunError> {
        let check = |indices| {
            by_index_type!(indices, |indices| IndexRows::new(self.plan, indices)
                .check())
        };
        if self.plan.bad_indices().fills_on_cpu() || check(self.judged).is_ok() {
            return Ok(());
        }
        // The error names the index with its sign.
        Ok(check(self.indices).map_err(|bad| bad.of_scatter())?)
    }

    pub(super) fn dims(&self) -> &'a GatherDims {
        self.plan.dims()
    }

    /// True if rows are counted in their block, so that updates of one block only are located together.
    pub(super) fn are_of_blocks(&self) -> bool {
        self.are_of_blocks
    }

    /// The first row of a block, as it is located.
    pub(super) fn first_of(&self, block: u64) -> u64 {
        match self.are_of_blocks {
            true => 0,
            false => block * self.dims().held_rows,
        }
    }

    /// The rows for some updates. A bad row, or one that the target does not hold, is larger than all rows.
    pub(super) fn locate<'b>(&'b self, updates: Range<usize>, room: &'b mut Room) -> &'b [u64] {
        let (dims, len) = (self.plan.dims(), updates.len());
        let first = match self.are_of_blocks {
            true => {
                let (block, n) = dims.block_of(updates.start as u64);
                address(dims.batch_of(block).0 * dims.batch_index_rows + n)
            }
            false => 0,
        };
        if let (true, IndexValues::U64(rows)) = (self.are_of_blocks, self.judged) {
            return &rows[first..][..len];
        }
        let rows = &mut room.get_or_insert([0; _])[..len];
        by_index_type!(self.judged, |indices| match self.are_of_blocks {
            true => {
                for (row, index) in rows.iter_mut().zip(&indices[first..][..len]) {
                    *row = index.position(0);
                }
            }
            false => IndexRows::new(self.plan, indices).locate(updates.start as u64, rows),
        });
        rows
    }

    /// Calls `visit` with the rows for some updates, a few at a time.
    pub(super) fn each_step(&self, updates: Range<usize>, mut visit: impl FnMut(&[u64])) {
        let (mut room, mut next) = (None, updates.start);
        while next < updates.end {
            let end = updates.end.min(next + LOCATED_ROWS);
            visit(self.locate(next..end, &mut room));
            next = end;
        }
    }
}

/// The slices of target and updates, measured in elements of the loop's type.
pub(super) struct Slices {
    pub(super) len: usize,
    pub(super) target_stride: usize,
    pub(super) updates_stride: usize,
    pub(super) prefetch: Prefetch,
}

pub(super) type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs the jobs, on rayon's threads if there are any. Not generic over elements, so that an app has it once.
pub(super) fn run_all(jobs: Vec<Job<'_>>) {
    #[cfg(feature = "rayon")]
    rayon::scope(|scope| {
        for job in jobs {
            scope.spawn(|_| job());
        }
    });
    #[cfg(not(feature = "rayon"))]
    jobs.into_iter().for_each(|job| job());
}
