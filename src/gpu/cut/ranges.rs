//! Numbers that are cut into consecutive ranges: params rows into buffers, and rows into windows.

/// The first row of each buffer of params, and the number of all rows.
#[derive(Debug, Clone)]
pub(super) struct ShardStarts(Vec<u64>);

impl ShardStarts {
    pub(super) fn new(shard_rows: &[u64]) -> Self {
        let starts = shard_rows.iter().scan(0, |start, rows| {
            *start += rows;
            Some(*start)
        });
        Self(std::iter::once(0).chain(starts).collect())
    }

    /// The buffer that holds a params row, its first row and the row after its last.
    pub(super) fn of(&self, row: u64) -> (usize, u64, u64) {
        let shard = self.0.partition_point(|&start| start <= row) - 1;
        (shard, self.0[shard], self.0[shard + 1])
    }
}

/// Consecutive ranges that make up `start..end`; `next` says where the one that starts there ends.
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
