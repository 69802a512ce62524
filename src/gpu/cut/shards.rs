//! Shards: buffers that hold consecutive rows of params.

/// A shard of params.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// How many params rows the shard has.
    pub(crate) rows: u64,
    /// How many bytes lie between the last aligned offset and the first row.
    pub(crate) start: u64,
}

/// All shards, in row order.
#[derive(Debug, Clone)]
pub(super) struct Shards {
    shards: Vec<Shard>,
    /// Where each shard begins, in params rows; at the end, how many rows there are.
    first_rows: Vec<u64>,
}

/// Which shard holds a params row.
pub(super) struct Held {
    /// The shard's number.
    pub(super) shard: usize,
    pub(super) start: u64,
    /// The shard's first params row, and the row after its last.
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

    /// Which shard holds params row `row`.
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
