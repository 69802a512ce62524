//! Which target rows updates go to, and how threads share them. Nothing here depends on the element type.

use crate::cpu::gather::judged;
use crate::cpu::index_rows::IndexRows;
use crate::error::RunError;
use crate::index::{IndexValues, by_index_type};
use crate::memory::address;
use crate::plan::{GatherDims, GatherPlan};

/// Updates in a step: their rows are located before they are applied. `STEP_ROWS` adds those that wait.
pub(super) const LOCATED_ROWS: usize = 256;

/// Updates that are sampled to divide the target among threads.
const SAMPLED_UPDATES: u64 = 1024;

/// Threads that write one cache line wait for each other.
const CACHE_LINE_BYTES: usize = 64;

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

    /// The row at which each thread's part ends, in order; some parts may be empty. A row begins `row * stride` bytes after the
    /// address `begin`.
    pub(super) fn ends(&self, threads: usize, begin: usize, stride: usize) -> Vec<u64> {
        let (dims, threads) = (self.dims(), threads as u64);
        let blocks = dims.batch_size * dims.outer_size;
        let mut ends: Vec<u64> = if blocks >= threads {
            // Blocks have equally many updates.
            let cut = |thread| part_of(blocks, thread, threads) * dims.held_rows;
            (1..threads).map(cut).collect()
        } else {
            self.ends_by_sample(threads, |row| {
                begin.wrapping_add(address(row).wrapping_mul(stride))
            })
        };
        ends.push(dims.params_rows());
        ends
    }

    /// Ends for parts with about as many updates each, by a sample of these. A part ends at a cache line if a nearby row begins
    /// there.
    fn ends_by_sample(&self, threads: u64, address_of: impl Fn(u64) -> usize) -> Vec<u64> {
        let (rows, updates) = (self.dims().params_rows(), self.dims().output_rows());
        let row_of = |number| {
            let mut row = [0];
            self.locate(part_of(updates, number, SAMPLED_UPDATES), &mut row);
            row[0]
        };
        let sample = (0..SAMPLED_UPDATES).map(row_of).filter(|&row| row < rows);
        let mut sample: Vec<u64> = sample.collect();
        sample.sort_unstable();
        let cut = |thread: u64| {
            let at = part_of(sample.len() as u64, thread, threads);
            let row = sample.get(address(at)).copied().unwrap_or(rows);
            let mut near = row..rows.min(row + CACHE_LINE_BYTES as u64);
            near.find(|&row| address_of(row).is_multiple_of(CACHE_LINE_BYTES))
                .unwrap_or(row)
        };
        (1..threads).map(cut).collect()
    }
}

/// `number / count` of a whole, rounded down.
fn part_of(whole: u64, number: u64, count: u64) -> u64 {
    let part = u128::from(whole) * u128::from(number) / u128::from(count);
    u64::try_from(part).expect("at most the whole")
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
