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
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shards {
    Given {
        shards: Vec<Shard>,
        /// Where each shard begins, in params rows; at the end, how many rows there are.
        first_rows: Vec<u64>,
    },
    /// `rows` rows in shards that have `each` rows each, but for the last, and start `start` bytes after aligned offsets.
    Equal { rows: u64, each: u64, start: u64 },
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
    /// A table that lies in one buffer: the shard has all rows.
    pub(crate) const fn one(Shard { rows, start }: Shard) -> Self {
        let each = u64::MAX;
        Self::Equal { rows, each, start }
    }

    pub(crate) fn new(mut shards: impl ExactSizeIterator<Item = Shard>) -> Self {
        if shards.len() == 1
            && let Some(shard) = shards.next()
        {
            return Self::one(shard);
        }
        let shards: Vec<_> = shards.collect();
        let ends = shards.iter().scan(0, |end, shard| {
            *end += shard.rows;
            Some(*end)
        });
        Self::Given {
            first_rows: std::iter::once(0).chain(ends).collect(),
            shards,
        }
    }

    /// Shards that differ in all that a cut asks for: equal ones differ in their last only.
    pub(crate) fn different(&self) -> impl Iterator<Item = Shard> + '_ {
        let (given, equal) = match self {
            Self::Given { shards, .. } => (&shards[..], None),
            &Self::Equal { rows, each, start } => {
                let rows = rows.min(each);
                (&[][..], Some(Shard { rows, start }))
            }
        };
        given.iter().copied().chain(equal)
    }

    /// Which shard holds params row `row`.
    pub(super) fn of(&self, row: u64) -> Held {
        match self {
            Self::Given { shards, first_rows } => {
                let shard = first_rows.partition_point(|&first| first <= row) - 1;
                Held {
                    shard,
                    start: shards[shard].start,
                    first_row: first_rows[shard],
                    end_row: first_rows[shard + 1],
                }
            }
            &Self::Equal { rows, each, start } => Held {
                shard: usize::try_from(row / each).expect("buffers in memory"),
                start,
                first_row: row / each * each,
                end_row: (row / each * each).saturating_add(each).min(rows),
            },
        }
    }
}
