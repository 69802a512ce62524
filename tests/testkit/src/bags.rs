//! Sums over bags: random cases, and what they give by the definition.

use std::fmt;

use gather_oracle::{Combine, combined};
use wgpu_gather::{BadIndices, Bags, Gather, GatherPlan, NegativeIndices, Offsets};

use crate::indices::Hash;

/// Bags of rows of `f32`s. Bags are in order, and may leave the last indices out.
#[derive(Clone)]
pub struct BagsCase {
    pub rows: usize,
    pub slice_len: usize,
    pub params: Vec<f32>,
    pub indices: Vec<i32>,
    /// One more than bags.
    pub offsets: Vec<i32>,
    /// Empty if there are none.
    pub weights: Vec<f32>,
    pub combine: Combine,
    pub policy: BadIndices,
    pub from_end: bool,
}

/// Without the numbers.
impl fmt::Debug for BagsCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (weights, shown) = (self.weights.len(), self.offsets.len().min(20));
        write!(
            f,
            "{:?} of [{}, {}], {weights} weights, {:?} of {} indices, {:?}, from_end {}",
            self.combine,
            self.rows,
            self.slice_len,
            &self.offsets[..shown],
            self.indices.len(),
            self.policy,
            self.from_end,
        )
    }
}

/// Finite numbers whose sums depend on the order; in every eighth call numbers of all kinds.
pub fn floats(count: usize, hash: &mut Hash) -> Vec<f32> {
    let are_special = hash.below(8) == 0;
    let float = |_| {
        let bits = u32::try_from(hash.below(1 << 32)).unwrap();
        let exponent = match (are_special, hash.below(8)) {
            (true, 0) => 0,
            (true, 1) => 255,
            (true, _) => hash.below(256),
            (false, _) => 117 + hash.below(20),
        };
        let mantissa = if are_special && hash.below(4) == 0 {
            0
        } else {
            bits & 0x7f_ffff
        };
        f32::from_bits(bits & 1 << 31 | u32::try_from(exponent).unwrap() << 23 | mantissa)
    };
    (0..count).map(float).collect()
}

impl BagsCase {
    /// Bags of these sizes.
    pub fn of(sizes: &[usize], slice_len: usize, hash: &mut Hash) -> Self {
        let rows = 1 + hash.below(40);
        let mut offsets = vec![0];
        for &size in sizes {
            offsets.push(offsets[offsets.len() - 1] + i32::try_from(size).unwrap());
        }
        let left_out = hash.below(3);
        let count = usize::try_from(offsets[offsets.len() - 1]).unwrap() + left_out;
        let combine = [Combine::Sum, Combine::Sum, Combine::Mean, Combine::Max][hash.below(4)];
        let is_weighted = combine == Combine::Sum && hash.below(2) == 0;
        let policies = [
            BadIndices::Fill,
            BadIndices::Fill,
            BadIndices::Clamp,
            BadIndices::Wrap,
        ];
        let has_bad = hash.below(2) == 0;
        let number = |row: usize| i32::try_from(row).unwrap();
        let index = |hash: &mut Hash| match has_bad && hash.below(4) == 0 {
            true => [-1, number(rows), i32::MAX, i32::MIN, -number(rows)][hash.below(5)],
            false => number(hash.below(rows)),
        };
        Self {
            rows,
            slice_len,
            params: floats(rows * slice_len, hash),
            indices: (0..count).map(|_| index(hash)).collect(),
            offsets,
            weights: if is_weighted {
                floats(count, hash)
            } else {
                Vec::new()
            },
            combine,
            policy: policies[hash.below(4)],
            from_end: hash.below(4) == 0,
        }
    }

    /// A few bags, some of them empty and some longer than a block.
    pub fn random(hash: &mut Hash) -> Self {
        let most = [3, 40, 1100, 3000][hash.below(40).saturating_sub(36)];
        let count = hash.below(if most > 100 { 4 } else { 30 });
        let sizes: Vec<_> = (0..count).map(|_| hash.below(most)).collect();
        let slice_len = [1, 2, 3, 4, 7, 8, 16, 21, 64, 70, 130][hash.below(11)];
        Self::of(&sizes, slice_len, hash)
    }

    pub fn plan(&self) -> GatherPlan {
        let negative = match self.from_end {
            true => NegativeIndices::FromEnd,
            false => NegativeIndices::Invalid,
        };
        let gather = Gather::new()
            .bad_indices(self.policy)
            .negative_indices(negative);
        gather
            .plan(&[self.rows, self.slice_len], &[self.indices.len()])
            .unwrap()
    }

    /// The bags, whose offsets and weights lie there.
    pub fn bags<O, W>(&self, offsets: Offsets<O>, weights: W) -> Bags<O, W> {
        match self.combine {
            Combine::Sum if !self.weights.is_empty() => Bags::weighted(offsets, weights),
            Combine::Sum => Bags::sum(offsets),
            Combine::Mean => Bags::mean(offsets),
            Combine::Max => Bags::max(offsets),
        }
    }

    /// The row that an index selects.
    fn row(&self, index: i32) -> Option<usize> {
        let (rows, at) = (i64::try_from(self.rows).unwrap(), i64::from(index));
        let at = if self.from_end && at < 0 {
            at + rows
        } else {
            at
        };
        let at = match self.policy {
            BadIndices::Clamp => at.clamp(0, rows - 1),
            BadIndices::Wrap => i64::from(index).rem_euclid(rows),
            _ => at,
        };
        usize::try_from(at).ok().filter(|&row| row < self.rows)
    }

    /// The output for bags from `starts` to `ends`, where `value` gives the elements of params.
    pub fn expected(&self, value: impl Fn(usize) -> f32) -> Vec<f32> {
        let places = self
            .offsets
            .windows(2)
            .map(|ends| usize::try_from(ends[0]).unwrap()..usize::try_from(ends[1]).unwrap());
        let bags =
            places.flat_map(|places| (0..self.slice_len).map(move |at| (places.clone(), at)));
        let combined = bags.map(|(places, at)| {
            let term = |place: usize| {
                let value = value(self.row(self.indices[place])? * self.slice_len + at);
                Some(
                    self.weights
                        .get(place)
                        .map_or(value, |weight| weight * value),
                )
            };
            combined(&places.map(term).collect::<Vec<_>>(), self.combine, 1024)
        });
        combined.collect()
    }
}
