//! Scatters that sort their index rows by the row that each selects, then fold each row's updates in order. Pure: sizes and
//! passes.
//!
//! ```text
//! write_keys                       for each index row a pair: the key of the row that it selects, and its own number
//! sort_count .. sort_move          for each eight bits of the keys: move pairs from one buffer to the other
//! fold_rows                        for each dispatch of updates: reduce each row's first 1,024 updates
//! fold_later, fold_sums            if a row may have more: reduce each later 1,024 by themselves, then their results in order
//! ```

use std::ops::ControlFlow;

use bytemuck::Zeroable;

use crate::error::GatherError;
use crate::gpu::bound::binding_bytes;
use crate::gpu::cut::Dispatch;
use crate::gpu::fill::FillPattern;
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::pass::{Bind, Grid, Pass, Source};
use crate::gpu::shaders::{Alone, EntryPoint, binding};
use crate::gpu::shares::grid;
use crate::gpu::types::{WORD_BYTES, size};
use crate::gpu::uniform::{GatherUniform, OrderUniform, Quantized};
use crate::gpu::update::{FoldPass, Update};
use crate::index::IndexKind;
use crate::plan::{GatherDims, GatherPlan};

/// Bits in a digit, by which one round of passes sorts.
const DIGIT_BITS: u32 = 8;
const DIGITS: u64 = 1 << DIGIT_BITS;
/// The pairs that a workgroup counts and moves.
pub(crate) const TILE: u32 = 4096;
/// The counts that a workgroup of `sort_scan` adds.
pub(crate) const SCANNED: u32 = 2048;
/// Bytes in a pair: a key and a number, 4 bytes each.
const PAIR_BYTES: u64 = 8;

/// The buffer of slots.
const SLOTS: usize = 4;

/// The most workgroup memory, in bytes, that an entry point of the sort uses.
pub(crate) const WORKGROUP_BYTES: u32 = 12_288;

/// The entry points of shaders/sort.wgsl, in the order in which a round runs them.
pub(crate) const SORT: [EntryPoint; 4] = {
    use binding::{COUNTS, PAIRS, SORTED_PAIRS, UNIFORM};
    const fn sort(name: &'static str, bindings: &'static [u32]) -> Alone {
        Alone {
            name,
            file: "sort",
            bindings,
            overrides: &[],
            workgroup_bytes: WORKGROUP_BYTES,
        }
    }
    [
        EntryPoint::Alone(&sort("sort_count", &[UNIFORM, PAIRS, COUNTS])),
        EntryPoint::Alone(&sort("sort_scan", &[UNIFORM, COUNTS])),
        EntryPoint::Alone(&sort("sort_scan_totals", &[UNIFORM, COUNTS])),
        EntryPoint::Alone(&sort("sort_move", &[UNIFORM, PAIRS, SORTED_PAIRS, COUNTS])),
    ]
};

/// How many updates of a row are reduced one by one, and how many each later result covers: see
/// [`Reduce::Add`](crate::Reduce::Add).
const SUM_UPDATES: u32 = 1024;
/// The most later results that a lane folds in one dispatch, so that none takes long enough for a device to be reset.
const MOST_STEPS: u32 = 4096;

/// The most workgroups in a dispatch.
const MOST_WORKGROUPS: u64 = 1 << 23;
/// The most target rows in all blocks. fold.wgsl subtracts a window's first row from a row's number in 32 bits: a difference
/// below zero must not wrap into the window. Keys fit 32 bits then, since each batch has one key more than rows.
const MOST_ROWS: u64 = 1 << 31;
/// The most output rows in a batch, if there are several batches: a dispatch may span two, and numbers rows in 32 bits from the
/// start of the first.
const MOST_BATCH_ROWS: u64 = 1 << 30;

/// Called with each pass, in order, until it breaks.
type Add<'a> = &'a mut dyn FnMut(Pass) -> ControlFlow<()>;

/// Lists the passes of the sort, or those that fold the updates of a dispatch.
type Passes = fn(&Order, Option<(Fold<'_>, &Dispatch)>, Add<'_>) -> ControlFlow<()>;

/// The sizes of a sort and its folds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order {
    /// A pointer, so that an app that never scatters holds none of the passes.
    pub(crate) passes: Passes,
    /// Index rows in all batches, and in one. One that several output rows of a block read counts for each of them.
    pairs: u64,
    places: u64,
    /// Keys in a batch: one for each row that the target holds, and one for all other index rows.
    batch_keys: u64,
    batches: u64,
    blocks: u64,
    /// Bytes in the later results of a slice: a word for each number.
    result_bytes: u64,
    /// Bytes of the slots that sums of halves keep for the target; 0 if one dispatch has all updates of a row.
    slots_bytes: u64,
    update: Update,
    max_grid_width: u64,
    /// The most workgroups in a dispatch.
    most_workgroups: u64,
    sum_updates: u32,
    most_steps: u32,
}

/// Bytes in each of the two buffers of pairs: whole tiles.
pub(crate) const fn pairs_bytes(index_rows: u64) -> u64 {
    let tiles = index_rows.div_ceil(TILE as u64);
    tiles.saturating_mul(TILE as u64 * PAIR_BYTES)
}

impl Order {
    pub(crate) fn new(
        dims: &GatherDims,
        update: Update,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let max_grid_width = u64::from(limits.max_compute_workgroups_per_dimension);
        let order = Self {
            passes: |order, fold, add| match fold {
                None => order.each_sort(add),
                Some((fold, dispatch)) => order.each_fold(fold, dispatch, add),
            },
            pairs: dims.batch_size.saturating_mul(dims.index_count),
            places: dims.index_count,
            batch_keys: dims.held_rows + 1,
            batches: dims.batch_size,
            blocks: dims.batch_size * dims.outer_size,
            result_bytes: dims.slice_len.saturating_mul(WORD_BYTES.into()),
            slots_bytes: 0,
            update,
            max_grid_width,
            most_workgroups: (max_grid_width * max_grid_width).min(MOST_WORKGROUPS),
            sum_updates: SUM_UPDATES,
            most_steps: MOST_STEPS,
        };
        let batch_rows = match dims.batch_size {
            0 | 1 => 0,
            _ => dims.outer_size.saturating_mul(dims.index_count),
        };
        let rows = order.blocks.saturating_mul(dims.held_rows);
        for (counted, found, limit) in [
            ("rows of the target in all blocks", rows, MOST_ROWS),
            ("output rows of a batch", batch_rows, MOST_BATCH_ROWS),
        ] {
            if found > limit {
                return Err(GatherError::TooManyToOrder {
                    counted,
                    found,
                    limit,
                });
            }
        }
        let most_bytes = order.scratch_bytes().into_iter().fold(0, u64::max);
        let binding = binding_bytes(limits).min(limits.max_buffer_size);
        // The sort runs a workgroup for each tile, in one grid.
        let width = order.tiles().isqrt();
        let width = width + u64::from(width * width < order.tiles());
        for (name, expected, found) in [
            ("max_storage_buffer_binding_size", most_bytes, binding),
            (
                "max_compute_workgroups_per_dimension",
                width,
                max_grid_width,
            ),
        ] {
            if found < expected {
                return Err(GatherError::DeviceLimit {
                    name,
                    expected,
                    found,
                });
            }
        }
        Ok(order)
    }

    /// As `self`, with so many bytes of slots for the target; 0 if one dispatch has all updates of a row.
    pub(crate) fn with_slots(
        self,
        slots_bytes: u64,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        match self.update.has_slots() && slots_bytes > limits.max_buffer_size {
            true => Err(GatherError::DeviceLimit {
                name: "max_buffer_size",
                expected: slots_bytes,
                found: limits.max_buffer_size,
            }),
            false => Ok(Self {
                slots_bytes,
                ..self
            }),
        }
    }

    /// As `self`, with other limits on what a lane does.
    #[cfg(test)]
    pub(crate) fn with_steps(self, sum_updates: u32, most_steps: u32) -> Self {
        Self {
            sum_updates,
            most_steps,
            ..self
        }
    }

    const fn keys(&self) -> u64 {
        self.batches.saturating_mul(self.batch_keys)
    }

    const fn tiles(&self) -> u64 {
        self.pairs.div_ceil(TILE as u64)
    }

    /// Rounds of passes that it takes to sort by every key bit.
    const fn rounds(&self) -> u32 {
        let bits = u64::BITS - (self.keys() - 1).leading_zeros();
        bits.div_ceil(DIGIT_BITS)
    }

    /// Which buffer, 0 or 1, holds the sorted pairs.
    pub(crate) const fn sorted(&self) -> usize {
        self.rounds() as usize % 2
    }

    /// Stretches in a batch; 0 if no row can have later results.
    fn stretches(&self) -> u64 {
        match self.places > self.sum_updates.into() {
            true => self.places.div_ceil(self.sum_updates.into()),
            false => 0,
        }
    }

    /// Bytes in each buffer: pairs twice, counts, later results, slots; 0 if no shader binds slots.
    pub(crate) fn scratch_bytes(&self) -> [u64; 5] {
        let counts = DIGITS * self.tiles();
        let results =
            (self.blocks.saturating_mul(self.stretches())).saturating_mul(self.result_bytes);
        let slots = match (self.update.has_slots(), self.slots_bytes) {
            (false, _) if self.update.is_of_halves() => 16,
            (false, _) => 0,
            (true, 0) => results.max(16),
            (true, bytes) => bytes,
        };
        [
            pairs_bytes(self.pairs),
            pairs_bytes(self.pairs),
            (counts + counts.div_ceil(SCANNED.into())) * u64::from(WORD_BYTES),
            results.max(16),
            slots,
        ]
    }

    fn uniform(&self) -> OrderUniform {
        OrderUniform {
            zeros: size(self.tiles() * u64::from(TILE) - self.pairs),
            places: size(self.places),
            tiles: size(self.tiles()),
            sum_updates: self.sum_updates,
            most_steps: self.most_steps,
            ..OrderUniform::zeroed()
        }
    }

    /// The fields that `write_keys` reads.
    pub(crate) fn of_keys(&self, dispatch: &Dispatch) -> OrderUniform {
        // In the plan of index rows, each batch is one block.
        OrderUniform {
            first_key: size(dispatch.blocks.first_block * self.batch_keys),
            ..self.uniform()
        }
    }

    /// What a pass binds of the buffers; it reads the pairs of buffer `from`, 0 or 1.
    fn bind(&self, number: u32, from: usize) -> Bind {
        let buffer = match number {
            binding::PAIRS => from,
            binding::SORTED_PAIRS => 1 - from,
            binding::COUNTS => 2,
            binding::SLOTS => SLOTS,
            _ => 3,
        };
        Bind::whole(Source::Scratch(buffer), self.scratch_bytes()[buffer])
    }

    fn each_sort(&self, add: Add<'_>) -> ControlFlow<()> {
        let rounds = (0..self.rounds()).flat_map(|round| [0, 1, 2, 3].map(|pass| (round, pass)));
        let scanned = (DIGITS * self.tiles()).div_ceil(SCANNED.into());
        for (round, pass) in rounds {
            let workgroups = [self.tiles(), scanned, 1, self.tiles()][pass];
            let workgroups = grid(workgroups, self.max_grid_width);
            let uniform = GatherUniform {
                grid_width: workgroups[0],
                order: OrderUniform {
                    shift: round * DIGIT_BITS,
                    ..self.uniform()
                },
                ..GatherUniform::zeroed()
            };
            let key = SORT[pass].key(false);
            add(Pass::new(
                key,
                Some(uniform),
                Grid::Given(workgroups),
                |number| self.bind(number, round as usize % 2),
            ))?;
        }
        ControlFlow::Continue(())
    }

    fn each_fold(&self, fold: Fold<'_>, dispatch: &Dispatch, add: Add<'_>) -> ControlFlow<()> {
        let stretches = self.stretches();
        self.each_of_fold(fold, dispatch, FoldPass::Rows, 0, add)?;
        if stretches > 0 {
            self.each_of_fold(fold, dispatch, FoldPass::Later, 0, add)?;
        }
        for first_sum in (0..stretches).step_by(self.most_steps as usize) {
            self.each_of_fold(fold, dispatch, FoldPass::Sums, size(first_sum), add)?;
        }
        ControlFlow::Continue(())
    }

    /// One pass of a fold, or several if a grid has too few lanes.
    fn each_of_fold(
        &self,
        fold: Fold<'_>,
        dispatch: &Dispatch,
        pass: FoldPass,
        first_sum: u32,
        add: Add<'_>,
    ) -> ControlFlow<()> {
        let (dims, blocks) = (fold.plan.dims(), dispatch.blocks);
        let unit = dispatch.kernel.unit().expect("numbers are whole units");
        let last_block = (dispatch.output_rows.1 - 1) / dims.index_count;
        let block_rows = match pass {
            FoldPass::Rows => self.places,
            FoldPass::Later | FoldPass::Sums => self.stretches(),
        };
        let is_one_block = last_block == blocks.first_block;
        // Rows are counted from `first_block`, which may have none.
        let first_row =
            (dispatch.output_rows.0 / dims.index_count - blocks.first_block) * block_rows;
        let end_row = (last_block - blocks.first_block + 1) * block_rows;
        let units = dispatch.piece_bytes / unit.bytes();
        let slots = (u64::from(WORKGROUP_SIZE) / units).max(1);
        let slice_workgroups = units.div_ceil(WORKGROUP_SIZE.into());
        // Without later results nothing reads it, and slices may have any length.
        let slice_units = match self.stretches() {
            0 => 0,
            _ => self.result_bytes / unit.bytes().max(WORD_BYTES.into()),
        };
        let most = (self.most_workgroups / slice_workgroups).max(1) * slots;
        let first_sum_block = blocks.first_block * self.stretches();
        let first_batch = blocks.first_block / dims.outer_size;
        let fill = FillPattern::ZEROS;
        let of_dispatch = GatherUniform::new(fold.plan, fold.index_kind, dispatch, fill, false);
        let update = fold.update;
        let key = EntryPoint::Fold { pass, unit, update }.key(fold.aliased);
        let bind = |number| match number {
            binding::TARGET => Bind::of(Source::Table(dispatch.shard), dispatch.params),
            binding::UPDATES => Bind::of(Source::Slices, dispatch.output),
            binding::SLOTS if self.slots_bytes > 0 => {
                Bind::of(Source::Scratch(SLOTS), dispatch.qparams[0])
            }
            number => self.bind(number, self.sorted()),
        };
        let step = usize::try_from(most).unwrap_or(usize::MAX);
        for first in (first_row..end_row).step_by(step) {
            let rows = most.min(end_row - first);
            let workgroups = rows.div_ceil(slots) * slice_workgroups;
            let workgroups = grid(workgroups, self.max_grid_width);
            let uniform = GatherUniform {
                rows: size(rows),
                first_n: size(first),
                grid_width: workgroups[0],
                workgroup_rows: size(slots),
                slice_workgroups: size(slice_workgroups),
                index_count: if is_one_block {
                    u32::MAX
                } else {
                    size(block_rows)
                },
                order: OrderUniform {
                    first_key: size(first_batch * self.batch_keys),
                    first_update: size(blocks.first_n),
                    updates: size(dispatch.rows()),
                    first_sum,
                    slice_units: size(slice_units),
                    first_sum_unit: match slice_units {
                        0 => 0,
                        _ => size(first_sum_block * slice_units + dispatch.piece / unit.bytes()),
                    },
                    ..self.uniform()
                },
                quantized: Quantized {
                    scales_start: match self.slots_bytes {
                        0 => u32::MAX,
                        _ => size(dispatch.qparams[0].start / u64::from(WORD_BYTES)),
                    },
                    ..of_dispatch.quantized
                },
                ..of_dispatch
            };
            add(Pass::new(key, Some(uniform), Grid::Given(workgroups), bind))?;
        }
        ControlFlow::Continue(())
    }
}

/// A scatter that folds.
#[derive(Clone, Copy)]
pub(crate) struct Fold<'a> {
    pub(crate) plan: &'a GatherPlan,
    pub(crate) index_kind: IndexKind,
    pub(crate) update: Update,
    pub(crate) aliased: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::NumberKind;
    use crate::{Call, ElementTypes, Gather};

    fn order(shape: [usize; 2], count: usize, limits: &wgpu::Limits) -> Result<Order, String> {
        let gather = Gather::new().batch_dims(1).axis(1);
        let plan = gather
            .plan(&shape, &[shape[0], count])
            .expect("valid shapes");
        let sum = Update::Fold(crate::Reduce::Add, NumberKind::F32);
        Order::new(plan.dims(), sum, limits).map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_that_no_sort_has_are_refused() {
        let limits = wgpu::Limits::default();
        let too_many = |counted: &str, limit: u64, found: u64| {
            Err(format!(
                "a scatter on a GPU must have at most {limit} {counted}, found {found}, where several indices may select a row or \
                 halves are reduced"
            ))
        };
        let of_target = too_many("rows of the target in all blocks", 1 << 31, (1 << 31) + 2);
        assert_eq!(order([2, (1 << 30) + 1], 4, &limits).map(drop), of_target);
        assert!(order([2, 1 << 30], 4, &limits).is_ok());
        let of_batch = too_many("output rows of a batch", 1 << 30, (1 << 30) + 1);
        assert_eq!(order([2, 9], (1 << 30) + 1, &limits).map(drop), of_batch);
        let least = |name: &str, expected: u64, found: u64| {
            Err(format!(
                "device limit {name} must be at least {expected}, found {found}"
            ))
        };
        let of_binding = least(
            "max_storage_buffer_binding_size",
            (1 << 27) + (1 << 15),
            1 << 27,
        );
        assert_eq!(order([1, 9], (1 << 24) + 1, &limits).map(drop), of_binding);
        assert!(order([1, 9], 1 << 24, &limits).is_ok());
        let few_workgroups = wgpu::Limits {
            max_compute_workgroups_per_dimension: 2,
            ..limits
        };
        let of_grid = least("max_compute_workgroups_per_dimension", 3, 2);
        assert_eq!(
            order([1, 9], 4 * 4096 + 1, &few_workgroups).map(drop),
            of_grid
        );
        assert!(order([1, 9], 4 * 4096, &few_workgroups).is_ok());
    }

    #[test]
    fn a_sort_takes_the_bits_that_keys_have() {
        let rounds =
            |rows: usize| order([1, rows], 5, &wgpu::Limits::default()).map(|of| of.rounds());
        // One key is for bad rows.
        for (rows, expected) in [
            (1, 1),
            (255, 1),
            (256, 2),
            (65_535, 2),
            (65_536, 3),
            (1 << 31, 4),
        ] {
            assert_eq!(rounds(rows), Ok(expected), "{rows} rows");
        }
    }

    #[test]
    fn slices_and_grids_of_any_size_are_explained() {
        let wide = Gather::new().plan(&[3, (1 << 32) + 1], &[5]);
        let large = wgpu::Limits {
            max_buffer_size: 1 << 40,
            ..wgpu::Limits::default()
        };
        let narrow = Gather::new().plan(&[3], &[5]);
        for (plan, limits) in [(wide, large), (narrow, wgpu::Limits::unlimited())] {
            let plan = plan.expect("a valid shape");
            let (types, reduce) = (ElementTypes::new(4, IndexKind::I32), crate::Reduce::Add);
            let text = plan.explain(Call::scatter(types).reduce::<f32>(reduce), &limits);
            assert!(text.contains("workgroups of 256 invocations"), "{text}");
        }
    }

    /// A run of 10 million updates: no lane folds more than 4,096 sums in a dispatch.
    #[test]
    fn long_runs_take_several_dispatches() {
        let plan = Gather::new()
            .plan(&[3], &[10_000_000])
            .expect("a valid shape");
        let call = Call::scatter(ElementTypes::new(4, IndexKind::I32));
        let call = call.reduce::<f32>(crate::Reduce::Add);
        let text = plan.explain(call, &wgpu::Limits::default());
        // 9,766 stretches: fold_rows, fold_later, and three of fold_sums.
        assert!(
            text.contains("\n5 dispatches, the first of 39063 x 1"),
            "{text}"
        );
    }
}
