//! Cases for `wgpu-gather doctor`: gathers with random shapes, types, policies and bytes, equal on every machine.

use super::random::Random;
use wgpu_gather::{
    BadIndices, ElementTypes, Gather, GatherElements, GatherNd, GatherPlan, IndexKind,
    NegativeIndices, PlanError,
};

/// Bytes per element.
const WIDTHS: [u64; 7] = [1, 2, 3, 4, 8, 12, 16];
const POLICIES: [BadIndices; 3] = [BadIndices::Error, BadIndices::Fill, BadIndices::Clamp];

/// An operation. For `Elements`, indices have the dims of params, except along the axis.
#[derive(Debug, Clone, Copy)]
enum Op {
    Gather { axis: usize, batch_dims: usize },
    GatherNd { batch_dims: usize },
    Elements { axis: usize },
}

/// A gather.
#[derive(Debug)]
pub struct Case {
    op: Op,
    params_shape: Vec<usize>,
    indices_shape: Vec<usize>,
    indices: Vec<i64>,
    bad_indices: BadIndices,
    negative_indices: NegativeIndices,
    pub types: ElementTypes,
}

impl Case {
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let rank = random.between(1, 4);
        let mut params_shape: Vec<usize> = (0..rank).map(|_| random.between(1, 5)).collect();
        // One dim may be longer, for long slices and for tables with many rows.
        params_shape[random.between(0, rank - 1)] = random.between(1, 150);
        let axis = random.between(0, rank - 1);
        let batch_dims = random.between(0, axis);
        let batch = &params_shape[..batch_dims];
        let rows: Vec<usize> = (0..random.between(0, 2))
            .map(|_| random.between(0, 12))
            .collect();
        let (op, indices_shape) = match random.between(0, 2) {
            0 => (Op::Gather { axis, batch_dims }, [batch, &rows].concat()),
            1 => {
                let depth = random.between(0, rank - batch_dims);
                (
                    Op::GatherNd { batch_dims },
                    [batch, &rows, &[depth]].concat(),
                )
            }
            _ => {
                let mut shape = params_shape.clone();
                shape[axis] = random.between(0, 12);
                (Op::Elements { axis }, shape)
            }
        };
        let types = ElementTypes::new(random.of(&WIDTHS), random.of(IndexKind::ALL));
        let mut case = Self {
            op,
            params_shape,
            indices_shape,
            indices: Vec::new(),
            bad_indices: random.of(&POLICIES),
            negative_indices: random.of(&[NegativeIndices::Invalid, NegativeIndices::FromEnd]),
            types,
        };
        case.indices = case.random_indices(&mut random);
        case
    }

    /// Indices in range. In half the cases, one in sixteen is too large and, if the type is signed, one in eight negative. No
    /// index exceeds what the type holds.
    fn random_indices(&self, random: &mut Random) -> Vec<i64> {
        let dims = self.dims();
        let is_signed = matches!(
            self.types.index_kind(),
            IndexKind::I8 | IndexKind::I16 | IndexKind::I32 | IndexKind::I64
        );
        let value_bits = 8 * self.types.index_kind().bytes() - u64::from(is_signed);
        let largest = (1_usize << value_bits.min(31)) - 1;
        let wild = random.between(0, 1) == 1;
        let count: usize = self.indices_shape.iter().product();
        let index = |at: usize| {
            let most = (dims[at % dims.len()] - 1).min(largest);
            let index = match wild && random.between(0, 15) == 0 {
                true => (most + random.between(1, 9)).min(largest),
                false => random.between(0, most),
            };
            let index = i64::try_from(index).expect("a small index");
            match wild && is_signed && random.between(0, 7) == 0 {
                true => -1 - index,
                false => index,
            }
        };
        (0..count).map(index).collect()
    }

    pub fn plan(&self) -> Result<GatherPlan, PlanError> {
        let signed = |dim: usize| i64::try_from(dim).expect("a small rank");
        let (params, indices) = (&self.params_shape, &self.indices_shape);
        match self.op {
            Op::Gather { axis, batch_dims } => Gather::new()
                .axis(signed(axis))
                .batch_dims(signed(batch_dims))
                .bad_indices(self.bad_indices)
                .negative_indices(self.negative_indices)
                .plan(params, indices),
            Op::GatherNd { batch_dims } => GatherNd::new()
                .batch_dims(signed(batch_dims))
                .bad_indices(self.bad_indices)
                .negative_indices(self.negative_indices)
                .plan(params, indices),
            Op::Elements { axis } => GatherElements::new()
                .axis(signed(axis))
                .bad_indices(self.bad_indices)
                .negative_indices(self.negative_indices)
                .plan(params, indices),
        }
    }

    /// Bytes without a short period.
    pub fn params(&self) -> Vec<u8> {
        let elements: usize = self.params_shape.iter().product();
        let mut random = Random(elements as u64);
        (0..elements * self.width())
            .map(|_| random.byte())
            .collect()
    }

    /// The indices as little-endian bytes.
    pub fn index_bytes(&self) -> Vec<u8> {
        let width = usize::try_from(self.types.index_kind().bytes()).expect("1 to 8 bytes");
        let bytes = |index: &i64| index.to_le_bytes().into_iter().take(width);
        self.indices.iter().flat_map(bytes).collect()
    }

    /// The dims of params that an index row selects from.
    fn dims(&self) -> &[usize] {
        let (first, depth) = match self.op {
            Op::Gather { axis, .. } | Op::Elements { axis } => (axis, 1),
            Op::GatherNd { batch_dims } => {
                (batch_dims, self.indices_shape[self.indices_shape.len() - 1])
            }
        };
        &self.params_shape[first..first + depth]
    }

    fn width(&self) -> usize {
        usize::try_from(self.types.element_bytes()).expect("a few bytes")
    }
}
