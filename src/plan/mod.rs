//! The plan of a gather: shapes that are checked and sizes that are known. It has no device and sees no
//! data. What the operations share of their checks is here too.

mod dims;
mod gather;
mod gather_elements;
mod gather_nd;
pub(crate) mod index_rows;
mod line;

use std::fmt;
use std::ops::Range;

pub use self::dims::{GatherDims, PlaceDim};
pub use self::gather::Gather;
pub use self::gather_elements::GatherElements;
pub use self::gather_nd::GatherNd;
use crate::bad_indices::{BadIndexError, BadIndices, NegativeIndices, Problem, join};
use crate::error::{Operand, PlanError};

/// Which operation a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after the types that make them")]
pub enum Operation {
    Gather,
    GatherNd,
    GatherElements,
}

/// A gather whose shapes are checked and whose sizes are known: what both executors run.
///
/// Made by [`Gather::plan`](crate::Gather::plan), [`GatherNd::plan`](crate::GatherNd::plan) and
/// [`GatherElements::plan`](crate::GatherElements::plan); cheap to keep and to compare. Printing it gives one line.
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
    pub(crate) operation: Operation,
    pub(crate) params_shape: Vec<usize>,
    pub(crate) indices_shape: Vec<usize>,
    pub(crate) output_shape: Vec<usize>,
    pub(crate) axis: usize,
    pub(crate) batch_dims: usize,
    pub(crate) bad_indices: BadIndices,
    pub(crate) negative_indices: NegativeIndices,
    pub(crate) dims: GatherDims,
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

    /// The number of batch dims, counted from the front: 0 for gather_elements, which has no such attribute.
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
    /// Its params are rows `rows` of each block of params; a batch and an outer coordinate of gather select a block:
    /// `params.reshape(blocks, row_count, slice_len)[:, rows]`, row-major. An index row that
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
        Ok(self.with_dims(GatherDims {
            first_row: rows.start,
            held_rows: rows.end - rows.start,
            ..self.dims.clone()
        }))
    }

    /// The same plan of other sizes.
    pub(crate) fn with_dims(&self, dims: GatherDims) -> Self {
        Self {
            dims,
            ..self.clone()
        }
    }

    /// The sizes that both executors work from.
    #[must_use]
    pub fn dims(&self) -> &GatherDims {
        &self.dims
    }

    /// The error that names index row `row`, counted over all batches, which holds `index`.
    pub(crate) fn bad_index(&self, row: u64, index: Vec<i128>) -> BadIndexError {
        let problem = match self.operation {
            Operation::GatherNd => Problem::GatherNd {
                batch_dims: self.batch_dims,
                params_shape: self.params_shape.clone(),
            },
            Operation::Gather | Operation::GatherElements => {
                let dim = self.dims.indexed_dims[0];
                let first_valid = match self.negative_indices {
                    NegativeIndices::Invalid => 0,
                    NegativeIndices::FromEnd => -i128::from(dim),
                };
                Problem::Gather { first_valid, dim }
            }
        };
        BadIndexError::new(problem, row, self.index_rows_shape(), index)
    }

    /// The shape of indices without the values of a row: all but the last dim for gather_nd, all of it for the
    /// others.
    fn index_rows_shape(&self) -> &[usize] {
        match self.operation {
            Operation::Gather | Operation::GatherElements => &self.indices_shape,
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
            Operation::GatherNd => f.write_str("gather_nd")?,
            Operation::Gather => f.write_str("gather")?,
            Operation::GatherElements => f.write_str("gather_elements")?,
        }
        write!(f, " params [{params}], indices [{indices}]")?;
        if self.operation != Operation::GatherNd {
            write!(f, ", axis {}", self.axis)?;
        }
        if self.operation != Operation::GatherElements {
            write!(f, ", batch_dims {batch_dims}")?;
        }
        write!(f, " -> output [{output}]")?;
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
