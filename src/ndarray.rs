//! Gathers of ndarray's arrays on the CPU. Views that are not in standard layout are copied first.

use std::borrow::Cow;

use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn};

use crate::error::ArrayError;
use crate::index::GatherIndex;
use crate::operand::Operand;
use crate::plan::GatherPlan;

/// Runs `plan` on arrays, after a check of their shapes.
pub(crate) fn run<T, I, D1, D2>(
    plan: &GatherPlan,
    params: &ArrayRef<T, D1>,
    indices: &ArrayRef<I, D2>,
) -> Result<ArrayD<T>, ArrayError>
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
    Array::from_shape_vec(IxDyn(plan.output_shape()), output).map_err(ArrayError::Shape)
}

fn check_shape(operand: Operand, expected: &[usize], found: &[usize]) -> Result<(), ArrayError> {
    if expected == found {
        return Ok(());
    }
    Err(ArrayError::PlanShape {
        operand,
        expected: expected.to_vec(),
        found: found.to_vec(),
    })
}

/// The elements in row-major order, copied if need be. A broadcast view may have more elements than fit in memory.
fn standard_layout<T: Copy, D: Dimension>(
    operand: Operand,
    array: &ArrayRef<T, D>,
) -> Result<Cow<'_, [T]>, ArrayError> {
    if let Some(elements) = array.as_slice() {
        return Ok(Cow::Borrowed(elements));
    }
    let mut elements = Vec::new();
    elements
        .try_reserve_exact(array.len())
        .map_err(|_| ArrayError::OutOfMemory {
            operand,
            elements: array.len(),
            element_bytes: size_of::<T>(),
        })?;
    elements.extend(array.iter().copied());
    Ok(Cow::Owned(elements))
}
