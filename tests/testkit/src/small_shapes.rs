//! All small shapes, and samples for them.

use std::ops::RangeInclusive;

use wgpu_gather::{BadIndices, IndexKind};

use super::cases::{broadcast, case, elements, first, gather, gather_nd, nd_at};
use super::indices::Hash;
use super::oracle::{Case, Op};
use super::samples::{Sample, WIDTHS};

/// The ranks of params and indices.
const RANKS: RangeInclusive<usize> = 0..=4;

/// Every shape with rank 0 to 4 and dims 0 to 3.
pub fn params_shapes() -> Vec<Vec<usize>> {
    RANKS.flat_map(|rank| shapes(rank, 3)).collect()
}

/// All operations on params of this shape, as cases without indices:
/// - indices shapes have rank 0 to 4 and dims 0 to 3; gather_nd's last dim is 0 to 4;
/// - axis and batch_dims have every valid value, and the first invalid one on either side. gather_nd's axis is not given,
///   or lies after the batch dims.
pub fn small_shapes(params_shape: &[usize]) -> impl Iterator<Item = Case> {
    RANKS.flat_map(move |indices_rank| {
        let gathers = shapes(indices_rank, 3).flat_map(move |indices_shape| {
            gather_ops(params_shape.len(), indices_rank)
                .map(move |op| case(op, params_shape, &indices_shape, &[]))
        });
        let gather_nds = shapes(indices_rank, 4).flat_map(move |indices_shape| {
            (-1..=rank(indices_rank) + 1).flat_map(move |batch_dims| {
                let axes = batch_dims + 1..=rank(params_shape.len());
                let given = axes.map(move |axis| nd_at(axis, batch_dims));
                let indices_shape = indices_shape.clone();
                [gather_nd(batch_dims)]
                    .into_iter()
                    .chain(given)
                    .map(move |op| case(op, params_shape, &indices_shape, &[]))
            })
        });
        let elements = shapes(indices_rank, 3).flat_map(move |indices_shape| {
            let params_rank = rank(params_shape.len());
            (-params_rank - 1..=params_rank)
                .flat_map(|axis| [elements(axis), broadcast(axis)])
                .map(move |op| case(op, params_shape, &indices_shape, &[]))
        });
        gathers.chain(gather_nds).chain(elements)
    })
}

/// One sample for each policy, from a case with valid shapes but no indices. The case's hash chooses the index values, the
/// index kind, the element width and what negative indices mean.
pub fn samples_of(case: Case, policies: &[BadIndices]) -> Vec<Sample> {
    let hash = Hash::of(&case);
    samples_by(case, hash, policies)
}

pub fn samples_by(mut case: Case, mut hash: Hash, policies: &[BadIndices]) -> Vec<Sample> {
    let index_kind = IndexKind::ALL[hash.below(IndexKind::ALL.len())];
    let width = WIDTHS[hash.below(WIDTHS.len())];
    case.from_end = hash.below(2) == 1;
    case.fill(&[index_kind], &mut hash);
    case.samples(&[width], &[index_kind], policies)
}

/// gather with every axis and without one, and with every batch_dims, up to the first invalid value on either side.
fn gather_ops(params_rank: usize, indices_rank: usize) -> impl Iterator<Item = Op> {
    let (params_rank, indices_rank) = (rank(params_rank), rank(indices_rank));
    (-indices_rank - 1..=indices_rank + 1).flat_map(move |batch_dims| {
        let given = (-params_rank - 1..=params_rank).map(move |axis| gather(axis, batch_dims));
        given.chain([first(batch_dims)])
    })
}

/// All shapes of this rank with dims 0 to 3, the last dim 0 to `max_last`.
fn shapes(rank: usize, max_last: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut shapes = vec![Vec::new()];
    for k in 0..rank {
        let max = if k + 1 == rank { max_last } else { 3 };
        shapes = shapes
            .into_iter()
            .flat_map(|shape: Vec<usize>| (0..=max).map(move |dim| [&*shape, &[dim]].concat()))
            .collect();
    }
    shapes.into_iter()
}

pub fn rank(rank: usize) -> i64 {
    i64::try_from(rank).expect("a small rank")
}
