//! The shards of params: buffers with consecutive rows.

/// A shard of params.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Params rows.
    pub(crate) rows: u64,
    /// The bytes from the last aligned offset to the first row.
    pub(crate) start: u64,
}

/// All shards of params, in the order of their rows.
#[derive(Debug, Clone)]
pub(super) struct Shards {
    shards: Vec<Shard>,
    /// The first params row of each shard, and at the end the number of all params rows.
    first_rows: Vec<u64>,
}

/// The shard that holds a params row.
pub(super) struct Held {
    /// The number of the shard.
    pub(super) shard: usize,
    pub(super) start: u64,
    /// The first params row of the shard, and the row after its last.
    pub(super) first_row: u64,
    pub(super) end_row: u64,
}

impl Shards {
    pub(super) fn new(shards: Vec<Shard>) -> Self {
        let ends = shards.iter().scan(0, |end, shard| {
            *end += shard.rows;
            Some(*end)
        });
        Self {
            first_rows: std::iter::once(0).chain(ends).collect(),
            shards,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Shard> {
        self.shards.iter()
    }

    /// The shard that holds params row `row`.
    pub(super) fn of(&self, row: u64) -> Held {
        let shard = self.first_rows.partition_point(|&first| first <= row) - 1;
        Held {
            shard,
            start: self.shards[shard].start,
            first_row: self.first_rows[shard],
            end_row: self.first_rows[shard + 1],
        }
    }
}
