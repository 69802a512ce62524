//! Gathers of ndarray's arrays on the CPU. Views that are not in standard layout are copied first.

use std::borrow::Cow;

use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn};

use crate::error::{PlanError, RunError};
use crate::index::GatherIndex;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_shape;

/// Runs `plan` on arrays, after a check of their shapes.
pub(crate) fn run<T, I, D1, D2>(
    plan: &GatherPlan,
    params: &ArrayRef<T, D1>,
    indices: &ArrayRef<I, D2>,
) -> Result<ArrayD<T>, RunError>
where
    T: Copy + Default + Send + Sync,
    I: GatherIndex,
    D1: Dimension,
    D2: Dimension,
{
    check_shape(Operand::Params, &plan.params_shape, params.shape())?;
    check_shape(Operand::Indices, &plan.indices_shape, indices.shape())?;
    let params = standard_layout(Operand::Params, params)?;
    let indices = standard_layout(Operand::Indices, indices)?;
    let output = plan.run(&params, &indices)?;
    let shape = plan.output_shape();
    // With addresses of 32 bits, ndarray's limit is below that of plans.
    Array::from_shape_vec(IxDyn(shape), output).map_err(|_| {
        let too_many = PlanError::TooManyElements {
            operand: Operand::Output,
            shape: shape.to_vec(),
            limit: isize::MAX.unsigned_abs() as u64,
        };
        too_many.into()
    })
}

/// The elements in row-major order, copied if need be. A broadcast view may have more elements than fit in memory.
fn standard_layout<T: Copy, D: Dimension>(
    operand: Operand,
    array: &ArrayRef<T, D>,
) -> Result<Cow<'_, [T]>, RunError> {
    if let Some(elements) = array.as_slice() {
        return Ok(Cow::Borrowed(elements));
    }
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(array.len());
    reserved.map_err(|_| RunError::OutOfMemory {
        operand,
        elements: array.len() as u64,
        element_bytes: size_of::<T>(),
    })?;
    elements.extend(array.iter().copied());
    Ok(Cow::Owned(elements))
}
