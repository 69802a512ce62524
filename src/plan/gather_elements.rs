//! Plans gather_elements: checks its shapes and attributes.

use super::checks::{axis_of, check_element_counts};
use super::element_dims::Shapes;
use super::gather_plan::{GatherPlan, Operation};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::PlanError;

/// Selects one element for each index, along one axis: `torch.gather`, ONNX's `GatherElements`.
///
/// An index keeps its own place in the other dims. For NumPy's `take_along_axis` add [`broadcast(true)`](Self::broadcast) and
/// [`NegativeIndices::FromEnd`].
///
/// ```text
/// output[i, j, k] = params[i, indices[i, j, k], k]        where axis is 1
/// output.shape    = indices.shape
/// ```
///
/// Params and indices must have the same rank. Except along the axis, no dim of indices may be larger than that of params. NumPy
/// and JAX broadcast the two against each other instead: [`broadcast`](Self::broadcast).
///
/// Its gradient is [`scatter_reduce`](GatherPlan::scatter_reduce) through the same plan, with [`Reduce::Add`](crate::Reduce::Add)
/// into zeros.
///
/// ```
/// use wgpu_gather::GatherElements;
///
/// let scores = [0.1, 0.7, 0.2, 0.5, 0.3, 0.2];
/// let best = GatherElements::new().axis(1).plan(&[2, 3], &[2, 1])?;
/// assert_eq!(best.output_shape(), [2, 1]);
/// assert_eq!(best.gather(&scores, &[1, 0])?, [0.7, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GatherElements {
    axis: i64,
    broadcast: bool,
    pub(super) bad_indices: BadIndices,
    pub(super) negative_indices: NegativeIndices,
}

impl GatherElements {
    /// Gathers along axis 0, as ONNX does by default. A negative index is out of range, and an index out of range is an error on
    /// the CPU and zeros on a GPU; [`frameworks`](crate::guide::frameworks) has the settings for `torch.gather` and others.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The dim to select along; a negative `axis` has the rank added.
    #[must_use]
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = axis;
        self
    }

    /// If `broadcast` is true, dims of 1 stretch, as in NumPy, JAX, MLX and Paddle. Except along the axis, a dim must then be
    /// equal in params and indices, or 1 in one of them; nothing is copied to repeat it.
    ///
    /// By default nothing stretches, as in ONNX's `GatherElements` and `torch.gather`. If a dim of indices other than the axis is
    /// smaller than that of params, only the first positions along that dim of params are read.
    ///
    /// ```
    /// use wgpu_gather::GatherElements;
    ///
    /// // Row 1 from each of two matrices, 2 x 3.
    /// let elements = GatherElements::new().axis(1).broadcast(true);
    /// let plan = elements.plan(&[2, 2, 3], &[1, 1, 1])?;
    /// assert_eq!(plan.output_shape(), [2, 1, 3]);
    /// let params = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    /// assert_eq!(plan.gather(&params, &[1])?, [3, 4, 5, 9, 10, 11]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn broadcast(mut self, broadcast: bool) -> Self {
        self.broadcast = broadcast;
        self
    }

    /// Checks the shapes and works out all sizes.
    ///
    /// # Errors
    ///
    /// Scalar params; an axis outside params' rank; indices with another rank; a dim other than the axis that is larger in
    /// indices than in params, or with broadcasting one that differs while neither is 1; more than `i64::MAX` elements in an
    /// operand.
    pub fn plan(
        &self,
        params_shape: &[usize],
        indices_shape: &[usize],
    ) -> Result<GatherPlan, PlanError> {
        if params_shape.is_empty() {
            return Err(PlanError::ParamsScalar);
        }
        let axis = axis_of(self.axis, true, params_shape.len())?;
        let output_shape = self.output_shape(axis, params_shape, indices_shape)?;
        check_element_counts(params_shape, indices_shape, &output_shape)?;
        let shapes = Shapes {
            axis,
            broadcast: self.broadcast,
            params: params_shape,
            indices: indices_shape,
            output: &output_shape,
        };
        Ok(GatherPlan {
            operation: Operation::GatherElements,
            dims: shapes.dims(),
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape,
            axis,
            batch_dims: 0,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
        })
    }

    fn output_shape(
        &self,
        axis: usize,
        params_shape: &[usize],
        indices_shape: &[usize],
    ) -> Result<Vec<usize>, PlanError> {
        let (params_rank, indices_rank) = (params_shape.len(), indices_shape.len());
        if params_rank != indices_rank {
            return Err(PlanError::RanksUnequal {
                params_rank,
                indices_rank,
            });
        }
        let mut output_shape = indices_shape.to_vec();
        for (dim, output_dim) in output_shape.iter_mut().enumerate() {
            let (params_dim, indices_dim) = (params_shape[dim], indices_shape[dim]);
            if dim == axis {
                continue;
            }
            if !self.broadcast && indices_dim > params_dim {
                return Err(PlanError::IndicesDimAboveParams {
                    dim,
                    params_dim,
                    indices_dim,
                });
            }
            if self.broadcast && params_dim != indices_dim && params_dim != 1 && indices_dim != 1 {
                return Err(PlanError::DimsNotBroadcast {
                    dim,
                    params_dim,
                    indices_dim,
                });
            }
            if self.broadcast && indices_dim == 1 {
                *output_dim = params_dim;
            }
        }
        Ok(output_shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::dims::{ElementDim, GatherDims};

    #[track_caller]
    fn dims(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> GatherDims {
        let elements = GatherElements::new().axis(axis);
        let plan = elements.plan(params_shape, indices_shape);
        plan.expect("valid shapes").dims().clone()
    }

    fn places(dims: &GatherDims) -> Vec<(u64, u64)> {
        let pair = |dim: &ElementDim| (dim.size, dim.stride);
        dims.element_dims.iter().map(pair).collect()
    }

    #[test]
    fn along_the_last_axis_it_is_gather_with_batch_dims() {
        let dims = dims(2, &[2, 3, 7], &[2, 3, 5]);
        assert_eq!(
            (dims.batch_size, dims.index_count, dims.row_count),
            (6, 5, 7)
        );
        assert_eq!((dims.index_stride, places(&dims)), (1, vec![]));
    }

    #[test]
    fn neighbouring_dims_of_equal_length_are_merged() {
        // All dims after the axis are one.
        let whole = dims(1, &[2, 7, 3, 4], &[2, 5, 3, 4]);
        assert_eq!(
            (whole.batch_size, whole.index_count, whole.row_count),
            (2, 60, 84)
        );
        assert_eq!(
            (whole.index_stride, places(&whole)),
            (12, vec![(5, 0), (12, 1)])
        );
        // A last dim that is shorter in indices is not merged with the dim before it.
        let last = dims(1, &[2, 7, 3, 4], &[2, 5, 3, 2]);
        assert_eq!(places(&last), [(5, 0), (3, 4), (2, 1)]);
        // Dims of one entry are left out, except the axis.
        let one = dims(1, &[2, 7, 3, 4], &[1, 5, 1, 2]);
        assert_eq!((one.batch_size, places(&one)), (1, vec![(5, 0), (2, 1)]));
        assert_eq!(places(&dims(1, &[2, 7], &[1, 1])), [(1, 0)]);
        assert_eq!(places(&dims(0, &[7, 2], &[3, 1])), [(3, 0)]);
    }

    #[test]
    fn a_dim_that_repeats_indices_is_outer_or_a_slice() {
        let dims = |axis: i64, params_shape: &[usize], indices_shape: &[usize]| {
            let elements = GatherElements::new().axis(axis).broadcast(true);
            let plan = elements.plan(params_shape, indices_shape);
            plan.expect("valid shapes").dims().clone()
        };
        // Before the axis and after it: a gather of slices.
        let gather = dims(2, &[2, 3, 7, 4], &[2, 1, 5, 1]);
        assert_eq!(
            (gather.batch_size, gather.outer_size, gather.slice_len),
            (2, 3, 4)
        );
        assert_eq!((gather.index_count, gather.batch_index_rows), (5, 5));
        assert_eq!((gather.row_count, places(&gather)), (7, vec![]));
        // A dim of 1 between two dims that are indexed: several output rows read each index row.
        let within = dims(2, &[2, 3, 7, 4], &[2, 1, 5, 4]);
        assert_eq!((within.batch_size, within.outer_size), (2, 3));
        let repeated = dims(0, &[7, 3, 4], &[5, 1, 4]);
        assert_eq!((repeated.batch_size, repeated.outer_size), (1, 1));
        assert_eq!((repeated.index_count, repeated.batch_index_rows), (60, 20));
        let index_strides: Vec<u64> = repeated
            .element_dims
            .iter()
            .map(|d| d.index_stride)
            .collect();
        assert_eq!(
            (places(&repeated), index_strides),
            (vec![(5, 0), (3, 4), (4, 1)], vec![4, 0, 1])
        );
        let batched = dims(1, &[2, 7, 3, 4], &[2, 5, 1, 4]);
        assert_eq!((batched.batch_size, batched.outer_size), (1, 1));
        assert_eq!((batched.index_count, batched.batch_index_rows), (120, 40));
        // One row of params for all index rows.
        let params = dims(1, &[1, 7], &[6, 5]);
        assert_eq!(
            (params.row_count, params.index_count, places(&params)),
            (7, 30, vec![])
        );
    }
}
