//! A dispatch's uniform: `GatherUniform` in shaders/common.wgsl, which describes each field.

use bytemuck::{Pod, Zeroable};

use super::bound::BoundRange;
use super::cut::Dispatch;
use super::fill::FillPattern;
use super::kernel::MAX_ELEMENT_DIMS;
use super::shares::slot_scale;
use super::types::{WORD_BYTES, low_and_high, size};
use crate::bad_indices::NegativeIndices;
use crate::encoding::{BlockQuantized, FloatKind};
use crate::index::IndexKind;
use crate::plan::GatherPlan;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct GatherUniform {
    pub(crate) rows: u32,
    pub(crate) units: u32,
    pub(crate) grid_width: u32,
    pub(crate) workgroup_rows: u32,
    pub(crate) slot_scale: u32,
    pub(crate) lane_step: u32,
    pub(crate) slice_workgroups: u32,
    pub(crate) params_start: u32,
    pub(crate) output_start: u32,
    pub(crate) indices_start: u32,
    pub(crate) params_stride: u32,
    pub(crate) output_stride: u32,
    pub(crate) first_n: u32,
    pub(crate) index_count: u32,
    pub(crate) outer_size: u32,
    pub(crate) window_rows: u32,
    pub(crate) sign: u32,
    pub(crate) from_end: u32,
    pub(crate) beyond: u32,
    pub(crate) fill_words: u32,
    pub(crate) reports: u32,
    pub(crate) most_rows: u32,
    pub(crate) held_rows: [u32; 2],
    pub(crate) first_row: [u32; 2],
    pub(crate) window_first_row: [u32; 2],
    pub(crate) index_row_base: [u32; 2],
    pub(crate) last_dim: u32,
    pub(crate) last_dim_stride: u32,
    pub(crate) dims: [[u32; 2]; 8],
    pub(crate) fill: [u32; 16],
    pub(crate) general: General,
    pub(crate) quantized: Quantized,
    pub(crate) order: OrderUniform,
    pub(crate) bags: BagsUniform,
}

/// `Bags` in shaders/common.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BagsUniform {
    pub(crate) places: u32,
    pub(crate) size: u32,
    pub(crate) offsets_start: u32,
    pub(crate) weights_start: u32,
    pub(crate) offset_words: u32,
    pub(crate) offset_sign: u32,
    pub(crate) offsets: u32,
    pub(crate) is_mean: u32,
}

/// `Quantized` in shaders/common.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Quantized {
    pub(crate) params_start: u32,
    pub(crate) scales_start: u32,
    pub(crate) zero_points_start: u32,
    pub(crate) scale_bytes: u32,
    pub(crate) are_scales_bf16: u32,
    pub(crate) zero_point: u32,
    pub(crate) flipped: u32,
    pub(crate) zero: u32,
}

/// `General` in shaders/common.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct General {
    pub(crate) index_depth: u32,
    pub(crate) index_bits_log2: u32,
    pub(crate) index_stride: u32,
    pub(crate) winners_start: u32,
    pub(crate) element_dims: [[u32; 4]; MAX_ELEMENT_DIMS],
}

/// `Order` in shaders/common.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct OrderUniform {
    pub(crate) zeros: u32,
    pub(crate) places: u32,
    pub(crate) first_key: u32,
    pub(crate) shift: u32,
    pub(crate) tiles: u32,
    pub(crate) first_update: u32,
    pub(crate) updates: u32,
    pub(crate) sum_updates: u32,
    pub(crate) most_steps: u32,
    pub(crate) first_sum: u32,
    pub(crate) slice_units: u32,
    pub(crate) first_sum_unit: u32,
}

pub(crate) const UNIFORM_BYTES: u64 = size_of::<GatherUniform>() as u64;

impl GatherUniform {
    /// One dispatch's uniform. `is_first_report` is true for the gather's first dispatch that reports.
    pub(crate) fn new(
        plan: &GatherPlan,
        index_kind: IndexKind,
        dispatch: &Dispatch,
        fill: FillPattern,
        is_first_report: bool,
    ) -> Self {
        let dims = plan.dims();
        let (blocks, shares) = (dispatch.blocks, dispatch.shares);
        let params_unit = dispatch.params_unit_bytes();
        let slice_unit = dispatch.kernel.slice_unit_bytes();
        let units = size(dispatch.piece_bytes / slice_unit);
        // A single row has no next one, which its stride need not reach.
        let stride = |bytes: u64, rows: (u64, u64), unit: u64| match rows.1 - rows.0 {
            0 | 1 => units,
            _ => size(bytes / unit),
        };
        let rows = size(dispatch.rows());
        let (grid_rows, grid_width) = match dispatch.has_block_grid {
            true => (blocks.index_count, 0),
            false => (rows, dispatch.workgroups[0]),
        };
        let values = Self::of_index_rows(plan, index_kind);
        // Index rows are numbered from this one on, which may lie before the binding.
        let rows_before = blocks.index_rows.0 - blocks.index_row_zero;
        let row_places = dims.index_depth() as u64 * u64::from(index_kind.words());
        let indices_start = index_places(dispatch.indices, index_kind)
            .wrapping_sub(rows_before.wrapping_mul(row_places));
        let [first_n, first_n_high] = low_and_high(blocks.first_n);
        let [low, high] = low_and_high(blocks.index_row_zero);
        let (last_dim, last_dim_stride) = match dispatch.last_dim {
            Some(row) => (size(row.len), size(row.bytes / params_unit)),
            None => (u32::MAX, 0),
        };
        let quantized = dispatch
            .quantized
            .map(|of| Quantized::new(of, dispatch.params, dispatch.qparams));
        let mut element_dims = [[0; 4]; MAX_ELEMENT_DIMS];
        for (words, dim) in element_dims.iter_mut().zip(dims.element_dims.iter().rev()) {
            let repeats = u64::from(dim.index_stride == 0);
            *words = [dim.size, dim.stride, dim.index_stride, repeats].map(size);
        }
        Self {
            rows: grid_rows,
            units,
            grid_width,
            workgroup_rows: size(shares.slots * dispatch.kernel.lane_rows()),
            slot_scale: slot_scale(units),
            lane_step: size(shares.lane_step),
            slice_workgroups: size(shares.slice_workgroups),
            params_start: match quantized {
                Some(_) => 0,
                None => size(dispatch.params.start / params_unit),
            },
            output_start: size(dispatch.output.start / dispatch.kernel.output_unit_bytes()),
            indices_start: low_and_high(indices_start)[0],
            params_stride: stride(dispatch.params_stride, dispatch.params_rows, params_unit),
            output_stride: stride(dispatch.output_stride, dispatch.output_rows, slice_unit),
            first_n,
            index_count: blocks.index_count,
            outer_size: blocks.outer_size,
            window_rows: size(dispatch.params_rows.1 - dispatch.params_rows.0),
            beyond: plan.bad_indices().beyond() as u32,
            fill_words: fill.words,
            reports: u32::from(dispatch.reports) << u32::from(is_first_report),
            // An index count is a `u32`, and so leaves out all rows from 2^32 on.
            most_rows: if first_n_high > 0 { 0 } else { rows },
            held_rows: low_and_high(dims.held_rows),
            first_row: low_and_high(dims.first_row),
            window_first_row: low_and_high(dispatch.window_first_row),
            // No dispatch crosses a multiple of 2^32: its first row's high word is that of all its rows.
            index_row_base: [low, high + first_n_high],
            last_dim,
            last_dim_stride,
            quantized: quantized.unwrap_or(Quantized::zeroed()),
            bags: BagsUniform::zeroed(),
            fill: fill.words_from(dispatch.piece / u64::from(WORD_BYTES)),
            general: General {
                index_stride: size(dims.index_stride),
                element_dims,
                ..values.general
            },
            ..values
        }
    }

    /// The fields about index values; all others are 0.
    pub(super) fn of_index_rows(plan: &GatherPlan, index_kind: IndexKind) -> Self {
        let dims = plan.dims();
        let sign = u32::from(index_kind.is_signed()) << 31;
        let mut sizes = [[0; 2]; 8];
        for (words, &dim) in sizes.iter_mut().zip(&dims.indexed_dims) {
            *words = low_and_high(dim);
        }
        Self {
            sign,
            from_end: match plan.negative_indices {
                NegativeIndices::FromEnd => sign,
                NegativeIndices::Invalid => 0,
            },
            dims: sizes,
            general: General {
                index_depth: size(dims.index_depth() as u64),
                index_bits_log2: (8 * index_kind.bytes()).ilog2(),
                ..General::zeroed()
            },
            ..Self::zeroed()
        }
    }

    /// The uniform for a dispatch that writes the mask for `rows` index rows.
    pub(crate) fn of_mask(
        plan: &GatherPlan,
        index_kind: IndexKind,
        rows: u64,
        grid_width: u32,
        [indices, mask]: [BoundRange; 2],
    ) -> Self {
        Self {
            rows: size(rows),
            grid_width,
            indices_start: size(index_places(indices, index_kind)),
            output_start: size(mask.start / u64::from(WORD_BYTES)),
            ..Self::of_index_rows(plan, index_kind)
        }
    }
}

impl Quantized {
    /// The numbers of params, scales and zero points that are bound so.
    pub(super) fn new(
        numbers: BlockQuantized,
        params: BoundRange,
        [scales, zero_points]: [BoundRange; 2],
    ) -> Self {
        Self {
            params_start: size(params.start),
            scales_start: size(scales.start),
            zero_points_start: size(zero_points.start),
            scale_bytes: size(numbers.scale_kind().bytes()),
            are_scales_bf16: u32::from(numbers.scale_kind() == FloatKind::Bf16),
            zero_point: numbers.zero_point().map_or(u32::MAX, u32::from),
            flipped: numbers.flipped().into(),
            zero: 0,
        }
    }
}

/// Where index rows start in their binding: in words, or in values if a word holds several.
pub(super) fn index_places(indices: BoundRange, index_kind: IndexKind) -> u64 {
    indices.start / index_kind.bytes().min(WORD_BYTES.into())
}
