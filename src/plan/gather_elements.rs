//! Plans of gather_elements: the checks of its shapes and attributes.

use super::dims::{GatherDims, PlaceDim};
use super::gather::axis_of;
use super::{GatherPlan, Operation, check_element_counts, product};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::PlanError;

/// The attributes of ONNX's GatherElements, `torch.gather` and NumPy's `take_along_axis`: each index selects one
/// element of params, along one axis, at its own place in the other dims.
///
/// ```text
/// output[i, j, k] = params[i, indices[i, j, k], k]        where axis is 1
/// output.shape    = indices.shape
/// ```
///
/// Indices has the rank of params, and is at most as large as params in every dim but the axis. NumPy also
/// broadcasts the two against each other; the caller of this crate does so beforehand.
///
/// ```
/// use wgpu_gather::GatherElements;
///
/// let scores = [0.1, 0.7, 0.2, 0.5, 0.3, 0.2];
/// let best = GatherElements::new().axis(1).plan(&[2, 3], &[2, 1])?;
/// assert_eq!(best.output_shape(), [2, 1]);
/// assert_eq!(best.run(&scores, &[1, 0])?, [0.7, 0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[doc(alias("take_along_axis", "torch.gather"))]
pub struct GatherElements {
    axis: i64,
    bad_indices: BadIndices,
    negative_indices: NegativeIndices,
}

impl GatherElements {
    /// Gathers along axis 0, ONNX's default, by TensorFlow's rules for indices.
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

    /// The policy for an index out of range; [`BadIndices::DeviceDefault`] unless set.
    #[must_use]
    pub fn bad_indices(mut self, bad_indices: BadIndices) -> Self {
        self.bad_indices = bad_indices;
        self
    }

    /// The meaning of a negative index; [`NegativeIndices::Invalid`], which is PyTorch's rule, unless set.
    /// [`NegativeIndices::FromEnd`] is the rule of ONNX and NumPy.
    #[must_use]
    pub fn negative_indices(mut self, negative_indices: NegativeIndices) -> Self {
        self.negative_indices = negative_indices;
        self
    }

    /// Checks the shapes and works out all sizes.
    ///
    /// # Errors
    ///
    /// Scalar params; an axis outside the rank of params; indices of another rank; a dim of indices, other than the
    /// axis, that is larger than that of params; more than `i64::MAX` elements in an operand.
    pub fn plan(
        &self,
        params_shape: &[usize],
        indices_shape: &[usize],
    ) -> Result<GatherPlan, PlanError> {
        if params_shape.is_empty() {
            return Err(PlanError::ParamsScalar);
        }
        let axis = axis_of(self.axis, true, params_shape.len())?;
        check_below_params(axis, params_shape, indices_shape)?;
        check_element_counts(params_shape, indices_shape, indices_shape)?;

        let batch_dims = (0..axis)
            .take_while(|&dim| params_shape[dim] == indices_shape[dim])
            .count();
        let row_count = product(&params_shape[batch_dims..]);
        let (index_stride, place_dims) = if row_count == params_shape[axis] as u64 {
            // Only the axis is larger than 1, so the places in a batch select nothing.
            (1, Vec::new())
        } else {
            let place_dims = place_dims(axis, batch_dims, params_shape, indices_shape);
            (product(&params_shape[axis + 1..]), place_dims)
        };
        let dims = GatherDims {
            batch_size: product(&params_shape[..batch_dims]),
            outer_size: 1,
            index_count: product(&indices_shape[batch_dims..]),
            indexed_dims: vec![params_shape[axis] as u64],
            index_stride,
            place_dims,
            row_count,
            slice_len: 1,
            first_row: 0,
            held_rows: row_count,
        };
        Ok(GatherPlan {
            operation: Operation::GatherElements,
            params_shape: params_shape.to_vec(),
            indices_shape: indices_shape.to_vec(),
            output_shape: indices_shape.to_vec(),
            axis,
            batch_dims: 0,
            bad_indices: self.bad_indices,
            negative_indices: self.negative_indices,
            dims,
        })
    }
}

fn check_below_params(
    axis: usize,
    params_shape: &[usize],
    indices_shape: &[usize],
) -> Result<(), PlanError> {
    let (params_rank, indices_rank) = (params_shape.len(), indices_shape.len());
    if params_rank != indices_rank {
        return Err(PlanError::RanksUnequal {
            params_rank,
            indices_rank,
        });
    }
    for (dim, (&params_dim, &indices_dim)) in params_shape.iter().zip(indices_shape).enumerate() {
        if dim != axis && indices_dim > params_dim {
            return Err(PlanError::IndicesDimAboveParams {
                dim,
                params_dim,
                indices_dim,
            });
        }
    }
    Ok(())
}

/// The dims of indices after the batch dims. A dim of 1 is left out, and a dim merges with the one before it if one
/// stride fits both.
fn place_dims(
    axis: usize,
    batch_dims: usize,
    params_shape: &[usize],
    indices_shape: &[usize],
) -> Vec<PlaceDim> {
    let mut place_dims = vec![PlaceDim { size: 1, stride: 0 }];
    for dim in batch_dims..params_shape.len() {
        let size = indices_shape[dim] as u64;
        let stride = if dim == axis {
            0
        } else {
            product(&params_shape[dim + 1..])
        };
        match place_dims.last_mut() {
            _ if size == 1 => {}
            Some(outer) if outer.size == 1 => *outer = PlaceDim { size, stride },
            Some(outer) if u128::from(outer.stride) == u128::from(stride) * u128::from(size) => {
                *outer = PlaceDim {
                    size: outer.size * size,
                    stride,
                };
            }
            _ => place_dims.push(PlaceDim { size, stride }),
        }
    }
    place_dims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::dims::PlaceDim;

    #[track_caller]
    fn dims(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> GatherDims {
        let elements = GatherElements::new().axis(axis);
        let plan = elements.plan(params_shape, indices_shape);
        plan.expect("valid shapes").dims().clone()
    }

    fn places(dims: &GatherDims) -> Vec<(u64, u64)> {
        let pair = |dim: &PlaceDim| (dim.size, dim.stride);
        dims.place_dims.iter().map(pair).collect()
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
}
