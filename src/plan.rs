//! `Gather` and `GatherNd` to `GatherPlan`: every check of shapes and attributes, every product, the output
//! shape. Knows no device, sees no data, and is the only place that rejects a shape.

use std::fmt;
use std::ops::Range;

use crate::bad_indices::{BadIndices, NegativeIndices, join};
use crate::dims::GatherDims;
use crate::error::{Operand, PlanError};

/// Index values that one index row may have.
const MAX_INDEX_DEPTH: usize = 8;

/// The attributes of `tf.gather_nd` (and of Paddle's and ONNX's): each row of indices selects one slice of
/// params.
///
/// ```text
/// output[b, n, ..] = params[b, indices[b, n, 0], .., indices[b, n, index_depth - 1], ..]
/// output.shape     = indices.shape[..last] + params.shape[batch_dims + index_depth..]
/// ```
///
/// ```
/// use wgpu_gather::GatherNd;
///
/// let plan = GatherNd::new().batch_dims(1).plan(&[2, 2, 2], &[2, 1])?;
/// assert_eq!(plan.output_shape(), [2, 2]);
/// assert_eq!(plan.run(&["a0", "b0", "c0", "d0", "a1", "b1", "c1", "d1"], &[1, 0])?, ["c0", "d0", "a1", "b1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GatherNd {
    batch_dims: i64,
    bad_indices: BadIndices,
    negative_indices: NegativeIndices,
}

impl GatherNd {
    /// No batch dims, TensorFlow's rules for indices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many leading dims params and indices share; 0 unless set.
    #[must_use]
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// What an out-of-range index gives; [`BadIndices::DeviceDefault`] unless set.
    #[must_use]
    pub fn bad_indices(mut self, bad_indices: BadIndices) -> Self {
        self.bad_indices = bad_indices;
        self
    }

    /// What a negative index means; [`NegativeIndices::Invalid`] unless set.
    #[must_use]
    pub fn negative_indices(mut self, negative_indices: NegativeIndices) -> Self {
        self.negative_indices = negative_indices;
        self
    }

    /// Checks the shapes, in TensorFlow's order, and works out all sizes.
    ///
    /// # Errors
    ///
    /// Negative batch_dims; batch_dims not below the rank of indices, or of params; unequal batch dims; a
    /// scalar operand; an index depth above `rank(params) - batch_dims`; sizes beyond `i64::MAX`
    /// elements; index rows into params without elements; an index depth above 8.
    pub fn plan(
        &self,
        params_shape: &[usize],
        indices_shape: &[usize],
    ) -> Result<GatherPlan, PlanError> {
        let batch_dims =
            u64::try_from(self.batch_dims).map_err(|_| PlanError::BatchDimsNegative {
                batch_dims: self.batch_dims,
            })?;
        if batch_dims > 0 && batch_dims >= indices_shape.len() as u64 {
            let indices_rank = indices_shape.len();
            return Err(PlanError::BatchDimsNotBelowIndicesRank {
                batch_dims,
                indices_rank,
            });
        }
        if batch_dims > 0 {
            check_below_params_rank(batch_dims, params_shape)?;
        }
        let batch_dims = usize::try_from(batch_dims).expect("batch_dims is at most a rank");
        check_batch_dims_equal(batch_dims, params_shape, indices_shape)?;
        if params_shape.is_empty() {
            return Err(PlanError::ParamsScalar);
        }
        let Some((&index_depth, index_rows_shape)) = indices_shape.split_last() else {
            return Err(PlanError::IndicesScalar);
        };
        let max = params_shape.len() - batch_dims;
        if index_depth > max {
            return Err(PlanError::IndexDepthAboveRank { index_depth, max });
        }

        let indexed_end = batch_dims + index_depth;
        let output_shape = [index_rows_shape, &params_shape[indexed_end..]].concat();
        check_element_counts(params_shape, indices_shape, &output_shape)?;
        if !index_rows_shape.contains(&0) {
            if params_shape.contains(&0) {
                return Err(PlanError::EmptyParams {
                    params_shape: params_shape.to_vec(),
                });
            }
            if index_depth > MAX_INDEX_DEPTH {
                return Err(PlanError::IndexDepthAboveLimit { index_depth });
            }
        }
        Ok(GatherPlan {
            operation: Operation::GatherNd,
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape,
            axis: batch_dims,
            batch_dims,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
            dims: GatherDims {
                batch_size: product(&params_shape[..batch_dims]),
                outer_size: 1,
                index_count: product(&index_rows_shape[batch_dims..]),
                indexed_dims: params_shape[batch_dims..indexed_end]
                    .iter()
                    .map(|&dim| dim as u64)
                    .collect(),
                row_count: product(&params_shape[batch_dims..indexed_end]),
                slice_len: product(&params_shape[indexed_end..]),
                first_row: 0,
                held_rows: product(&params_shape[batch_dims..indexed_end]),
            },
        })
    }
}

/// The attributes of `tf.gather` (and of ONNX's Gather, NumPy's `take`): each index selects along one axis
/// of params.
///
/// ```text
/// output[b, o, n, s] = params[b, o, indices[b, n], s]
/// output.shape       = params.shape[..axis] + indices.shape[batch_dims..] + params.shape[axis + 1..]
/// ```
///
/// ```
/// use wgpu_gather::Gather;
///
/// let plan = Gather::new().axis(-1).plan(&[2, 3], &[2])?;
/// assert_eq!(plan.output_shape(), [2, 2]);
/// assert_eq!(plan.run(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2_i64, 0])?, [3.0, 1.0, 6.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Gather {
    axis: Option<i64>,
    batch_dims: i64,
    bad_indices: BadIndices,
    negative_indices: NegativeIndices,
}

impl Gather {
    /// The first dim behind no batch dims, TensorFlow's rules for indices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The dim of params to select along; a negative one counts from the rank of params.
    ///
    /// Unless set it is batch_dims *as given*, as in TensorFlow: a negative batch_dims then counts from the
    /// rank of params, although as batch_dims it counts from the rank of indices.
    #[must_use]
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = Some(axis);
        self
    }

    /// How many leading dims params and indices share; a negative one counts from the rank of indices.
    /// 0 unless set.
    #[must_use]
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// What an out-of-range index gives; [`BadIndices::DeviceDefault`] unless set.
    #[must_use]
    pub fn bad_indices(mut self, bad_indices: BadIndices) -> Self {
        self.bad_indices = bad_indices;
        self
    }

    /// What a negative index means; [`NegativeIndices::Invalid`] unless set.
    #[must_use]
    pub fn negative_indices(mut self, negative_indices: NegativeIndices) -> Self {
        self.negative_indices = negative_indices;
        self
    }

    /// Checks the shapes, in TensorFlow's order, and works out all sizes.
    ///
    /// # Errors
    ///
    /// Scalar params; an axis outside the rank of params; batch_dims outside `-rank(indices)..=rank(indices)`,
    /// not below the rank of params, or above the axis; unequal batch dims; sizes beyond `i64::MAX`
    /// elements.
    pub fn plan(
        &self,
        params_shape: &[usize],
        indices_shape: &[usize],
    ) -> Result<GatherPlan, PlanError> {
        let (params_rank, indices_rank) = (params_shape.len(), indices_shape.len());
        if params_rank == 0 {
            return Err(PlanError::ParamsScalar);
        }
        let axis = self.axis.unwrap_or(self.batch_dims);
        let axis = from_end(axis, params_rank)
            .filter(|&axis| axis < params_rank)
            .ok_or(PlanError::AxisOutOfRange {
                axis,
                given: self.axis.is_some(),
                params_rank,
            })?;
        let batch_dims = from_end(self.batch_dims, indices_rank)
            .filter(|&batch_dims| batch_dims <= indices_rank)
            .ok_or(PlanError::BatchDimsOutOfRange {
                batch_dims: self.batch_dims,
                indices_rank,
            })?;
        check_below_params_rank(batch_dims as u64, params_shape)?;
        if batch_dims > axis {
            return Err(PlanError::BatchDimsAboveAxis { batch_dims, axis });
        }
        check_batch_dims_equal(batch_dims, params_shape, indices_shape)?;

        let (outer, inner) = (&params_shape[batch_dims..axis], &params_shape[axis + 1..]);
        let output_shape = [&params_shape[..axis], &indices_shape[batch_dims..], inner].concat();
        check_element_counts(params_shape, indices_shape, &output_shape)?;
        let row_count = params_shape[axis] as u64;
        Ok(GatherPlan {
            operation: Operation::Gather,
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape,
            axis,
            batch_dims,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
            dims: GatherDims {
                batch_size: product(&params_shape[..batch_dims]),
                outer_size: product(outer),
                index_count: product(&indices_shape[batch_dims..]),
                indexed_dims: vec![row_count],
                row_count,
                slice_len: product(inner),
                first_row: 0,
                held_rows: row_count,
            },
        })
    }
}

/// Which of the two operations a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after the types that make them")]
pub enum Operation {
    Gather,
    GatherNd,
}

/// A gather whose shapes are checked and whose sizes are known: what both executors run.
///
/// Made by [`Gather::plan`] and [`GatherNd::plan`]; cheap to keep and to compare. Printing it gives one
/// line.
///
/// ```
/// use wgpu_gather::GatherNd;
///
/// let plan = GatherNd::new().plan(&[5, 7, 3], &[4, 2])?;
/// assert_eq!(plan.to_string(), "gather_nd params [5,7,3], indices [4,2], batch_dims 0 -> output [4,3]");
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GatherPlan {
    operation: Operation,
    params_shape: Vec<usize>,
    indices_shape: Vec<usize>,
    output_shape: Vec<usize>,
    axis: usize,
    batch_dims: usize,
    bad_indices: BadIndices,
    negative_indices: NegativeIndices,
    dims: GatherDims,
}

impl GatherPlan {
    /// The shape of the result.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        &self.output_shape
    }

    /// The shape of params that the plan was made for.
    #[must_use]
    pub fn params_shape(&self) -> &[usize] {
        &self.params_shape
    }

    /// The shape of indices that the plan was made for.
    #[must_use]
    pub fn indices_shape(&self) -> &[usize] {
        &self.indices_shape
    }

    /// The operation that the plan was made by.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The first dim of params that is indexed, counted from the front.
    #[must_use]
    pub fn axis(&self) -> usize {
        self.axis
    }

    /// The number of batch dims, counted from the front.
    #[must_use]
    pub fn batch_dims(&self) -> usize {
        self.batch_dims
    }

    /// What an out-of-range index gives.
    #[must_use]
    pub fn bad_indices(&self) -> BadIndices {
        self.bad_indices
    }

    /// What a negative index means.
    #[must_use]
    pub fn negative_indices(&self) -> NegativeIndices {
        self.negative_indices
    }

    /// The plan of one of several devices or machines that share params: of one that holds only these of
    /// the rows that an index row may select.
    ///
    /// Its params are rows `rows` of each part of params, a part being what the batch dims and gather's outer
    /// dims select: `params.reshape(parts, row_count, slice_len)[:, rows]`, row-major. An index row that
    /// selects another row gives zeros, and is no bad row; one that is bad is bad for every shard, and
    /// has the same text. The outputs of shards that hold each row once, put together by OR of their bytes,
    /// are the output of the whole.
    ///
    /// # Errors
    ///
    /// Rows that are not within `0..row_count`.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// let plan = Gather::new().plan(&[4], &[3])?;
    /// let first = plan.shard(0..2)?.run(&[10, 20], &[1, 3, 0])?;
    /// let second = plan.shard(2..4)?.run(&[30, 40], &[1, 3, 0])?;
    /// assert_eq!((&first[..], &second[..]), (&[20, 0, 10][..], &[0, 40, 0][..]));
    /// let whole: Vec<i32> = first.iter().zip(&second).map(|(a, b)| a | b).collect();
    /// assert_eq!(whole, plan.run(&[10, 20, 30, 40], &[1, 3, 0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shard(&self, rows: Range<u64>) -> Result<Self, PlanError> {
        let row_count = self.dims.row_count;
        if rows.start > rows.end || rows.end > row_count {
            let Range { start, end } = rows;
            return Err(PlanError::ShardOutOfRange {
                start,
                end,
                row_count,
            });
        }
        let mut shard = self.clone();
        shard.dims.first_row = rows.start;
        shard.dims.held_rows = rows.end - rows.start;
        Ok(shard)
    }

    /// The sizes that both executors work from.
    #[must_use]
    pub fn dims(&self) -> &GatherDims {
        &self.dims
    }

    /// The shape of indices without the values of a row: all of it for gather, all but the last dim for
    /// gather_nd.
    pub(crate) fn index_rows_shape(&self) -> &[usize] {
        match self.operation {
            Operation::Gather => &self.indices_shape,
            Operation::GatherNd => &self.indices_shape[..self.indices_shape.len() - 1],
        }
    }
}

impl fmt::Display for GatherPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (params, indices) = (
            join(&self.params_shape, ","),
            join(&self.indices_shape, ","),
        );
        let (batch_dims, output) = (self.batch_dims, join(&self.output_shape, ","));
        match self.operation {
            Operation::GatherNd => write!(f, "gather_nd params [{params}], indices [{indices}], ")?,
            Operation::Gather => {
                write!(
                    f,
                    "gather params [{params}], indices [{indices}], axis {}, ",
                    self.axis
                )?;
            }
        }
        write!(f, "batch_dims {batch_dims} -> output [{output}]")?;
        let GatherDims {
            row_count,
            first_row,
            held_rows,
            ..
        } = self.dims;
        if held_rows < row_count {
            write!(f, ", rows {first_row}..{} only", first_row + held_rows)?;
        }
        Ok(())
    }
}

/// A dim given from the front or, if negative, from the end of `rank` dims.
fn from_end(dim: i64, rank: usize) -> Option<usize> {
    let dim = i128::from(dim);
    usize::try_from(if dim < 0 { dim + rank as i128 } else { dim }).ok()
}

fn check_below_params_rank(batch_dims: u64, params_shape: &[usize]) -> Result<(), PlanError> {
    let params_rank = params_shape.len();
    if batch_dims >= params_rank as u64 {
        return Err(PlanError::BatchDimsNotBelowParamsRank {
            batch_dims,
            params_rank,
        });
    }
    Ok(())
}

fn check_batch_dims_equal(
    batch_dims: usize,
    params_shape: &[usize],
    indices_shape: &[usize],
) -> Result<(), PlanError> {
    for (dim, (&params_dim, &indices_dim)) in params_shape
        .iter()
        .zip(indices_shape)
        .enumerate()
        .take(batch_dims)
    {
        if params_dim != indices_dim {
            return Err(PlanError::BatchDimsUnequal {
                dim,
                params_dim,
                indices_dim,
            });
        }
    }
    Ok(())
}

/// Afterwards the product of any of an operand's dims is at most `i64::MAX`. Zero dims are left out of
/// the check, so that this holds for the other dims of an empty tensor too (NumPy's rule).
fn check_element_counts(
    params: &[usize],
    indices: &[usize],
    output: &[usize],
) -> Result<(), PlanError> {
    for (operand, shape) in [
        (Operand::Params, params),
        (Operand::Indices, indices),
        (Operand::Output, output),
    ] {
        let elements = shape
            .iter()
            .filter(|&&dim| dim > 0)
            .try_fold(1_u64, |elements, &dim| elements.checked_mul(dim as u64));
        if elements.is_none_or(|elements| elements > i64::MAX.unsigned_abs()) {
            return Err(PlanError::TooManyElements {
                operand,
                shape: shape.to_vec(),
            });
        }
    }
    Ok(())
}

/// The product of dims that [`check_element_counts`] has passed.
fn product(dims: &[usize]) -> u64 {
    dims.iter().map(|&dim| dim as u64).product()
}
