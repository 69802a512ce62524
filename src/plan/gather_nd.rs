//! Plans of gather_nd: the checks of its shapes and attributes, in TensorFlow's order.

use super::checks::{
    axis_of, check_batch_dims_equal, check_before_axis, check_below_params_rank,
    check_element_counts,
};
use super::dims::GatherDims;
use super::gather_plan::{GatherPlan, Operation};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::PlanError;

/// The most values that one index row may have.
const MAX_INDEX_DEPTH: usize = 8;

/// Selects one slice for each index row of coordinates: `tf.gather_nd`, and Paddle's and ONNX's.
///
/// ```text
/// output[b, o, n, ..] = params[b, o, indices[b, n, 0], .., indices[b, n, index_depth - 1], ..]
/// output.shape        = params.shape[..axis] + indices.shape[batch_dims..last] + params.shape[axis + index_depth..]
/// ```
///
/// `o` runs over the dims between the batch dims and the axis. TensorFlow has none: its axis is `batch_dims`. The
/// *index depth* is the last dim of indices. If it is 1, `GatherNd` selects as [`Gather`](crate::Gather) does, whose indices just lack
/// that dim.
///
/// ```
/// use wgpu_gather::GatherNd;
///
/// let plan = GatherNd::new().batch_dims(1).plan(&[2, 2, 2], &[2, 1])?;
/// assert_eq!(plan.output_shape(), [2, 2]);
/// assert_eq!(plan.gather(&["a0", "b0", "c0", "d0", "a1", "b1", "c1", "d1"], &[1, 0])?, ["c0", "d0", "a1", "b1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GatherNd {
    axis: Option<i64>,
    batch_dims: i64,
    pub(super) bad_indices: BadIndices,
    pub(super) negative_indices: NegativeIndices,
}

impl GatherNd {
    /// Gathers without batch dims, by TensorFlow's rules for indices, unless you set others.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The first dim of params to select in; a negative `axis` has the rank of params added. Unless you set it, the axis is
    /// `batch_dims`, as in TensorFlow, Paddle and ONNX.
    ///
    /// The dims between the batch dims and the axis are copied through, as in `x[:, i, j]` of NumPy and PyTorch:
    ///
    /// ```
    /// use wgpu_gather::GatherNd;
    ///
    /// // Elements [0, 1] and [1, 0] of two matrices of 2 x 2.
    /// let plan = GatherNd::new().axis(1).plan(&[2, 2, 2], &[2, 2])?;
    /// assert_eq!(plan.output_shape(), [2, 2]);
    /// assert_eq!(plan.gather(&[1, 2, 3, 4, 5, 6, 7, 8], &[0, 1, 1, 0])?, [2, 3, 6, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = Some(axis);
        self
    }

    /// The number of leading dims that params and indices share; 0 unless set.
    #[must_use]
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// Checks the shapes and works out all sizes. If several things are wrong, the error is the one that TensorFlow reports first.
    ///
    /// # Errors
    ///
    /// Negative batch_dims; batch_dims not below the rank of indices, or of params; unequal batch dims; a scalar
    /// operand; an axis outside the rank of params, or below batch_dims; an index depth above `rank(params) - axis`;
    /// more than `i64::MAX` elements in an operand; an index depth above 8.
    ///
    /// As in TensorFlow, it is an error too if params has no elements and indices has a row. With [`NegativeIndices::FromEnd`] this
    /// is no error: if an indexed dim is 0, every index row is bad; otherwise the output is empty.
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
        let axis = match self.axis {
            Some(axis) => axis_of(axis, true, params_shape.len())?,
            None => batch_dims,
        };
        check_before_axis(batch_dims, axis)?;
        let max = params_shape.len() - axis;
        if index_depth > max {
            return Err(PlanError::IndexDepthAboveRank { index_depth, max });
        }

        let (outer, inner) = (&params_shape[..axis], &params_shape[axis + index_depth..]);
        let output_shape = [outer, &index_rows_shape[batch_dims..], inner].concat();
        check_element_counts(params_shape, indices_shape, &output_shape)?;
        if !index_rows_shape.contains(&0) {
            let is_tensorflows = self.negative_indices == NegativeIndices::Invalid;
            if is_tensorflows && params_shape.contains(&0) {
                return Err(PlanError::EmptyParams {
                    params_shape: params_shape.to_vec(),
                });
            }
            if index_depth > MAX_INDEX_DEPTH {
                return Err(PlanError::IndexDepthAboveLimit { index_depth });
            }
        }
        let dims = GatherDims::of_slices(
            params_shape,
            index_rows_shape,
            batch_dims,
            axis,
            index_depth,
        );
        Ok(GatherPlan {
            operation: Operation::GatherNd,
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape,
            axis,
            batch_dims,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
            dims,
        })
    }
}
