//! Lists the passes of a call's work, stage by stage.

use std::ops::ControlFlow;

use bytemuck::Zeroable;

use super::Work;
use crate::gpu::bound::BoundRange;
use crate::gpu::cut::{Cut, Dispatch};
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::pass::{Bind, Grid, Pass, Source};
use crate::gpu::scatter::Fold;
use crate::gpu::shaders::{EntryPoint, PipelineKey, binding};
use crate::gpu::uniform::{GatherUniform, General};
use crate::gpu::update::IndexRowsPass;
use crate::operand::Operand;
use crate::plan::GatherPlan;

/// Below this many invocations, lanes without a row cost less than an indirect dispatch.
const MAX_DIRECT_INVOCATIONS: u64 = 1 << 18;

/// Passes that do one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Over a scatter's index rows.
    IndexRows(IndexRowsPass),
    /// Sorts the pairs of a scatter's index rows.
    Sort,
    /// Folds sorted updates.
    Fold,
    /// Copies slices, or updates them.
    Slices,
    Mask,
}

impl<'a> Work<'a> {
    /// The stages of the work, in order. Each may have no pass.
    pub(crate) fn stages(&self) -> impl Iterator<Item = Stage> {
        use IndexRowsPass::{ClearWinners, CountBad, FindWinners, WriteKeys};

        let is_scatter = self.typed.update.is_some();
        let (wins, counts) = (self.winners.is_some(), is_scatter && self.placed.has_report);
        let sorts = self.order.is_some();
        [
            (wins, Stage::IndexRows(ClearWinners)),
            (wins, Stage::IndexRows(FindWinners)),
            (counts, Stage::IndexRows(CountBad)),
            (sorts, Stage::IndexRows(WriteKeys)),
            (sorts, Stage::Sort),
            (sorts, Stage::Fold),
            (!sorts, Stage::Slices),
            (!self.masks.is_empty(), Stage::Mask),
        ]
        .into_iter()
        .filter_map(|(is_there, stage)| is_there.then_some(stage))
    }

    /// Calls `add` with each pass, in order.
    pub(crate) fn each<E>(&self, add: &mut impl FnMut(Pass) -> Result<(), E>) -> Result<(), E> {
        self.stages()
            .try_for_each(|stage| self.each_of(stage, usize::MAX, add))
    }

    /// Calls `add` with each pass of a stage, in order: those of the first `most` dispatches of the cut, and of one more that
    /// shows which pipelines the last rows take.
    pub(crate) fn each_of<E>(
        &self,
        stage: Stage,
        most: usize,
        add: &mut impl FnMut(Pass) -> Result<(), E>,
    ) -> Result<(), E> {
        let (plan, index_kind) = (self.typed.plan, self.typed.types.index_kind);
        let aliased = self.placed.aliased;
        let mut failed = None;
        let mut until_failed = |pass| match add(pass) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        };
        let _ = match (stage, &self.order) {
            (Stage::Sort, Some(order)) => (order.passes)(order, None, &mut until_failed),
            (Stage::Fold, Some(order)) => {
                let fold = Fold {
                    plan,
                    index_kind,
                    update: self.typed.update.expect("a scatter"),
                    aliased,
                };
                let slices = self.slices.iter();
                let mut dispatches = slices.flat_map(|cut| cut.dispatches_up_to(most));
                dispatches.try_for_each(|dispatch| {
                    (order.passes)(order, Some((fold, &dispatch)), &mut until_failed)
                })
            }
            (Stage::Mask, _) => {
                let aliased = self.placed.mask_aliased;
                let passes = self.masks.iter();
                let mut passes = passes.map(|of| of.pass(plan, index_kind, aliased));
                return passes.try_for_each(add);
            }
            _ => return self.each_dispatch(stage, most, add),
        };
        failed.map_or(Ok(()), Err)
    }

    /// The cut of a stage that follows one, and its plan.
    pub(super) fn cut(&self, stage: Stage) -> Option<(&'a GatherPlan, &Cut<'a>)> {
        match stage {
            Stage::IndexRows(_) => self.index_rows.as_ref().map(|(plan, cut)| (*plan, cut)),
            Stage::Slices => Some(self.typed.plan).zip(self.slices.as_ref()),
            Stage::Sort | Stage::Fold | Stage::Mask => None,
        }
    }

    /// The dispatches that copy or update slices.
    #[cfg(test)]
    pub(crate) fn dispatches(&self) -> impl Iterator<Item = Dispatch> {
        self.slices.iter().flat_map(Cut::dispatches)
    }

    fn each_dispatch<E>(
        &self,
        stage: Stage,
        most: usize,
        add: &mut impl FnMut(Pass) -> Result<(), E>,
    ) -> Result<(), E> {
        let counts_bad_rows = match stage {
            Stage::Slices => self.typed.update.is_none(),
            stage => stage == Stage::IndexRows(IndexRowsPass::CountBad),
        };
        let reports = counts_bad_rows && self.placed.has_report;
        let aliased = self.placed.aliased;
        let mut is_first = true;
        if let Some((plan, cut)) = self.cut(stage) {
            for dispatch in cut.dispatches_up_to(most) {
                let mut pass = self.pass(stage, plan, &dispatch, is_first);
                if self.placed.has_index_count
                    && let Some(uniform) = pass.uniform.take()
                {
                    add(Pass::count_rows(uniform))?;
                    pass.grid = counted_grid(stage, &dispatch);
                }
                add(pass)?;
                if reports && dispatch.reports {
                    add(Pass::finish_report(None, dispatch.indices, aliased))?;
                }
                is_first = false;
            }
        }
        if reports && is_first {
            let uniform = GatherUniform {
                reports: 2,
                ..GatherUniform::zeroed()
            };
            let none = BoundRange::default();
            add(Pass::finish_report(Some(uniform), none, aliased))?;
        }
        Ok(())
    }

    /// The pass of a dispatch in a stage that follows a cut. `is_first` is true for the stage's first dispatch, which is the first
    /// that reports, as it has the first rows of the first block.
    pub(crate) fn pass(
        &self,
        stage: Stage,
        plan: &GatherPlan,
        dispatch: &Dispatch,
        is_first: bool,
    ) -> Pass {
        let uniform = self.uniform(stage, plan, dispatch, is_first);
        let grid = Grid::Given(dispatch.workgroups);
        let key = self.key(stage, dispatch);
        Pass::new(key, Some(uniform), grid, |number| {
            self.bind(number, dispatch)
        })
    }

    fn uniform(
        &self,
        stage: Stage,
        plan: &GatherPlan,
        dispatch: &Dispatch,
        is_first: bool,
    ) -> GatherUniform {
        let (index_kind, fill) = (self.typed.types.index_kind, self.placed.fill);
        let uniform = GatherUniform::new(plan, index_kind, dispatch, fill, is_first);
        match (stage, self.winners, &self.order) {
            (Stage::IndexRows(IndexRowsPass::WriteKeys), _, Some(order)) => GatherUniform {
                order: order.of_keys(dispatch),
                ..uniform
            },
            (Stage::Slices, Some(winners), _) => GatherUniform {
                general: General {
                    winners_start: winners.of_dispatch(plan.dims(), dispatch).1,
                    ..uniform.general
                },
                ..uniform
            },
            _ => uniform,
        }
    }

    fn key(&self, stage: Stage, &Dispatch { kernel, find, .. }: &Dispatch) -> PipelineKey {
        let report = self.placed.has_report;
        let entry_point = match (stage, self.typed.update) {
            (Stage::IndexRows(pass), _) => EntryPoint::IndexRows { pass, find },
            (_, Some(update)) => EntryPoint::Scatter {
                kernel,
                find,
                update,
            },
            (_, None) => EntryPoint::Gather {
                kernel,
                find,
                report,
            },
        };
        entry_point.key(self.placed.aliased)
    }

    /// What a dispatch binds by a number.
    fn bind(&self, number: u32, dispatch: &Dispatch) -> Bind {
        let [scales, zero_points] = dispatch.qparams;
        let has_zero_points =
            (self.typed.types.encoding()).is_some_and(|of| of.has(Operand::ZeroPoints));
        match number {
            binding::PARAMS | binding::TARGET => {
                Bind::of(Source::Table(dispatch.shard), dispatch.params)
            }
            binding::INDICES => Bind::of(Source::Indices, dispatch.indices),
            binding::OUTPUT | binding::UPDATES => Bind::of(Source::Slices, dispatch.output),
            // Scales stand for zero points that are no operand.
            binding::ZERO_POINTS if has_zero_points => Bind::of(Source::ZeroPoints, zero_points),
            binding::SCALES | binding::ZERO_POINTS => Bind::of(Source::Scales, scales),
            // The shards of the index rows' plan are the buffers of winners.
            binding::WINNERS => Bind::of(Source::Scratch(dispatch.shard), dispatch.params),
            binding::WINNERS_FOUND => {
                let winners = self.winners.expect("an assign of repeated rows");
                let (buffer, _) = winners.of_dispatch(self.typed.plan.dims(), dispatch);
                Bind::whole(Source::Scratch(buffer), winners.buffer_bytes(buffer))
            }
            binding::SORTED_PAIRS => {
                let order = self.order.expect("a sort");
                Bind::whole(Source::Scratch(0), order.scratch_bytes()[0])
            }
            other => unreachable!("no dispatch of a cut has binding {other}"),
        }
    }
}

/// The grid of a dispatch with an index count: a large dispatch is indirect.
fn counted_grid(stage: Stage, dispatch: &Dispatch) -> Grid {
    let invocations = dispatch.shares.workgroups * u64::from(WORKGROUP_SIZE);
    match stage {
        // It writes pairs for all index rows, even those that the count leaves out.
        Stage::IndexRows(IndexRowsPass::WriteKeys) => Grid::Given(dispatch.workgroups),
        _ if invocations >= MAX_DIRECT_INVOCATIONS => Grid::Counted,
        _ => Grid::Given(dispatch.workgroups),
    }
}
