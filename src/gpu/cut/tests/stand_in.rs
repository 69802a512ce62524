//! A stand-in for the shaders. It checks that each row is gathered once, and lies within the bindings.

use std::ops::Range;

use super::cut;
use crate::gpu::cut::{Cut, Dispatch};
use crate::gpu::fill::FillPattern;
use crate::gpu::kernel::{Kernel, LONG_UNITS, WORKGROUP_SIZE};
use crate::gpu::uniform::GatherUniform;
use crate::index::IndexKind;
use crate::plan::GatherPlan;

pub(super) fn uniform(plan: &GatherPlan, dispatch: &Dispatch) -> GatherUniform {
    GatherUniform::new(plan, IndexKind::I32, dispatch, FillPattern::ZEROS, false)
}

fn number([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The rows that a shader finds for an output row.
struct Row {
    output_row: u64,
    index_row: u64,
    /// The params rows of its block that are bound.
    bound: Range<u64>,
}

fn rows_of(plan: &GatherPlan, dispatch: &Dispatch) -> impl Iterator<Item = Row> {
    let sizes = uniform(plan, dispatch);
    let index_count = plan.dims().index_count;
    let (first, first_block) = (dispatch.output_rows.0, dispatch.blocks.first_block);
    (0..sizes.rows).map(move |row| {
        let index = sizes.first_n + row;
        let (block, n) = match sizes.index_count {
            u32::MAX => (0, index),
            count => (index / count, index % count),
        };
        let batch = block / sizes.outer_size;
        let index_row = u64::from(batch) * u64::from(sizes.index_count) + u64::from(n);
        let block_start = u64::from(block) * number(sizes.held_rows);
        let bound = number(sizes.window_first_row);
        let bound = bound..bound + u64::from(sizes.window_rows);
        let output_row = first + u64::from(row);
        assert_eq!(
            (first_block + u64::from(block), u64::from(n)),
            (output_row / index_count, output_row % index_count)
        );
        Row {
            output_row,
            index_row: number(sizes.index_row_base) + index_row,
            bound: bound.start.saturating_sub(block_start)..bound.end.saturating_sub(block_start),
        }
    })
}

/// Follows every row of every dispatch. Each output row finds its index row, and exactly one dispatch binds each params
/// row of its block for each piece. Returns the number of dispatches.
pub(super) fn assert_each_row_once(
    plan: &GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
) -> usize {
    let cut = cut(plan, element_bytes, limits);
    let dims = plan.dims();
    let row_count = dims.row_count.max(1);
    let mut bound = vec![Vec::new(); usize::try_from(dims.output_rows()).expect("a small plan")];
    let dispatches: Vec<Dispatch> = cut.dispatches().collect();
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, limits, plan);
        for row in rows_of(plan, dispatch) {
            let block = row.output_row / dims.index_count;
            let index_row =
                block / dims.outer_size * dims.index_count + row.output_row % dims.index_count;
            assert_eq!(row.index_row, index_row, "{plan}");
            let rows = &mut bound[usize::try_from(row.output_row).expect("a small plan")];
            let of_block = row.bound.start..row.bound.end.min(row_count);
            rows.extend(of_block.map(|params_row| (params_row, dispatch.piece)));
        }
    }
    for rows in &mut bound {
        rows.sort_unstable();
        let pieces = (0..cut.slice_bytes).step_by(usize::try_from(cut.piece_bytes).expect("small"));
        let all = (0..row_count).flat_map(|row| pieces.clone().map(move |piece| (row, piece)));
        assert_eq!(*rows, all.collect::<Vec<_>>(), "{plan}");
    }
    dispatches.len()
}

/// Checks that every binding is aligned, no larger than the limit, and holds the dispatch's rows, and that the
/// dispatch's workgroups copy all bytes.
pub(super) fn assert_fits(
    cut: &Cut<'_>,
    dispatch: &Dispatch,
    limits: &wgpu::Limits,
    plan: &GatherPlan,
) {
    for bound in [dispatch.params, dispatch.indices, dispatch.output] {
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        assert_eq!(bound.offset % alignment, 0, "{plan}");
        assert_eq!(bound.bytes % 4, 0, "{plan}");
        let most = limits.max_storage_buffer_binding_size;
        assert!(bound.bytes <= most, "{plan}: {bound:?}");
    }
    if matches!(dispatch.kernel, Kernel::Packed { .. }) {
        assert_eq!(dispatch.indices.start % 16, 0, "{plan}");
        assert_eq!(dispatch.output.start % 16, 0, "{plan}");
    }
    let (row, row_end) = dispatch.params_rows;
    let output_bytes = dispatch.rows() * dispatch.piece_bytes;
    let output_end = dispatch.output.start + output_bytes;
    assert!(output_end <= dispatch.output.bytes, "{plan}");
    if cut.dims.row_count > 0 {
        let before = (row_end - row - 1) * cut.slice_bytes;
        let params_end = dispatch.params.start + before + dispatch.piece_bytes;
        assert!(params_end <= dispatch.params.bytes, "{plan}");
    }
    let (width, height) = dispatch.workgroups;
    let most = limits.max_compute_workgroups_per_dimension;
    assert!(width <= most && height <= most, "{plan}");
    let workgroups = u64::from(width) * u64::from(height);
    let lanes = workgroups * u64::from(WORKGROUP_SIZE);
    assert!(lanes <= 1 << 32, "{plan}");
    let shares = dispatch.shares;
    let units = dispatch.piece_bytes / dispatch.kernel.params_unit_bytes();
    let copies_all = match dispatch.kernel {
        Kernel::Rows(_) | Kernel::FourRows(_) => {
            shares.slots * units <= WORKGROUP_SIZE.into()
                && shares.slots.is_multiple_of(shares.row_step.max(1))
                && workgroups * shares.slots * dispatch.kernel.lane_rows() >= dispatch.rows()
        }
        Kernel::Long(_) => {
            shares.slice_workgroups * u64::from(LONG_UNITS) >= units
                && workgroups >= dispatch.rows() * shares.slice_workgroups
        }
        Kernel::Packed { .. } => lanes * 16 >= output_bytes,
        Kernel::Bytes => lanes * 4 >= dispatch.output.start % 4 + output_bytes,
    };
    assert!(copies_all, "{plan}: {dispatch:?}");
}
