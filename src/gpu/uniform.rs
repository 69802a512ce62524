//! The uniform of a dispatch: `GatherUniform` of shaders/common.wgsl, which describes each field.

use bytemuck::{Pod, Zeroable};

use super::cut::Dispatch;
use super::fill::FillPattern;
use super::kernel::MAX_PLACE_DIMS;
use super::types::{low_and_high, size};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::index::IndexKind;
use crate::plan::GatherPlan;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct GatherUniform {
    pub(crate) rows: u32,
    pub(crate) units: u32,
    pub(crate) slots: u32,
    pub(crate) row_step: u32,
    pub(crate) slice_workgroups: u32,
    pub(crate) grid_width: u32,
    pub(crate) params_start: u32,
    pub(crate) indices_start: u32,
    pub(crate) output_start: u32,
    pub(crate) index_count: u32,
    pub(crate) outer_size: u32,
    pub(crate) first_index: u32,
    pub(crate) first_outer: u32,
    pub(crate) window_rows: u32,
    pub(crate) held_rows: [u32; 2],
    pub(crate) first_row: [u32; 2],
    pub(crate) window_first_row: [u32; 2],
    pub(crate) index_row_base: [u32; 2],
    pub(crate) slot_scale: u32,
    pub(crate) index_depth: u32,
    pub(crate) index_words: u32,
    pub(crate) sign: u32,
    pub(crate) from_end: u32,
    pub(crate) unclamped: u32,
    pub(crate) lowest: u32,
    pub(crate) fill_words: u32,
    pub(crate) fill_start: u32,
    pub(crate) reports: u32,
    pub(crate) most_rows: u32,
    pub(crate) first_n: u32,
    pub(crate) index_stride: u32,
    pub(crate) place_dim_count: u32,
    pub(crate) wraps: u32,
    pub(crate) word_values_log2: u32,
    pub(crate) index_base: u32,
    pub(crate) params_stride: u32,
    pub(crate) output_stride: u32,
    pub(crate) unused: [u32; 3],
    pub(crate) dims: [[u32; 2]; 8],
    pub(crate) fill: [u32; 16],
    pub(crate) place_dims: [[u32; 2]; MAX_PLACE_DIMS],
    pub(crate) place_index_rows: [[u32; 2]; MAX_PLACE_DIMS],
}

pub(crate) const UNIFORM_BYTES: u64 = size_of::<GatherUniform>() as u64;

impl GatherUniform {
    /// The uniforms of a gather, one for each dispatch; without a dispatch, one for the report.
    pub(crate) fn of_dispatches(
        plan: &GatherPlan,
        index_kind: IndexKind,
        dispatches: &[Dispatch],
        fill: FillPattern,
    ) -> Vec<Self> {
        if dispatches.is_empty() {
            return vec![Self {
                reports: 2,
                ..Self::zeroed()
            }];
        }
        let first_report = dispatches.iter().position(|dispatch| dispatch.reports);
        let uniform = |(number, dispatch)| {
            let begins_report = first_report == Some(number);
            Self::new(plan, index_kind, dispatch, fill, begins_report)
        };
        dispatches.iter().enumerate().map(uniform).collect()
    }

    /// The uniform of one dispatch. `begins_report` is true for the first dispatch of the gather that reports.
    pub(crate) fn new(
        plan: &GatherPlan,
        index_kind: IndexKind,
        dispatch: &Dispatch,
        fill: FillPattern,
        begins_report: bool,
    ) -> Self {
        let dims = plan.dims();
        let blocks = dispatch.blocks;
        let kernel = dispatch.kernel;
        let shares = dispatch.shares;
        let clamps = plan.bad_indices() == BadIndices::Clamp;
        let of_index_rows = Self::of_index_rows(plan, index_kind);
        let units = dispatch.piece_bytes / kernel.params_unit_bytes();
        // A single row has no next one, which its stride need not reach.
        let stride = |bytes: u64, rows: (u64, u64)| match rows.1 - rows.0 {
            0 | 1 => size(units),
            _ => size(bytes / kernel.params_unit_bytes()),
        };
        let mut place_dims = [[0; 2]; MAX_PLACE_DIMS];
        let mut place_index_rows = [[0; 2]; MAX_PLACE_DIMS];
        for (k, dim) in dims.place_dims.iter().rev().enumerate() {
            place_dims[k] = [size(dim.size), size(dim.stride)];
            place_index_rows[k] = [size(dim.index_stride), u32::from(dim.index_stride == 0)];
        }
        Self {
            rows: size(dispatch.rows()),
            units: size(units),
            slots: size(shares.slots),
            row_step: size(shares.row_step),
            slice_workgroups: size(shares.slice_workgroups),
            grid_width: dispatch.workgroups.0,
            params_start: size(dispatch.params.start / kernel.params_unit_bytes()),
            indices_start: size(dispatch.indices.start / index_kind.bytes().min(4)),
            output_start: size(dispatch.output.start / kernel.output_unit_bytes()),
            index_count: blocks.index_count,
            outer_size: blocks.outer_size,
            first_index: blocks.first_index,
            first_outer: blocks.first_outer,
            window_rows: size(dispatch.params_rows.1 - dispatch.params_rows.0),
            held_rows: low_and_high(dims.held_rows),
            first_row: low_and_high(dims.first_row),
            window_first_row: low_and_high(dispatch.params_rows.0 - blocks.first_row),
            index_row_base: low_and_high(blocks.index_rows.0),
            slot_scale: (1_u32 << 16).div_ceil(size(units.max(1))),
            index_depth: of_index_rows.index_depth,
            index_words: of_index_rows.index_words,
            sign: of_index_rows.sign,
            from_end: of_index_rows.from_end,
            unclamped: if clamps { 0 } else { u32::MAX },
            lowest: if clamps { of_index_rows.sign } else { 0 },
            fill_words: fill.words,
            fill_start: size(dispatch.piece / 4 % u64::from(fill.words)),
            reports: u32::from(dispatch.reports) << u32::from(begins_report),
            most_rows: size(dispatch.rows()),
            first_n: blocks.first_n,
            index_stride: size(dims.index_stride),
            place_dim_count: size(dims.place_dims.len() as u64),
            wraps: u32::from(plan.bad_indices() == BadIndices::Wrap),
            word_values_log2: of_index_rows.word_values_log2,
            index_base: match dims.repeats_index_rows() {
                true => size(blocks.index_rows.0),
                false => blocks.first_n,
            },
            params_stride: stride(dispatch.params_stride, dispatch.params_rows),
            output_stride: stride(dispatch.output_stride, dispatch.output_rows),
            unused: [0; 3],
            dims: of_index_rows.dims,
            fill: fill.pattern,
            place_dims,
            place_index_rows,
        }
    }

    /// The fields about the values of index rows; all others are 0.
    pub(crate) fn of_index_rows(plan: &GatherPlan, index_kind: IndexKind) -> Self {
        let sign = u32::from(index_kind.is_signed()) << 31;
        let from_end = plan.negative_indices == NegativeIndices::FromEnd;
        let mut dims = [[0; 2]; 8];
        for (words, &dim) in dims.iter_mut().zip(&plan.dims().indexed_dims) {
            *words = low_and_high(dim);
        }
        Self {
            index_depth: size(plan.dims().index_depth() as u64),
            index_words: index_kind.words(),
            sign,
            from_end: if from_end { sign } else { 0 },
            word_values_log2: index_kind.word_values_log2(),
            dims,
            ..Self::zeroed()
        }
    }
}
