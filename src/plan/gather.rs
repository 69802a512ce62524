//! Plans of gather: the checks of its shapes and attributes, in TensorFlow's order.

use super::checks::{
    axis_of, check_batch_dims_equal, check_before_axis, check_below_params_rank,
    check_element_counts, from_end,
};
use super::dims::GatherDims;
use super::gather_plan::{GatherPlan, Operation};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::PlanError;

/// Selects slices along one axis: `tf.gather`, `np.take`, `torch.index_select`, an embedding look-up.
///
/// Also ONNX's `Gather` and TensorFlow 1's `batch_gather`.
///
/// ```text
/// output[b, o, n, s] = params[b, o, indices[b, n], s]
/// output.shape       = params.shape[..axis] + indices.shape[batch_dims..] + params.shape[axis + 1..]
/// ```
///
/// `b` runs over the batch dims, `o` over the dims between them and the axis, `n` over the other dims of indices, and `s` over the
/// dims of params after the axis.
///
/// ```
/// use wgpu_gather::Gather;
///
/// let plan = Gather::new().axis(-1).plan(&[2, 3], &[2])?;
/// assert_eq!(plan.output_shape(), [2, 2]);
/// assert_eq!(plan.gather(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2_i64, 0])?, [3.0, 1.0, 6.0, 4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Gather {
    axis: Option<i64>,
    batch_dims: i64,
    pub(super) bad_indices: BadIndices,
    pub(super) negative_indices: NegativeIndices,
}

impl Gather {
    /// Gathers along axis 0, without batch dims, by TensorFlow's rules for indices, unless you set others.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects along this dim of params; a negative `axis` counts from its last dim.
    ///
    /// Unless set, the axis is the number that you pass to `batch_dims`. With a negative `batch_dims`, set `axis` too. If
    /// you give only `batch_dims(-1)`, the axis is -1 as well, as in TensorFlow. As an axis, -1 is the last dim of params; as
    /// batch_dims, it is all dims of indices but the last.
    #[must_use]
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = Some(axis);
        self
    }

    /// Says how many leading dims params and indices share; 0 unless set. A negative `batch_dims` has the rank of indices added:
    /// -1 is all dims of indices but the last.
    #[must_use]
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// Checks the shapes and works out all sizes. If several things are wrong, the error is the one that TensorFlow reports first.
    ///
    /// # Errors
    ///
    /// Scalar params; an axis outside the rank of params; batch_dims outside `-rank(indices)..=rank(indices)`, not
    /// below the rank of params, or above the axis; unequal batch dims; more than `i64::MAX` elements in an operand.
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
        let axis = axis_of(axis, self.axis.is_some(), params_rank)?;
        let batch_dims = from_end(self.batch_dims, indices_rank)
            .filter(|&batch_dims| batch_dims <= indices_rank)
            .ok_or(PlanError::BatchDimsOutOfRange {
                batch_dims: self.batch_dims,
                indices_rank,
            })?;
        check_below_params_rank(batch_dims as u64, params_shape)?;
        check_before_axis(batch_dims, axis)?;
        check_batch_dims_equal(batch_dims, params_shape, indices_shape)?;

        let (outer, inner) = (&params_shape[..axis], &params_shape[axis + 1..]);
        let output_shape = [outer, &indices_shape[batch_dims..], inner].concat();
        check_element_counts(params_shape, indices_shape, &output_shape)?;
        Ok(GatherPlan {
            operation: Operation::Gather,
            dims: GatherDims::of_slices(params_shape, indices_shape, batch_dims, axis, 1),
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape,
            axis,
            batch_dims,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
        })
    }
}
