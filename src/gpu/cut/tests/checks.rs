//! Checks that hold for every cut: its dispatches fit the limits, and each row is gathered once.

use super::cut;
use crate::gpu::cut::{Cut, Dispatch};
use crate::gpu::fill::FillPattern;
use crate::gpu::kernel::{Kernel, LANE_UNITS, WORKGROUP_SIZE};
use crate::gpu::uniform::GatherUniform;
use crate::index::IndexKind;
use crate::plan::GatherPlan;

pub(super) fn uniform(plan: &GatherPlan, dispatch: &Dispatch) -> GatherUniform {
    GatherUniform::new(plan, IndexKind::I32, dispatch, FillPattern::ZEROS, false)
}

/// Checks that exactly one dispatch copies each piece of an output row from each params row in its block, and that every
/// dispatch fits. Returns the number of dispatches.
pub(super) fn assert_each_row_once(
    plan: &GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
) -> usize {
    let cut = cut(plan, element_bytes, limits);
    let dims = plan.dims();
    let block_rows = dims.row_count.max(1);
    let mut bound = vec![Vec::new(); usize::try_from(dims.output_rows()).expect("a small plan")];
    let dispatches: Vec<Dispatch> = cut.dispatches().collect();
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, limits, plan);
        let (first, end) = dispatch.params_rows;
        for output_row in dispatch.output_rows.0..dispatch.output_rows.1 {
            let block = output_row / dims.index_count * block_rows;
            let rows = first.max(block)..end.min(block + block_rows);
            let row = &mut bound[usize::try_from(output_row).expect("a small plan")];
            row.extend(rows.map(|params_row| (params_row - block, dispatch.piece)));
        }
    }
    for rows in &mut bound {
        rows.sort_unstable();
        let pieces = (0..cut.slice_bytes).step_by(usize::try_from(cut.piece_bytes).expect("small"));
        let all = (0..block_rows).flat_map(|row| pieces.clone().map(move |piece| (row, piece)));
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
    if let Kernel::Packed { .. } | Kernel::Lines = dispatch.kernel {
        assert_eq!(dispatch.output.start % 16, 0, "{plan}");
    }
    if let Kernel::Packed { .. } = dispatch.kernel {
        let loaded = if dispatch.find.is_narrow() { 4 } else { 16 };
        assert_eq!(dispatch.indices.start % loaded, 0, "{plan}");
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
    let most = limits.max_compute_workgroups_per_dimension;
    let grid = dispatch.workgroups;
    assert!(grid.iter().all(|&side| side <= most), "{plan}");
    let workgroups = grid.map(u64::from).iter().product::<u64>();
    let lanes = workgroups * u64::from(WORKGROUP_SIZE);
    assert!(lanes <= 1 << 32, "{plan}");
    let shares = dispatch.shares;
    let units = dispatch.piece_bytes / dispatch.kernel.params_unit_bytes();
    let copies_all = match dispatch.kernel {
        Kernel::Rows(_) | Kernel::FourRows(_) => {
            shares.slots * units <= WORKGROUP_SIZE.into()
                && shares.slots.is_multiple_of(shares.lane_step.max(1))
                && workgroups * shares.slots * dispatch.kernel.lane_rows() >= dispatch.rows()
        }
        Kernel::Long(_) => {
            shares.lane_step <= WORKGROUP_SIZE.into()
                && shares.slice_workgroups * shares.lane_step * u64::from(LANE_UNITS) >= units
                && workgroups >= dispatch.rows() * shares.slice_workgroups
        }
        Kernel::Packed { .. } | Kernel::Lines => lanes * 16 >= output_bytes,
        Kernel::WordParts => {
            shares.slots * shares.lane_step <= shares.slice_workgroups * u64::from(WORKGROUP_SIZE)
                && shares.lane_step * 4 >= dispatch.piece_bytes
                && workgroups * shares.slots >= dispatch.rows() * shares.slice_workgroups
        }
        Kernel::Bytes { .. } | Kernel::Halves(_) => {
            let lane_bytes = dispatch.kernel.lane_bytes().expect("lanes own bytes");
            lanes * lane_bytes >= dispatch.output.start % 4 + output_bytes
        }
    };
    assert!(copies_all, "{plan}: {dispatch:?}");
}
