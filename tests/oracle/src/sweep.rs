//! Which items of a sweep run, and on which threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// True if each sweep takes all of its items: if the variable `GATHER_EVERY_CASE` is set.
pub fn takes_every_case() -> bool {
    std::env::var_os("GATHER_EVERY_CASE").is_some()
}

/// The first items and, of the others, one in `step`: those whose number is `number` modulo `step`, in each run the same.
/// All items if [`takes_every_case`].
///
/// Choose a prime for `step`, so that no attribute is left out, and for each test of the same items another `number`.
pub fn some<T>(
    first: usize,
    step: usize,
    number: usize,
    items: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    let all = takes_every_case();
    let is_taken = move |at: usize| all || at < first || at % step == number % step;
    let numbered = items.into_iter().enumerate();
    numbered.filter_map(move |(at, item)| is_taken(at).then_some(item))
}

/// Checks all items, by their numbers, on a thread for each core.
pub fn on_all_cores<T: Sync>(items: &[T], check: impl Fn(usize, &T) + Sync) {
    let next = AtomicUsize::new(0);
    let check_items = || {
        while let number = next.fetch_add(1, Relaxed)
            && let Some(item) = items.get(number)
        {
            check(number, item);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(check_items);
        }
    });
}
