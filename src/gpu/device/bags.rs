//! The bags of a request: their offsets and weights are tensors.

use std::sync::Arc;

use super::owner::{Owner, Storage};
use super::tensor::Tensor;
use crate::bags::{Bags, Offsets};
use crate::cpu;
use crate::encoding::Float;
use crate::error::{GatherError, GpuError, RunError};
use crate::gpu::buffers::Given;
use crate::gpu::gatherer::Gatherer;
use crate::gpu::prepared::Prepared;
use crate::index::{Index, IndexValues};
use crate::operand::Operand;
use crate::plan::GatherPlan;

impl<'a, I: Index> From<&'a Tensor<I>> for Offsets<&'a Tensor<I>> {
    fn from(offsets: &'a Tensor<I>) -> Self {
        Self::new(offsets, I::KIND, offsets.len())
    }
}

/// The bags of a request, with the functions that combine their rows. An app that sums no bags does not hold these.
pub(super) struct BagsOperand<'a, T> {
    pub(super) bags: Bags<Storage<IndexValues<'a>>, &'a Tensor<f32>>,
    run_on_cpu: RunOnCpu<T>,
    pub(super) prepare: Prepare,
}

type RunOnCpu<T> = fn(
    &GatherPlan,
    cpu::Params<'_, T>,
    IndexValues<'_>,
    Bags<&[u8], &[f32]>,
) -> Result<Vec<T>, RunError>;

pub(super) type Prepare = for<'b> fn(
    &Gatherer,
    &GatherPlan,
    &Given<'b>,
    Bags<wgpu::BufferSlice<'b>>,
) -> Result<Prepared, GatherError>;

impl<'a, T> BagsOperand<'a, T> {
    pub(super) fn new<I: Index>(bags: Bags<&'a Tensor<I>, &'a Tensor<f32>>) -> Self
    where
        T: Float,
    {
        let view = |offsets: &&'a Tensor<I>| {
            let values = |values: &'a Vec<I>| I::values(values);
            Ok::<_, ()>(offsets.storage.view(values))
        };
        Self {
            bags: bags.try_map(view, |&weights| Ok(weights)).expect("views"),
            run_on_cpu: GatherPlan::bags_of_values,
            prepare: |gatherer, plan, given, bags| gatherer.prepare_given_bags(plan, given, bags),
        }
    }

    pub(super) fn check_owner(&self, owner: Option<&Arc<Owner>>) -> Result<(), GpuError> {
        let checked = self.bags.try_map(
            |offsets| offsets.check_owner(Operand::Offsets, owner),
            |weights| weights.storage.check_owner(Operand::Weights, owner),
        );
        checked.map(drop)
    }

    /// The bags in buffers.
    pub(super) fn on_gpu(
        &self,
        owner: &Arc<Owner>,
    ) -> Result<Bags<wgpu::BufferSlice<'_>>, GpuError> {
        self.bags.try_map(
            |offsets| Ok(offsets.on_gpu(Operand::Offsets, owner)?.slice(..)),
            |weights| Ok(weights.storage.on_gpu(Operand::Weights, owner)?.slice(..)),
        )
    }

    pub(super) fn run_on_cpu(
        &self,
        plan: &GatherPlan,
        params: cpu::Params<'_, T>,
        indices: IndexValues<'_>,
    ) -> Result<Vec<T>, GpuError> {
        let bags = self.bags.try_map(
            |offsets| Ok::<_, GpuError>(offsets.on_host(Operand::Offsets)?.bytes()),
            |weights| Ok(weights.storage.on_host(Operand::Weights)?.as_slice()),
        )?;
        Ok((self.run_on_cpu)(plan, params, indices, bags)?)
    }
}
