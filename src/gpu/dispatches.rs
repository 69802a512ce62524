//! The dispatches of a gather or a scatter, if the device's limits allow them. Pure.

use super::cut::{Cut, Dispatch, PlacedGather, Shard};
use super::limits::check_limits;
use super::operands::Operands;
use super::scatter::{Order, Winners};
use super::types::TypedPlan;
use super::update::Update;
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// The most dispatches of a gather with an index count. Each has a second one beside it, which counts its rows, and the
/// two take about 3 KB.
const MAX_COUNTED_DISPATCHES: usize = 1 << 16;

/// The dispatches, if the device's limits allow them.
pub(super) fn dispatches(
    placed: PlacedGather<'_>,
    operands: &Operands<'_>,
    limits: &wgpu::Limits,
) -> Result<Vec<Dispatch>, GatherError> {
    let typed = placed.typed;
    let dims = typed.plan.dims();
    let cut = Cut::new(placed, limits)?;
    let is_indirect = operands.index_count.is_some() && typed.bytes.output > 0;
    if is_indirect && dims.repeats_index_rows() {
        return Err(GatherError::CountOfRepeatedRows {
            index_rows: dims.index_rows(),
            output_rows: dims.index_count,
        });
    }
    let too_many = match is_indirect {
        true => MAX_COUNTED_DISPATCHES + 1,
        false => usize::MAX,
    };
    let dispatches: Vec<Dispatch> = cut.dispatches().take(too_many).collect();
    if dispatches.len() == too_many {
        let blocks = dims.output_rows() / dims.index_count;
        return Err(GatherError::DeviceLimit {
            name: "dispatches of an index count",
            expected: blocks.max(too_many as u64),
            found: MAX_COUNTED_DISPATCHES as u64,
        });
    }
    if !dispatches.is_empty() || operands.report.is_some() {
        let report = operands.report.is_some();
        check_limits(limits, operands.types, typed.update, report, is_indirect)?;
    }
    Ok(dispatches)
}

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

impl ScatterDispatches {
    pub(super) fn new(
        typed: TypedPlan<'_>,
        operands: &Operands<'_>,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let plan = typed.plan;
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
            index_rows = dispatches(placed, operands, limits)?;
        }
        let mut updates = Vec::new();
        if is_written {
            let placed = PlacedGather {
                winner_rows: winners.map_or(u64::MAX, |of| of.cut_rows()),
                // Folds skip index rows beyond the index count, by their key.
                is_indirect: operands.index_count.is_some() && !folds,
                ..operands.placed(typed)
            };
            updates = dispatches(placed, operands, limits)?;
        }
        Ok(Self {
            index_rows_plan,
            index_rows,
            updates,
            update,
            winners,
            order,
        })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Dispatch> {
        self.index_rows.iter().chain(&self.updates)
    }
}
