//! What a call does on a GPU, as data: all passes of a gather or a scatter, in order. Pure. Passes are made one at a time, so that a
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

use std::convert::Infallible;

use bytemuck::Zeroable;

use super::bound::BoundRange;
use super::cut::{Cut, Dispatch};
use super::kernel::WORKGROUP_SIZE;
use super::mask::MaskDispatch;
use super::pass::{Bind, Grid, Pass, Source};
use super::placed::Placed;
use super::scatter::{Fold, Order, Winners};
use super::shaders::{EntryPoint, PipelineKey, Texts, binding, gather_text, scatter_text};
use super::types::TypedPlan;
use super::uniform::{GatherUniform, General};
use super::update::{IndexRowsPass, Update};
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::operand::Operand;
use crate::plan::GatherPlan;

/// Below this many invocations, lanes without a row cost less than an indirect dispatch.
const MAX_DIRECT_INVOCATIONS: u64 = 1 << 18;

/// The most dispatches of a call with an index count. Each has a second one beside it, which counts its rows, and the two take
/// about 3 KB.
const MAX_COUNTED_DISPATCHES: usize = 1 << 16;

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
    /// The work of a gather; an error if it does not fit the limits.
    pub(crate) fn gather(
        typed: TypedPlan<'a>,
        placed: &'a Placed,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        Self::of_slices(typed, placed, limits, gather_text)?.checked()
    }

    /// The work of a scatter through [`GatherPlan::of_updates`], whose [`GatherPlan::of_index_rows`] is `index_rows`.
    pub(crate) fn scatter(
        typed: TypedPlan<'a>,
        index_rows: &'a GatherPlan,
        placed: &'a Placed,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let order = match typed.update {
            Some(Update::Fold(..)) if typed.has_updates() => {
                let element_bytes = typed.types.element_bytes;
                Some(Order::new(typed.plan.dims(), element_bytes, limits)?)
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
        work.order = order;
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
            return Err(GatherError::DeviceLimit {
                name: "dispatches of an index count",
                expected: blocks.max(dispatches as u64),
                found: MAX_COUNTED_DISPATCHES as u64,
            });
        }
        Ok(self)
    }

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
        match (stage, &self.order) {
            (Stage::Sort, Some(order)) => order.each_sort(add),
            (Stage::Fold, Some(order)) => {
                let fold = Fold {
                    plan,
                    index_kind,
                    update: self.typed.update.expect("a scatter"),
                    aliased,
                };
                let slices = self.slices.iter();
                let mut dispatches = slices.flat_map(|cut| cut.dispatches_up_to(most));
                dispatches.try_for_each(|dispatch| order.each_fold(fold, &dispatch, add))
            }
            (Stage::Mask, _) => {
                let aliased = self.placed.mask_aliased;
                let passes = self.masks.iter();
                let mut passes = passes.map(|of| of.pass(plan, index_kind, aliased));
                passes.try_for_each(add)
            }
            _ => self.each_dispatch(stage, most, add),
        }
    }

    /// The cut of a stage that follows one, and its plan.
    fn cut(&self, stage: Stage) -> Option<(&'a GatherPlan, &Cut<'a>)> {
        match stage {
            Stage::IndexRows(_) => self.index_rows.as_ref().map(|(plan, cut)| (*plan, cut)),
            Stage::Slices => Some(self.typed.plan).zip(self.slices.as_ref()),
            Stage::Sort | Stage::Fold | Stage::Mask => None,
        }
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
            (self.typed.types.encoding).is_some_and(|of| of.has(Operand::ZeroPoints));
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

    /// The dispatches that copy or update slices.
    #[cfg(test)]
    pub(crate) fn dispatches(&self) -> impl Iterator<Item = Dispatch> {
        self.slices.iter().flat_map(Cut::dispatches)
    }

    /// The bytes of each buffer that the call makes for itself. Their first content does not matter, except for zeros before the
    /// pairs of a sort: wgpu clears new buffers, and each sort leaves them there.
    pub(crate) fn scratch(&self) -> Vec<u64> {
        match (self.winners, &self.order) {
            (Some(winners), _) => winners.scratch_bytes(),
            (_, Some(order)) => order.scratch_bytes().into(),
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
