//! Which target rows updates go to. Nothing here depends on the element type.

use std::ops::Range;

use crate::cpu::gather::judged;
use crate::cpu::index_rows::IndexRows;
use crate::error::RunError;
use crate::index::{IndexValues, by_index_type};
use crate::plan::{GatherDims, GatherPlan};

/// Updates in a step: their rows are located before they are applied. `STEP_ROWS` adds those that wait.
pub(super) const LOCATED_ROWS: usize = 256;

/// Finds the target row for each update.
pub(super) struct Rows<'a> {
    plan: &'a GatherPlan,
    indices: IndexValues<'a>,
    /// The indices, without their signs if nothing reads these.
    judged: IndexValues<'a>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(plan: &'a GatherPlan, indices: IndexValues<'a>) -> Self {
        Self {
            plan,
            indices,
            judged: judged(plan, indices),
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

    /// Finds the rows for the updates from `update` on. A bad row, or one that the target does not hold, is larger than all rows.
    pub(super) fn locate(&self, update: u64, rows: &mut [u64]) {
        by_index_type!(self.judged, |indices| {
            IndexRows::new(self.plan, indices).locate(update, rows);
        });
    }

    /// Calls `visit` with the rows for some updates, a few at a time.
    pub(super) fn each_step(&self, updates: Range<u64>, mut visit: impl FnMut(&[u64])) {
        let (mut room, mut next) = ([0; LOCATED_ROWS], updates.start);
        while next < updates.end {
            let left = usize::try_from(updates.end - next).unwrap_or(usize::MAX);
            let located = &mut room[..left.min(LOCATED_ROWS)];
            self.locate(next, located);
            visit(located);
            next += located.len() as u64;
        }
    }
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
