//! The tasks of a gather that threads share.

use std::panic::catch_unwind;
use std::sync::OnceLock;

/// The time that one slice takes beside the copy of its bytes, in bytes copied.
const BYTES_PER_SLICE: usize = 128;

/// A smaller gather takes less time than to wake another thread does: 20 to 50 us on a Zen 3.
const MIN_BYTES_TO_SHARE: usize = 1 << 20;

/// The size of a task: the time to start one is small beside it.
const MIN_BYTES_PER_TASK: usize = 1 << 18;

/// Tasks are so many that threads end nearly together, and so few that prefetch seldom starts anew.
const MAX_TASKS_PER_THREAD: usize = 64;

/// The output rows of each task, if threads gather so many rows sooner than one thread does.
pub(super) fn rows_per_task(output_rows: usize, slice_bytes: usize) -> Option<usize> {
    let bytes = output_rows * (slice_bytes + BYTES_PER_SLICE);
    if bytes < MIN_BYTES_TO_SHARE {
        return None;
    }
    let tasks = (bytes / MIN_BYTES_PER_TASK).min(threads() * MAX_TASKS_PER_THREAD);
    (threads() > 1).then(|| output_rows.div_ceil(tasks))
}

/// The threads of the pool that this call is made in, or of rayon's global pool: 1 if that cannot be made because the
/// system starts no thread.
fn threads() -> usize {
    static GLOBAL: OnceLock<usize> = OnceLock::new();
    match rayon::current_thread_index() {
        Some(_) => rayon::current_num_threads(),
        // rayon panics where it cannot make its pool, and does not try again.
        None => *GLOBAL.get_or_init(|| catch_unwind(rayon::current_num_threads).unwrap_or(1)),
    }
}
