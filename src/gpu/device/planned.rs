//! The plan of a request, for operands of its shapes.

use std::borrow::Cow;

use super::gather::ParamsOperand;
use super::indices::Indices;
use crate::error::GpuError;
use crate::index::GatherIndex;
use crate::operand::Operand;
use crate::plan::lengths::check_shape;
use crate::plan::{GatherPlan, ToPlan};

/// The plan, or that of an operation, for these params and indices.
pub(super) fn planned<'a, T, I: GatherIndex>(
    plan: impl ToPlan<'a>,
    params: &ParamsOperand<'a, T>,
    indices: &Indices<'a, I>,
) -> Result<Cow<'a, GatherPlan>, GpuError> {
    let (params_shape, indices_shape) = (params.shape(), indices.shape()?);
    if plan.needs_index_shape() && !indices.has_shape() {
        return Err(GpuError::MissingShape);
    }
    let plan = plan.to_plan(params_shape, &indices_shape)?;
    // Params of a shard, or with gaps between its rows, has a shape of its own.
    if plan.dims().params_are_whole() {
        check_shape(Operand::Params, &plan.params_shape, params_shape)?;
    }
    if indices.has_shape() {
        check_shape(Operand::Indices, &plan.indices_shape, &indices_shape)?;
    }
    Ok(plan)
}
