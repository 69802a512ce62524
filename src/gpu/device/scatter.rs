//! The request for a scatter: its operands, their checks, and its run on a GPU and on the CPU.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::indices::IndexOperand;
use super::owner::Owner;
use super::submit::{Report, Submitted};
use super::tensor::Tensor;
use super::waiting::{Boxed, Wait, boxed};
use crate::element::{ElementTypes, GatherElement};
use crate::error::{GpuError, RunError};
use crate::gpu::scatter::{ScatterBuffers, ScatterRanges};
use crate::gpu::scope::scoped_start;
use crate::index::IndexValues;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_len;
use crate::reduce::{NumberKind, Reduce, ScatterNumber};

/// The request for a scatter, made by [`Executor::scatter`](crate::Executor::scatter): awaited, or waited for by
/// [`wait`](Self::wait). Nothing happens before. It runs as a [`Request`](crate::Request) does, and on a GPU waits for no work,
/// except for the report that the policy [`BadIndices::Error`](crate::BadIndices::Error) needs.
#[must_use = "nothing is submitted before the request is awaited or waited for"]
pub struct ScatterRequest<'a, T> {
    /// `None` for the CPU.
    owner: Option<&'a Arc<Owner>>,
    plan: Result<Cow<'a, GatherPlan>, GpuError>,
    types: ElementTypes,
    updates: &'a Tensor<T>,
    indices: IndexOperand<'a>,
    target: &'a mut Tensor<T>,
    mask: Option<&'a mut Tensor<bool>>,
    reduction: Option<Reduction<T>>,
}

/// A reduction, and its scatter on the CPU.
struct Reduction<T> {
    reduce: Reduce,
    kind: NumberKind,
    run: RunReduce<T>,
}

type RunReduce<T> =
    fn(&GatherPlan, Reduce, &[T], IndexValues<'_>, &mut [T]) -> Result<(), RunError>;

impl<'a, T: GatherElement> ScatterRequest<'a, T> {
    pub(super) fn new(
        owner: Option<&'a Arc<Owner>>,
        plan: Result<Cow<'a, GatherPlan>, GpuError>,
        types: ElementTypes,
        updates: &'a Tensor<T>,
        indices: IndexOperand<'a>,
        target: &'a mut Tensor<T>,
    ) -> Self {
        Self {
            owner,
            plan,
            types,
            updates,
            indices,
            target,
            mask: None,
            reduction: None,
        }
    }

    /// Reduces: each element of the target becomes the sum, the product, the minimum or the maximum of itself and its updates. The
    /// CPU has all reductions, and a GPU those of [`ScatterBuffers::reduce`].
    pub fn reduce(mut self, reduce: Reduce) -> Self
    where
        T: ScatterNumber,
    {
        self.reduction = Some(Reduction {
            reduce,
            kind: T::KIND,
            run: GatherPlan::scatter_reduce_values,
        });
        self
    }

    /// Writes the mask of bad rows into the caller's tensor: see [`Request::mask`](crate::Request::mask).
    pub fn mask(mut self, mask: &'a mut Tensor<bool>) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Submits the request, and waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of the request.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(self) -> Result<(), GpuError> {
        pollster::block_on(self.run(Wait::Block))
    }

    async fn run(self, wait: Wait) -> Result<(), GpuError> {
        let Some(owner) = self.owner else {
            return self.run_on_cpu();
        };
        match scoped_start(&owner.device, || self.start(owner)).await? {
            Some(report) => report.check(wait).await,
            None => Ok(()),
        }
    }

    /// Checks lengths. Returns the plan.
    fn checked(&self) -> Result<&GatherPlan, GpuError> {
        let plan = self.plan.as_deref().map_err(Clone::clone)?;
        plan.check_scatter()?;
        plan.check_scatter_lengths(self.updates.len(), self.indices.len, self.target.len())?;
        if let Some(mask) = &self.mask {
            let rows = plan.index_row_count();
            check_len(Operand::Mask, rows..=rows, mask.len())?;
        }
        Ok(plan)
    }

    /// Writes the mask, and scatters on the CPU.
    fn run_on_cpu(self) -> Result<(), GpuError> {
        self.checked()?;
        let Self {
            plan,
            updates,
            indices,
            target,
            mask,
            reduction,
            ..
        } = self;
        let plan = plan?;
        let updates = updates.storage.on_host(Operand::Updates)?;
        let indices = *indices.storage.on_host(Operand::Indices)?;
        if let Some(mask) = mask {
            *mask.storage.on_host_mut(Operand::Mask)? = plan.bad_rows_of(indices)?;
        }
        let target = target.storage.on_host_mut(Operand::Target)?;
        match reduction {
            Some(of) => (of.run)(&plan, of.reduce, updates, indices, target)?,
            None => plan.scatter_values(updates, indices, target)?,
        }
        Ok(())
    }

    /// Submits the scatter and, if there is a report, starts to map it.
    fn start<'j>(&'j self, owner: &'j Arc<Owner>) -> Result<Option<Report<'j>>, GpuError> {
        let target = self.target.storage.on_gpu(Operand::Target, owner)?;
        let updates = self.updates.storage.on_gpu(Operand::Updates, owner)?;
        let indices = self.indices.on_gpu(owner)?;
        let mask = self.mask.as_deref();
        let mask = mask.map(|mask| mask.storage.on_gpu(Operand::Mask, owner));
        let mask = mask.transpose()?;
        let plan = self.checked()?;
        let prepare = |indices: &wgpu::Buffer, report: Option<&wgpu::Buffer>| {
            let ranges = ScatterRanges {
                target: target.slice(..),
                indices: indices.slice(..),
                updates: updates.slice(..),
            };
            let mut buffers = ScatterBuffers::new(self.types, ranges);
            buffers.reduction = self.reduction.as_ref().map(|of| (of.reduce, of.kind));
            buffers.buffers.report = report.map(|report| report.slice(..));
            buffers.buffers.mask = mask.map(|mask| mask.slice(..));
            owner.gatherer.prepare_any_scatter(plan, &buffers)
        };
        let submitted = Submitted {
            owner,
            plan,
            types: self.types,
            is_of_scatter: true,
        };
        let indices = (&self.indices, indices);
        let (_, report) =
            submitted.submit("wgpu-gather/scatter", indices, prepare, |of, encoder| {
                of.encode(encoder);
            })?;
        Ok(report)
    }
}

impl<'a, T: GatherElement> IntoFuture for ScatterRequest<'a, T> {
    type Output = Result<(), GpuError>;
    type IntoFuture = Boxed<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        boxed(self.run(Wait::Poll))
    }
}

impl<T> fmt::Debug for ScatterRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScatterRequest")
            .field("plan", &self.plan)
            .field("types", &self.types)
            .finish_non_exhaustive()
    }
}
