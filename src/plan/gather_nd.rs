//! Plans of gather_nd: the checks of its shapes and attributes, in TensorFlow's order.

use super::dims::GatherDims;
use super::{
    GatherPlan, Operation, check_batch_dims_equal, check_below_params_rank, check_element_counts,
    product,
};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::PlanError;

/// The most values that one index row may have.
const MAX_INDEX_DEPTH: usize = 8;

/// The attributes of `tf.gather_nd` (and of Paddle's and ONNX's): each index row selects one slice of params.
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
    /// Gathers without batch dims, by TensorFlow's rules for indices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of leading dims that params and indices share; 0 unless set.
    #[must_use]
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// The policy for an index out of range; [`BadIndices::DeviceDefault`] unless set.
    #[must_use]
    pub fn bad_indices(mut self, bad_indices: BadIndices) -> Self {
        self.bad_indices = bad_indices;
        self
    }

    /// The meaning of a negative index; [`NegativeIndices::Invalid`] unless set.
    #[must_use]
    pub fn negative_indices(mut self, negative_indices: NegativeIndices) -> Self {
        self.negative_indices = negative_indices;
        self
    }

    /// Checks the shapes, in TensorFlow's order, and works out all sizes.
    ///
    /// # Errors
    ///
    /// Negative batch_dims; batch_dims not below the rank of indices, or of params; unequal batch dims; a scalar
    /// operand; an index depth above `rank(params) - batch_dims`; more than `i64::MAX` elements in an operand; index
    /// rows into params without elements; an index depth above 8.
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
        let dims = GatherDims {
            batch_size: product(&params_shape[..batch_dims]),
            outer_size: 1,
            index_count: product(&index_rows_shape[batch_dims..]),
            indexed_dims: params_shape[batch_dims..indexed_end]
                .iter()
                .map(|&dim| dim as u64)
                .collect(),
            index_stride: 1,
            place_dims: Vec::new(),
            row_count: product(&params_shape[batch_dims..indexed_end]),
            slice_len: product(&params_shape[indexed_end..]),
            first_row: 0,
            held_rows: product(&params_shape[batch_dims..indexed_end]),
        };
        Ok(GatherPlan {
            operation: Operation::GatherNd,
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape,
            axis: batch_dims,
            batch_dims,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
            dims,
        })
    }
}
