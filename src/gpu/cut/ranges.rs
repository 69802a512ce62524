//! Consecutive ranges of params rows: shards and windows.

use super::layout::ShardPlace;

/// The first params row of each shard, and at the end the number of all params rows.
#[derive(Debug, Clone)]
pub(super) struct ShardStarts(Vec<u64>);

impl ShardStarts {
    pub(super) fn new(shards: &[ShardPlace]) -> Self {
        let starts = shards.iter().scan(0, |start, shard| {
            *start += shard.rows;
            Some(*start)
        });
        Self(std::iter::once(0).chain(starts).collect())
    }

    /// The shard that holds a params row: its number, its first row and the row after its last.
    pub(super) fn of(&self, row: u64) -> (usize, u64, u64) {
        let shard = self.0.partition_point(|&start| start <= row) - 1;
        (shard, self.0[shard], self.0[shard + 1])
    }
}

/// The consecutive ranges that make up `start..end`. `next` maps the start of a range to its end.
pub(super) fn ranges(
    start: u64,
    end: u64,
    next: impl Fn(u64) -> u64,
) -> impl Iterator<Item = (u64, u64)> {
    let mut start = start;
    std::iter::from_fn(move || {
        (start < end).then(|| {
            let range = (start, next(start));
            start = range.1;
            range
        })
    })
}
