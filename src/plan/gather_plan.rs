//! The plan: what it holds, what it says about itself, and the error for a bad row.

use std::fmt;

use super::dims::GatherDims;
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::{BadIndexError, Problem, join};
use crate::operand::Operand;

/// A checked gather for fixed shapes. Call [`gather`](Self::gather) for the CPU, or pass it to a `Gatherer` or an `Executor`.
///
/// You get one from [`Gather::plan`](crate::Gather::plan), [`GatherNd::plan`](crate::GatherNd::plan) or
/// [`GatherElements::plan`](crate::GatherElements::plan). A plan is cheap to keep and to compare, and prints as one line.
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

/// The operation that a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Gather,
    GatherNd,
    GatherElements,
}

impl GatherPlan {
    /// The shape of params; if the plan is a [`shard`](Self::shard), the shape of all params.
    #[must_use]
    pub fn params_shape(&self) -> &[usize] {
        &self.params_shape
    }

    /// The shape of indices.
    #[must_use]
    pub fn indices_shape(&self) -> &[usize] {
        &self.indices_shape
    }

    /// The shape of the output.
    #[must_use]
    pub fn output_shape(&self) -> &[usize] {
        &self.output_shape
    }

    /// How many elements the output has, with the gaps that a [stride](Self::with_output_stride) leaves.
    #[must_use]
    pub fn output_len(&self) -> usize {
        in_memory(self.dims.output_len())
    }

    /// How many elements params or the [`shard`](Self::shard) has, with the gaps that a [stride](Self::with_params_stride) leaves.
    #[must_use]
    pub fn params_len(&self) -> usize {
        in_memory(self.dims.params_len())
    }

    /// How many values indices has.
    #[must_use]
    pub fn indices_len(&self) -> usize {
        in_memory(self.dims.indices_len())
    }

    /// How many index rows there are: the product of the dims of indices, for gather_nd without the last one. Errors number bad
    /// rows so, and [`out_of_range`](Self::out_of_range) returns one `bool` for each.
    #[must_use]
    pub fn index_row_count(&self) -> usize {
        in_memory(self.dims.index_rows())
    }

    /// How many elements a slice has, and so a row of params.
    #[must_use]
    pub fn slice_len(&self) -> usize {
        in_memory(self.dims.slice_len)
    }

    /// How many rows an index row selects among: the product of the indexed dims. For gather_elements, the product of all dims
    /// of params but those that lead, lie before the axis and are equal in params and indices.
    #[must_use]
    pub fn row_count(&self) -> usize {
        in_memory(self.dims.row_count)
    }

    /// What an index out of range gives.
    #[must_use]
    pub fn bad_indices(&self) -> BadIndices {
        self.bad_indices
    }

    /// The sizes that both executors work from.
    pub(crate) fn dims(&self) -> &GatherDims {
        &self.dims
    }

    /// The error that names index row `row`, counted over all batches, and its values `index`.
    pub(crate) fn bad_index(&self, row: u64, index: Vec<i128>) -> BadIndexError {
        let problem = match self.operation {
            Operation::GatherNd => Problem::GatherNd {
                batch_dims: self.batch_dims,
                axis: self.axis,
                params_shape: self.params_shape.clone(),
                of_scatter: false,
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

    /// The shape of indices, for gather_nd without the last dim.
    fn index_rows_shape(&self) -> &[usize] {
        match self.operation {
            Operation::Gather | Operation::GatherElements => &self.indices_shape,
            Operation::GatherNd => &self.indices_shape[..self.indices_shape.len() - 1],
        }
    }
}

/// A number of a plan's elements or rows, which is at most [`MAX_ELEMENTS`](super::checks::MAX_ELEMENTS).
pub(crate) fn in_memory(number: u64) -> usize {
    usize::try_from(number).expect("a plan has at most usize::MAX elements")
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
        if self.operation != Operation::GatherNd || self.axis > self.batch_dims {
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
            slice_len,
            params_stride,
            output_stride,
            ..
        } = self.dims;
        if held_rows < row_count {
            write!(f, ", rows {first_row}..{} only", first_row + held_rows)?;
        }
        for (operand, stride) in [
            (Operand::Params, params_stride),
            (Operand::Output, output_stride),
        ] {
            if stride > slice_len {
                write!(f, ", {operand} stride {stride}")?;
            }
        }
        Ok(())
    }
}
