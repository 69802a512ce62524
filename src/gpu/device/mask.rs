//! The mask of bad rows of a request: its checks, and its elements on the CPU.

use super::context::Gpu;
use super::request::Job;
use super::tensor::{Place, Tensor};
use crate::element::GatherElement;
use crate::error::{GpuError, Operand, RunError};
use crate::index::IndexValues;
use crate::plan::GatherPlan;

impl<T: GatherElement> Job<'_, T> {
    /// The buffer of the mask, if one is asked for: an error for a tensor of another owner.
    pub(super) fn mask_on(&self, gpu: &Gpu) -> Result<Option<&wgpu::Buffer>, GpuError> {
        let mask = self.mask.as_deref();
        mask.map(|mask| mask.buffer_on(Operand::Mask, gpu))
            .transpose()
    }

    /// Submits the mask of a gather whose output is empty.
    pub(super) fn submit_mask(&self, gpu: &Gpu, plan: &GatherPlan) -> Result<(), GpuError> {
        if let Some(mask) = self.mask_on(gpu)?
            && plan.index_row_count() > 0
        {
            // An output without bytes is not bound, so any buffer stands for it.
            self.submit(gpu, plan, &self.operands(gpu)?, mask, |_| {})?;
        }
        Ok(())
    }
}

/// Writes the mask into a tensor in host memory: an error for a tensor of a GPU.
pub(super) fn write_on_cpu(
    plan: &GatherPlan,
    indices: IndexValues<'_>,
    mask: &mut Tensor<bool>,
) -> Result<(), GpuError> {
    let operand = Operand::Mask;
    let is_of_length = check_mask(plan, mask);
    let Place::Host(elements) = mask.place_mut() else {
        return Err(GpuError::OtherOwner { operand });
    };
    is_of_length?;
    *elements = plan.bad_rows_of(indices)?.into();
    Ok(())
}

/// Checks that the mask has an element for each index row.
pub(super) fn check_mask(plan: &GatherPlan, mask: &Tensor<bool>) -> Result<(), RunError> {
    let (expected, found) = (plan.index_row_count(), mask.len());
    if found as u64 == expected {
        return Ok(());
    }
    Err(RunError::Length {
        operand: Operand::Mask,
        expected: expected..=expected,
        found,
    })
}
