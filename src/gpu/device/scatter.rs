//! The scatter of a request: its checks, and its run on a GPU and on the CPU.

use std::sync::Arc;

use super::gather::{ParamsOperand, Unchecked};
use super::owner::Owner;
use super::submit::{Report, Submitted};
use super::tensor::Tensor;
use super::waiting::Wait;
use crate::element::Element;
use crate::error::GpuError;
use crate::gpu::buffers::{Buffers, ScatterRanges};
use crate::gpu::scope::scoped_start;
use crate::gpu::work::Scatters;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_len;

impl<'a, T: Element> Unchecked<'a, T> {
    /// Scatters into the caller's tensor.
    pub(super) async fn scatter(mut self, wait: Wait) -> Result<(), GpuError> {
        let target = self.output.take().expect("a scatter's target");
        let Some(owner) = self.owner else {
            return self.scatter_on_cpu(target);
        };
        match scoped_start(&owner.device, || self.start_scatter(owner, target)).await? {
            Some(report) => report.check(wait).await,
            None => Ok(()),
        }
    }

    fn updates(&self) -> &'a Tensor<T> {
        match self.params {
            ParamsOperand::Elements(updates) => updates,
            ParamsOperand::Encoded(..) => unreachable!("updates are elements"),
        }
    }

    /// Checks lengths. Returns the plan.
    fn checked_scatter(&self, target: usize) -> Result<&GatherPlan, GpuError> {
        let plan = self.plan();
        plan.check_scatter()?;
        let lengths = [self.updates().len(), self.indices.len, target];
        plan.check_scatter_lengths(self.rules, lengths)?;
        if let Some(mask) = &self.mask {
            let rows = plan.dims().index_rows();
            check_len(Operand::Mask, rows..=rows, mask.len())?;
        }
        Ok(plan)
    }

    /// Writes the mask, and scatters on the CPU.
    fn scatter_on_cpu(mut self, target: &mut Tensor<T>) -> Result<(), GpuError> {
        self.checked_scatter(target.len())?;
        let mask = self.mask.take();
        let with = self.plan().with_rules(self.rules);
        let updates = self.updates().storage.on_host(Operand::Updates)?;
        let indices = *self.indices.storage.on_host(Operand::Indices)?;
        if let Some(mask) = mask {
            *mask.storage.on_host_mut(Operand::Mask)? = with.plan.bad_rows_of(indices)?;
        }
        let target = target.storage.on_host_mut(Operand::Target)?;
        match (self.reduction, self.reduce_on_cpu) {
            (Some((reduce, _)), Some(run)) => run(with, reduce, updates, indices, target)?,
            _ => with.scatter_values(updates, indices, target)?,
        }
        Ok(())
    }

    /// Submits the scatter and, if there is a report, starts to map it.
    fn start_scatter<'j>(
        &'j self,
        owner: &'j Arc<Owner>,
        target: &'j Tensor<T>,
    ) -> Result<Option<Report<'j>>, GpuError> {
        let len = target.len();
        let target = target.storage.on_gpu(Operand::Target, owner)?;
        let updates = self.updates().storage.on_gpu(Operand::Updates, owner)?;
        let indices = self.indices.on_gpu(owner)?;
        let mask = self.mask.as_deref();
        let mask = mask.map(|mask| mask.storage.on_gpu(Operand::Mask, owner));
        let mask = mask.transpose()?;
        let plan = self.checked_scatter(len)?;
        let prepare = |indices: &wgpu::Buffer, report: Option<&wgpu::Buffer>| {
            let ranges = ScatterRanges {
                target: target.slice(..),
                indices: indices.slice(..),
                updates: updates.slice(..),
            };
            let mut given = Buffers::scatter(self.types, ranges).given;
            given.scatter = Some(Scatters::new(self.reduction));
            given.report = report.map(|report| report.slice(..));
            given.mask = mask.map(|mask| mask.slice(..));
            owner
                .gatherer
                .prepare_given(plan.with_rules(self.rules), &given)
        };
        let submitted = Submitted {
            owner,
            plan,
            types: self.types,
            is_scatter: true,
        };
        let indices = (&self.indices, indices);
        let (_, report) = submitted.submit("wgpu-gather/scatter", indices, prepare, |_| {})?;
        Ok(report)
    }
}
