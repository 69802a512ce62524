//! The passes of a gather or a scatter on a GPU, as data, in order. Pure. Passes are made one at a time, so that a
//! text about a plan with 2^32 of them looks at the first only.
//!
//! ```text
//! gather                     a pass for each dispatch of the cut, which loads from the table and stores rows
//! scatter, unique rows       the same, reversed: it loads rows, and the table too if it reduces, and stores to the table
//! scatter, repeated rows     an assign: clear, then find each selected row's winner, its last index row; then as above, for
//!                            winners only
//!                            sums, minima and maxima of integers: as above, by atomics
//!                            other reductions: sort the index rows by the row that each selects, and fold each row's updates
//! with an index count        before each pass of the cut, one that limits it to the count
//! with a report              after each pass that counts bad rows, one that adds the counter to the report
//! with a mask                passes over the indices, at the end
//! ```

mod passes;

use std::convert::Infallible;

pub(crate) use self::passes::Stage;
use super::cut::Cut;
use super::mask::MaskDispatch;
use super::pass::Pass;
use super::placed::Placed;
use super::scatter::{Order, Winners};
use super::shaders::{PipelineKey, Texts, gather_text, scatter_text};
use super::types::TypedPlan;
use super::update::{Reduction, Scatter, Update};
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::plan::{GatherPlan, ScatterRules};

/// The most dispatches over index rows and slices in a call with an index count. Before each, a second one reads the count; the
/// two take about 3 KB.
const MAX_COUNTED_DISPATCHES: usize = 1 << 16;

/// That a call scatters: its reduction, if it does not assign, and the functions that only scatters need. An app that never
/// scatters makes no `Scatters`, and so holds no scatter's code or text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatters {
    reduction: Option<Reduction>,
    typed: for<'a> fn(&'a GatherPlan, ElementTypes, Scatter) -> Result<TypedPlan<'a>, GatherError>,
    work: ScatterWork,
}

type ScatterWork = for<'a> fn(
    TypedPlan<'a>,
    &'a GatherPlan,
    &'a Placed,
    &wgpu::Limits,
) -> Result<Work<'a>, GatherError>;

impl Scatters {
    pub(crate) const fn new(reduction: Option<Reduction>) -> Self {
        Self {
            reduction,
            typed: |plan, types, scatter| TypedPlan::of_updates(plan, types, scatter),
            work: |typed, index_rows, placed, limits| {
                Work::scatter(typed, index_rows, placed, limits)
            },
        }
    }

    /// The scatter with the rules of a plan's options.
    pub(crate) const fn told(self, rules: ScatterRules) -> Scatter {
        Scatter {
            reduction: self.reduction,
            rules,
        }
    }
}

/// Types the plan of a call: with `scatter` that of a scatter, made by [`With::of_updates`](crate::With::of_updates).
pub(crate) fn typed(
    plan: &GatherPlan,
    types: ElementTypes,
    scatter: Option<Scatters>,
    rules: ScatterRules,
) -> Result<TypedPlan<'_>, GatherError> {
    match scatter {
        Some(of) => (of.typed)(plan, types, of.told(rules)),
        None => TypedPlan::new(plan, types),
    }
}

impl PartialEq for Scatters {
    fn eq(&self, other: &Self) -> bool {
        self.reduction == other.reduction
    }
}

/// All passes of one call, and the buffers that it makes for itself.
pub(crate) struct Work<'a> {
    pub(crate) typed: TypedPlan<'a>,
    pub(crate) placed: &'a Placed,
    /// The plan of a scatter's index rows, and its cut; `None` if no pass is over them alone.
    index_rows: Option<(&'a GatherPlan, Cut<'a>)>,
    /// The cut of the slices; `None` if a scatter writes nothing.
    slices: Option<Cut<'a>>,
    pub(crate) winners: Option<Winners>,
    pub(crate) order: Option<Order>,
    masks: Vec<MaskDispatch>,
    pub(crate) texts: Texts,
}

impl<'a> Work<'a> {
    /// The work of a gather or, with the plan's [`GatherPlan::of_index_rows`], of a scatter; an error if it does not fit the limits.
    pub(crate) fn new(
        typed: TypedPlan<'a>,
        scatter: Option<(Scatters, &'a GatherPlan)>,
        placed: &'a Placed,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        match scatter {
            Some((scatters, index_rows)) => (scatters.work)(typed, index_rows, placed, limits),
            None => Self::of_slices(typed, placed, limits, gather_text)?.checked(),
        }
    }

    /// The work of a scatter.
    fn scatter(
        typed: TypedPlan<'a>,
        index_rows: &'a GatherPlan,
        placed: &'a Placed,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let order = match typed.update {
            Some(update @ Update::Fold(..)) if typed.has_updates() => {
                Some(Order::new(typed.plan.dims(), update, limits)?)
            }
            _ => None,
        };
        Self::scatter_by(order, typed, index_rows, placed, limits)
    }

    /// As [`scatter`](Self::scatter), with the sort that folds need.
    pub(crate) fn scatter_by(
        order: Option<Order>,
        typed: TypedPlan<'a>,
        index_rows: &'a GatherPlan,
        placed: &'a Placed,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let mut work = Self::of_slices(typed, placed, limits, scatter_text)?;
        work.order = match (order, &work.slices) {
            (Some(order), Some(cut)) => Some(order.with_slots(cut.slots_bytes(), limits)?),
            (order, _) => order,
        };
        let mut of_rows = Placed {
            indices_start: placed.indices_start,
            has_index_count: placed.has_index_count,
            ..Placed::aligned(index_rows)
        };
        if typed.update == Some(Update::AssignLast) && typed.has_updates() {
            let winners = Winners::new(typed.plan.dims(), limits)?;
            work.winners = Some(winners);
            work.slices = work
                .slices
                .map(|cut| cut.with_winner_rows(winners.cut_rows()));
            of_rows.shards = winners.shards();
        }
        let needs_rows = work.winners.is_some() || order.is_some() || placed.has_report;
        if needs_rows && typed.bytes.output > 0 {
            let types = ElementTypes::new(4, typed.types.index_kind);
            let typed = TypedPlan::of_scatter(index_rows, types, Update::IndexRows)?;
            work.index_rows = Some((index_rows, Cut::new(typed, &of_rows, limits)?));
        }
        work.checked()
    }

    /// The work of slices and of the mask.
    fn of_slices(
        typed: TypedPlan<'a>,
        placed: &'a Placed,
        limits: &wgpu::Limits,
        texts: Texts,
    ) -> Result<Self, GatherError> {
        let is_written = typed.update.is_none() || typed.bytes.params > 0;
        let slices = is_written.then(|| Cut::new(typed, placed, limits));
        let masks = placed.mask_start.map(|mask_start| {
            let starts = [placed.indices_start, mask_start];
            MaskDispatch::all(typed.plan, typed.types.index_kind, starts, limits)
        });
        Ok(Self {
            typed,
            placed,
            index_rows: None,
            slices: slices.transpose()?,
            winners: None,
            order: None,
            masks: masks.transpose()?.unwrap_or_default(),
            texts,
        })
    }

    /// An error if there is an index count, and the plan takes none or has too many dispatches.
    fn checked(self) -> Result<Self, GatherError> {
        let dims = self.typed.plan.dims();
        if !self.placed.has_index_count || self.typed.bytes.output == 0 {
            return Ok(self);
        }
        if dims.repeats_index_rows() {
            return Err(GatherError::CountOfRepeatedRows {
                index_rows: dims.index_rows(),
                output_rows: dims.index_count,
            });
        }
        // Each block takes a dispatch of its own. Sorts and folds have no second one beside theirs.
        let (mut blocks, mut dispatches) = (0, 0);
        for (plan, cut) in self.stages().filter_map(|stage| self.cut(stage)) {
            let dims = plan.dims();
            blocks += dims.batch_size * dims.outer_size;
            dispatches += cut.dispatches().take(MAX_COUNTED_DISPATCHES + 1).count();
        }
        if dispatches > MAX_COUNTED_DISPATCHES {
            return Err(GatherError::TooManyDispatches {
                found: blocks.max(dispatches as u64),
                limit: MAX_COUNTED_DISPATCHES as u64,
            });
        }
        Ok(self)
    }

    /// The bytes of each buffer that the call makes for itself. Their first content does not matter, except for zeros before the
    /// pairs of a sort: wgpu clears new buffers, and each sort leaves them there.
    pub(crate) fn scratch(&self) -> Vec<u64> {
        match (self.winners, &self.order) {
            (Some(winners), _) => winners.scratch_bytes(),
            (_, Some(order)) => (order.scratch_bytes().into_iter())
                .filter(|&bytes| bytes > 0)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The pipelines of each stage's first `most` dispatches, and of the last one.
    pub(crate) fn keys(&self, most: usize) -> Vec<PipelineKey> {
        let mut keys = Vec::new();
        let mut add = |pass: Pass| {
            if !keys.contains(&pass.key) {
                keys.push(pass.key);
            }
            Ok::<_, Infallible>(())
        };
        for stage in self.stages() {
            let Ok(()) = self.each_of(stage, most, &mut add);
        }
        keys
    }
}
