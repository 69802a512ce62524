//! The items that each rank holds, and the elements that each message has: plain arithmetic, without MPI.

use std::ops::Range;

use mpi::Count;

/// Items in order, split over ranks. Each rank has `share` items, but the last ranks may have fewer or none.
#[derive(Clone, Copy)]
pub struct Split {
    items: usize,
    share: usize,
}

impl Split {
    pub fn new(items: usize, ranks: usize) -> Self {
        Self {
            items,
            share: items.div_ceil(ranks).max(1),
        }
    }

    /// The items of a rank.
    pub fn range(self, rank: usize) -> Range<usize> {
        let start = self.share.saturating_mul(rank).min(self.items);
        start..start.saturating_add(self.share).min(self.items)
    }

    /// The rank of an item.
    pub fn owner(self, item: usize) -> usize {
        item / self.share
    }
}

/// The elements that round `round` sends, at most `max_len`, of a transfer of `len`. Empty once all have been sent.
pub fn part(len: usize, max_len: usize, round: usize) -> Range<usize> {
    let start = round.saturating_mul(max_len).min(len);
    start..start.saturating_add(max_len).min(len)
}

/// The number of rounds that send a transfer of `len` elements.
pub fn round_count(len: usize, max_len: usize) -> usize {
    len.div_ceil(max_len)
}

/// The counts and displacements of one round of transfers to or from each rank, packed in one buffer. MPI takes C ints:
/// the buffer has at most `lens.len() * max_len` elements.
pub fn layout(lens: &[usize], max_len: usize, round: usize) -> (Vec<Count>, Vec<Count>) {
    let mut end = 0;
    lens.iter()
        .map(|&len| {
            let start = end;
            end += part(len, max_len, round).len();
            (count(end - start), count(start))
        })
        .unzip()
}

fn count(elements: usize) -> Count {
    Count::try_from(elements).expect("a message is shorter than 2^31")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest message that an `i32` counts.
    const MAX_MESSAGE: usize = Count::MAX as usize;

    #[test]
    fn each_item_is_in_the_range_of_its_owner_only() {
        for items in 0..40 {
            for ranks in 1..12 {
                let split = Split::new(items, ranks);
                let mut next = 0;
                for rank in 0..ranks {
                    let range = split.range(rank);
                    assert_eq!(range.start, next, "{items} items, {ranks} ranks");
                    for item in range.clone() {
                        assert_eq!(split.owner(item), rank, "{items} items, {ranks} ranks");
                    }
                    next = range.end;
                }
                assert_eq!(next, items, "{items} items, {ranks} ranks");
            }
        }
    }

    #[test]
    fn ranks_without_items_are_the_last_ones() {
        let ranges: Vec<_> = (0..4).map(|rank| Split::new(3, 4).range(rank)).collect();
        assert_eq!(ranges, [0..1, 1..2, 2..3, 3..3]);
        assert_eq!(Split::new(0, 3).range(2), 0..0);
    }

    #[test]
    fn items_past_32_bits_have_owners() {
        let items = isize::MAX.cast_unsigned();
        let split = Split::new(items, 3);
        assert_eq!(split.range(2).end, items);
        assert_eq!(split.owner(items - 1), 2);
        assert_eq!(split.owner(1 << 33), 0);
    }

    #[test]
    fn parts_are_the_whole_in_order() {
        for len in 0..40 {
            for max_len in 1..12 {
                let rounds = round_count(len, max_len);
                let mut next = 0;
                for round in 0..rounds {
                    let part = part(len, max_len, round);
                    assert_eq!(part.start, next, "{len} by {max_len}");
                    assert!((1..=max_len).contains(&part.len()), "{len} by {max_len}");
                    next = part.end;
                }
                assert_eq!(next, len, "{len} by {max_len}");
                for round in [rounds, rounds + 1, usize::MAX] {
                    assert!(part(len, max_len, round).is_empty(), "{len} by {max_len}");
                }
            }
        }
    }

    #[test]
    fn transfers_past_32_bits_are_cut_to_i32_counts() {
        let lens = [5 << 32, 0, 7, MAX_MESSAGE];
        let max_len = MAX_MESSAGE / lens.len();
        let rounds = round_count(lens[0], max_len);
        let mut carried = [0; 4];
        for round in 0..rounds {
            let (counts, displacements) = layout(&lens, max_len, round);
            let mut end = 0;
            for rank in 0..lens.len() {
                assert_eq!(displacements[rank], end, "round {round}");
                end = end.checked_add(counts[rank]).expect("an i32");
                carried[rank] += usize::try_from(counts[rank]).expect("no sign");
            }
        }
        assert_eq!(carried, lens);
    }
}
