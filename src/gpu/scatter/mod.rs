//! Scatters on a GPU: a gather's dispatches, with the copy reversed. The target replaces params, and updates replace the output.
//!
//! ```text
//! unique rows     each lane loads its units from updates, and from the target if it reduces, and stores to the target
//! repeated rows   an assign: clear, then find each selected row's winner, its last index row; then as above, for winners only
//!                 sums, minima and maxima of integers: as above, by atomics
//!                 other reductions: sort the index rows by the row that each selects, and fold each row's updates in order
//! ```

mod buffers;
pub(crate) mod order;
mod prepared;
mod update;
mod winners;

pub use self::buffers::{ScatterBuffers, ScatterRanges};
pub(crate) use self::order::{
    FoldPass, Order, OrderDispatch, OrderUniform, SortPass, WORKGROUP_BYTES, pairs_bytes,
};
pub use self::prepared::PreparedScatter;
pub(crate) use self::update::{IndexRowsPass, Update};
pub(crate) use self::winners::Winners;
use super::cut::{Dispatch, PlacedGather, Shard};
use super::gatherer::Gatherer;
use super::limits::check_limits;
use super::operands::Operands;
use super::types::TypedPlan;
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::error::{GatherError, RunError};
use crate::plan::GatherPlan;
use crate::reduce::{NumberKind, Reduce};

/// The dispatches of a scatter.
pub(crate) struct ScatterDispatches {
    /// The plan for the passes over the index rows, and their dispatches.
    pub(crate) index_rows_plan: GatherPlan,
    pub(crate) index_rows: Vec<Dispatch>,
    pub(crate) updates: Vec<Dispatch>,
    pub(crate) update: Update,
    /// The winners, if an assign keeps the last of several index rows.
    pub(crate) winners: Option<Winners>,
    /// The sort of the index rows, if updates are folded.
    pub(crate) order: Option<Order>,
}

impl ScatterBuffers<'_> {
    fn typed<'p>(&self, plan: &'p GatherPlan) -> Result<TypedPlan<'p>, GatherError> {
        typed_scatter(plan, self.buffers.types, self.reduction)
    }
}

/// Types a scatter's plan, made by [`GatherPlan::of_updates`]. An error if the CPU or a GPU cannot scatter through it.
pub(crate) fn typed_scatter(
    plan: &GatherPlan,
    types: ElementTypes,
    reduction: Option<(Reduce, NumberKind)>,
) -> Result<TypedPlan<'_>, GatherError> {
    let refused = |error| GatherError::Scatter(Box::new(error));
    plan.check_scatter().map_err(refused)?;
    if let Some(encoding) = types.encoding {
        return Err(refused(RunError::EncodedTarget { encoding }));
    }
    let update = Update::of(plan, reduction)?;
    if let Some((_, kind)) = reduction
        && types.element_bytes != 4
    {
        return Err(GatherError::NumberBytes {
            number: kind.name(),
            element_bytes: types.element_bytes,
        });
    }
    TypedPlan::of_scatter(plan, types, update)
}

impl Gatherer {
    /// Makes the pipelines, uniforms and bind groups of a scatter, which you can then record any number of times. The result
    /// has the same bits as [`GatherPlan::scatter`] or [`scatter_reduce`](GatherPlan::scatter_reduce).
    ///
    /// Bad rows are dropped and good rows are written, under [`BadIndices::DeviceDefault`] and [`Error`](BadIndices::Error) too.
    /// The CPU instead writes nothing if a row is bad under these two.
    ///
    /// If rows may repeat, an assign of several updates takes three passes, and keeps 4 bytes for each target row in each
    /// batch; a reduction without atomics sorts the index rows, and keeps what
    /// [costs](crate::guide::costs#scatters-on-a-gpu) lists: 16.25 bytes for each, and more where a batch has over 1,024.
    /// [`with_unique_indices`](GatherPlan::with_unique_indices) spares all this.
    ///
    /// # Errors
    ///
    /// See [`GatherError`].
    pub fn prepare_scatter(
        &self,
        plan: &GatherPlan,
        buffers: &ScatterBuffers<'_>,
    ) -> Result<PreparedScatter, GatherError> {
        if plan.bad_indices() == BadIndices::Error && buffers.buffers.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        self.prepare_any_scatter(plan, buffers)
    }

    /// As [`prepare_scatter`](Self::prepare_scatter), for a caller that passes a report wherever the policy needs one.
    pub(crate) fn prepare_any_scatter(
        &self,
        plan: &GatherPlan,
        buffers: &ScatterBuffers<'_>,
    ) -> Result<PreparedScatter, GatherError> {
        let plan = &plan.of_updates();
        let typed = buffers.typed(plan)?;
        let operands = Operands::checked(&buffers.buffers, &typed, &self.pipelines.limits)?;
        let dispatches = self.scatter_dispatches(typed, &operands)?;
        let masks = self.masks(plan, &operands)?;
        PreparedScatter::new(&self.pipelines, plan, &operands, &dispatches, &masks)
    }

    /// Records the scatter as one compute pass. To record into a pass of your own, call
    /// [`prepare_scatter`](Self::prepare_scatter), then [`PreparedScatter::encode_in_pass`].
    ///
    /// # Errors
    ///
    /// See [`GatherError`]. After an error nothing has been recorded.
    pub fn encode_scatter(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        plan: &GatherPlan,
        buffers: &ScatterBuffers<'_>,
    ) -> Result<(), GatherError> {
        self.prepare_scatter(plan, buffers)?.encode(encoder);
        Ok(())
    }

    fn scatter_dispatches(
        &self,
        typed: TypedPlan<'_>,
        operands: &Operands<'_>,
    ) -> Result<ScatterDispatches, GatherError> {
        let (plan, limits) = (typed.plan, &self.pipelines.limits);
        let dims = plan.dims();
        let update = operands.update.expect("operands of a scatter");
        let is_written = typed.bytes.params > 0;
        let winners = match update == Update::AssignLast && is_written && typed.bytes.output > 0 {
            true => Some(Winners::new(dims, limits)?),
            false => None,
        };
        let folds = matches!(update, Update::Fold(..));
        let order = match folds && is_written && typed.bytes.output > 0 {
            true => Some(Order::new(dims, operands.types.element_bytes, limits)?),
            false => None,
        };
        if operands.report.is_some() {
            check_limits(limits, operands.types, Some(Update::IndexRows), true, false)?;
        }
        let index_rows_plan = plan.of_index_rows();
        let mut index_rows = Vec::new();
        if typed.bytes.output > 0
            && (winners.is_some() || order.is_some() || operands.report.is_some())
        {
            let types = ElementTypes::new(4, operands.types.index_kind);
            let typed = TypedPlan::of_scatter(&index_rows_plan, types, Update::IndexRows)?;
            let rows = index_rows_plan.dims().params_rows();
            let shards = winners.map_or(vec![Shard { rows, start: 0 }], |of| of.shards());
            let placed = PlacedGather {
                shards,
                indices_start: operands.start(operands.indices),
                is_indirect: operands.index_count.is_some(),
                ..PlacedGather::aligned(typed)
            };
            index_rows = self.dispatches(placed, operands)?;
        }
        let mut updates = Vec::new();
        if is_written {
            let placed = PlacedGather {
                winner_rows: winners.map_or(u64::MAX, |of| of.cut_rows()),
                // Folds skip index rows beyond the index count, by their key.
                is_indirect: operands.index_count.is_some() && !folds,
                ..operands.placed(typed)
            };
            updates = self.dispatches(placed, operands)?;
        }
        Ok(ScatterDispatches {
            index_rows_plan,
            index_rows,
            updates,
            update,
            winners,
            order,
        })
    }
}

impl ScatterDispatches {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Dispatch> {
        self.index_rows.iter().chain(&self.updates)
    }
}
