//! Cases for `wgpu-gather doctor`: gathers with random shapes, types, policies and bytes, equal on every machine. Each is
//! compared with its operation's definition, which does not use the library's plans.

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

/// The output, or the number of the first bad row.
pub type Gathered = Result<Vec<u8>, usize>;

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
        let dims = self.parts().dims;
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

    /// Computes the output by definition, element by element. If bad rows are errors, returns the first one's number.
    pub fn expected(&self, params: &[u8]) -> Gathered {
        let parts = self.parts();
        let rows = self.located(&parts.dims);
        if self.bad_indices == BadIndices::Error
            && let Some(bad) = rows.iter().position(Option::is_none)
        {
            return Err(bad);
        }
        let row_count: usize = parts.dims.iter().product();
        let mut output = Vec::new();
        for batch in 0..parts.batches {
            for outer in 0..parts.outer {
                for row in 0..parts.rows {
                    for inner in 0..parts.inner {
                        let index_row = match self.op {
                            Op::Elements { .. } => (outer * parts.rows + row) * parts.inner + inner,
                            _ => batch * parts.rows + row,
                        };
                        let of_row = |row: usize| {
                            let table = batch * parts.outer + outer;
                            let element = (table * row_count + row) * parts.inner + inner;
                            &params[element * self.width()..][..self.width()]
                        };
                        match rows[index_row] {
                            Some(row) => output.extend_from_slice(of_row(row)),
                            None => output.resize(output.len() + self.width(), 0),
                        }
                    }
                }
            }
        }
        Ok(output)
    }

    /// The params row that each index row selects; `None` for a bad row.
    fn located(&self, dims: &[usize]) -> Vec<Option<usize>> {
        if dims.is_empty() {
            let rows = self
                .indices_shape
                .split_last()
                .map_or(1, |(_, rows)| rows.iter().product());
            return vec![Some(0); rows];
        }
        let position = |(&index, &dim): (&i64, &usize)| {
            let dim = i64::try_from(dim).expect("a small dim");
            let from_end = self.negative_indices == NegativeIndices::FromEnd && index < 0;
            let index = if from_end { index + dim } else { index };
            let index = match self.bad_indices {
                BadIndices::Clamp => index.clamp(0, dim - 1),
                _ => index,
            };
            usize::try_from(index).ok().filter(|_| index < dim)
        };
        let row = |tuple: &[i64]| {
            let mut positions = tuple.iter().zip(dims).map(position).zip(dims);
            positions.try_fold(0, |row, (position, dim)| Some(row * dim + position?))
        };
        self.indices.chunks(dims.len()).map(row).collect()
    }

    /// Splits the shapes into parts.
    fn parts(&self) -> Parts {
        let (params, indices) = (&self.params_shape, &self.indices_shape);
        let product = |dims: &[usize]| dims.iter().product();
        let (batch_dims, axis, rows, dims) = match self.op {
            Op::Gather { axis, batch_dims } => (batch_dims, axis, &indices[batch_dims..], 1),
            Op::GatherNd { batch_dims } => {
                let last = indices.len() - 1;
                (
                    batch_dims,
                    batch_dims,
                    &indices[batch_dims..last],
                    indices[last],
                )
            }
            Op::Elements { axis } => (0, axis, &indices[axis..=axis], 1),
        };
        Parts {
            batches: product(&params[..batch_dims]),
            outer: product(&params[batch_dims..axis]),
            rows: product(rows),
            dims: params[axis..axis + dims].to_vec(),
            inner: product(&params[axis + dims..]),
        }
    }

    fn width(&self) -> usize {
        usize::try_from(self.types.element_bytes()).expect("a few bytes")
    }
}

/// The output has `batches` * `outer` * `rows` * `inner` elements. An index row selects from `dims`.
struct Parts {
    batches: usize,
    outer: usize,
    rows: usize,
    dims: Vec<usize>,
    inner: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples from TensorFlow's documentation, with the numbers 0 to 7 as params.
    #[test]
    fn the_definition_is_tensorflows() {
        let gathered = |op, params_shape: &[usize], indices_shape: &[usize], indices: &[i64]| {
            let case = Case {
                op,
                params_shape: params_shape.to_vec(),
                indices_shape: indices_shape.to_vec(),
                indices: indices.to_vec(),
                bad_indices: BadIndices::Error,
                negative_indices: NegativeIndices::Invalid,
                types: ElementTypes::new(1, IndexKind::I64),
            };
            case.expected(&[0, 1, 2, 3, 4, 5, 6, 7])
        };
        let nd = |batch_dims| Op::GatherNd { batch_dims };
        let gather = |axis, batch_dims| Op::Gather { axis, batch_dims };
        assert_eq!(
            gathered(nd(0), &[2, 2, 2], &[1, 2], &[0, 1]),
            Ok(vec![2, 3])
        );
        assert_eq!(
            gathered(nd(1), &[2, 2, 2], &[2, 1], &[1, 0]),
            Ok(vec![2, 3, 4, 5])
        );
        assert_eq!(gathered(nd(0), &[2, 4], &[2, 2], &[0, 0, 2, 1]), Err(1));
        assert_eq!(
            gathered(gather(1, 0), &[2, 4], &[2], &[3, 1]),
            Ok(vec![3, 1, 7, 5])
        );
        assert_eq!(
            gathered(gather(1, 1), &[2, 4], &[2, 1], &[3, 1]),
            Ok(vec![3, 5])
        );
        let elements = Op::Elements { axis: 0 };
        assert_eq!(
            gathered(elements, &[2, 4], &[1, 4], &[1, 0, 0, 1]),
            Ok(vec![4, 1, 2, 7])
        );
    }
}
