//! Checks of shapes and attributes that operations share.

use crate::error::PlanError;
use crate::operand::Operand;

/// The axis counted from the front. `given` is false if batch_dims stands in for it, which the error then says.
pub(super) fn axis_of(axis: i64, given: bool, params_rank: usize) -> Result<usize, PlanError> {
    from_end(axis, params_rank)
        .filter(|&axis| axis < params_rank)
        .ok_or(PlanError::AxisOutOfRange {
            axis,
            given,
            params_rank,
        })
}

pub(super) fn check_before_axis(batch_dims: usize, axis: usize) -> Result<(), PlanError> {
    match batch_dims > axis {
        true => Err(PlanError::BatchDimsAboveAxis { batch_dims, axis }),
        false => Ok(()),
    }
}

/// `dim` counted from the front: a negative `dim` has `rank` added. `None` if the result is below 0.
pub(super) fn from_end(dim: i64, rank: usize) -> Option<usize> {
    let dim = i128::from(dim);
    usize::try_from(if dim < 0 { dim + rank as i128 } else { dim }).ok()
}

pub(super) fn check_below_params_rank(
    batch_dims: u64,
    params_shape: &[usize],
) -> Result<(), PlanError> {
    let params_rank = params_shape.len();
    if batch_dims >= params_rank as u64 {
        return Err(PlanError::BatchDimsNotBelowParamsRank {
            batch_dims,
            params_rank,
        });
    }
    Ok(())
}

pub(super) fn check_batch_dims_equal(
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

/// The most elements of an operand, counted with its gaps.
pub(crate) const MAX_ELEMENTS: u64 = match usize::BITS {
    64 => i64::MAX.unsigned_abs(),
    _ => usize::MAX as u64,
};

/// Checks that an operand's dims have a product of at most [`MAX_ELEMENTS`]. It leaves zero dims out, so that it covers the other
/// dims of an empty tensor too (NumPy's rule).
pub(super) fn check_element_counts(
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
        if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
            return Err(PlanError::TooManyElements {
                operand,
                shape: shape.to_vec(),
                limit: MAX_ELEMENTS,
            });
        }
    }
    Ok(())
}
