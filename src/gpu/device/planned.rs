//! The plan of a request, for operands of its shapes.

use std::borrow::Cow;

use super::indices::Indices;
use crate::encoding::Encoding;
use crate::error::{GpuError, RunError};
use crate::index::GatherIndex;
use crate::operand::Operand;
use crate::plan::{GatherPlan, ToPlan};

/// The plan, or that of an operation, for params and indices of these shapes. The last dim of encoded params is bytes.
pub(super) fn planned<'a, I: GatherIndex>(
    plan: impl ToPlan<'a>,
    params_shape: &[usize],
    encoding: Option<Encoding>,
    indices: &Indices<'a, I>,
) -> Result<Cow<'a, GatherPlan>, GpuError> {
    let indices_shape = indices.shape()?;
    if plan.needs_index_shape() && !indices.has_shape() {
        return Err(GpuError::MissingShape);
    }
    let with_last = |shape: &[usize], of: &dyn Fn(u64) -> u64| {
        let mut shape = shape.to_vec();
        if let Some(last) = shape.last_mut() {
            *last = usize::try_from(of(*last as u64)).unwrap_or(usize::MAX);
        }
        shape
    };
    // The shape of encoded rows has bytes in its last dim, that of the plan values.
    let plan = match encoding {
        Some(encoding) => {
            let params_shape = with_last(params_shape, &|bytes| encoding.row_len(bytes));
            let plan = plan.to_plan(&params_shape, &indices_shape)?;
            encoding.parts(&plan).map_err(RunError::from)?;
            plan
        }
        None => plan.to_plan(params_shape, &indices_shape)?,
    };
    let check = |operand, expected: &[usize], found: &[usize]| match expected == found {
        true => Ok(()),
        false => Err(GpuError::PlanShape {
            operand,
            expected: expected.to_vec(),
            found: found.to_vec(),
        }),
    };
    // Params of a shard, or with gaps between its rows, has a shape of its own.
    if plan.dims().params_are_whole() {
        let expected = match encoding {
            Some(encoding) => &with_last(&plan.params_shape, &|len| {
                encoding.row_bytes(len).unwrap_or(u64::MAX)
            }),
            None => &plan.params_shape,
        };
        check(Operand::Params, expected, params_shape)?;
    }
    if indices.has_shape() {
        check(Operand::Indices, &plan.indices_shape, &indices_shape)?;
    }
    Ok(plan)
}
