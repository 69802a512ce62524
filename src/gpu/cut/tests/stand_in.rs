//! What the shader does with the rows of a dispatch, done here: each row once, and within what is bound.

use std::ops::Range;

use super::cut_for;
use crate::gpu::cut::{Cut, Dispatch};
use crate::gpu::kernel::{Unit, WORKGROUP_SIZE};
use crate::plan::GatherPlan;

pub(super) fn number([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// What the shader does with each output row of a dispatch: for its number in all, the index row, the part
/// of params, and the params rows from that part's first row on that the dispatch binds.
struct Row {
    output_row: u64,
    index_row: u64,
    bound: Range<u64>,
}

fn rows_of<'a>(cut: &'a Cut<'_>, dispatch: &'a Dispatch) -> impl Iterator<Item = Row> + 'a {
    let window = &dispatch.window;
    let unit = cut.kernel.unit.bytes();
    let first = (dispatch.output.offset + u64::from(window.output_start) * unit) / cut.slice_bytes;
    let first_part = first / cut.dims.index_count;
    (0..window.output_rows).map(move |row| {
        let index = window.first_index + row;
        let part = index / window.index_count;
        let batch = (window.first_outer + part) / window.outer_size;
        let index_row = batch * window.index_count + index % window.index_count;
        let part_start = u64::from(part) * number(window.held_rows);
        let bound = number(window.params_first_row);
        let bound = bound..bound + u64::from(window.params_rows);
        assert_eq!(
            first_part + u64::from(part),
            (first + u64::from(row)) / cut.dims.index_count
        );
        assert_eq!(
            u64::from(window.first_n) + u64::from(index % window.index_count),
            (first + u64::from(row)) % cut.dims.index_count
        );
        Row {
            output_row: first + u64::from(row),
            index_row: number(window.index_row_base) + u64::from(index_row),
            bound: bound.start.saturating_sub(part_start)..bound.end.saturating_sub(part_start),
        }
    })
}

/// Follows every row of every dispatch: each finds its index row, and each params row is bound for each of
/// its output rows just once.
pub(super) fn assert_each_row_once(
    plan: &GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
    device_type: wgpu::DeviceType,
) -> usize {
    let cut = cut_for(plan, element_bytes, limits, device_type);
    let dims = plan.dims();
    let mut bound = vec![Vec::new(); usize::try_from(dims.output_rows()).expect("a small plan")];
    let mut slice_bytes = 0;
    let dispatches: Vec<Dispatch> = cut.dispatches().collect();
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, limits, plan);
        let part_bytes = u64::from(dispatch.window.slice_units) * cut.kernel.unit.bytes();
        if dispatch.window.reports == 1 {
            slice_bytes = part_bytes;
        }
        for (number_of, row) in (0..).zip(rows_of(&cut, dispatch)) {
            if dispatch.one_part {
                let first = number(dispatch.window.index_row_base);
                assert_eq!(row.index_row, first + number_of, "{plan}");
                assert_eq!(row.bound, 0..dims.row_count.max(1), "{plan}");
            }
            let part = row.output_row / dims.index_count;
            let index_row =
                part / dims.outer_size * dims.index_count + row.output_row % dims.index_count;
            assert_eq!(row.index_row, index_row, "{plan}");
            let rows = &mut bound[usize::try_from(row.output_row).expect("a small plan")];
            let end = row.bound.end.min(dims.row_count.max(1));
            for params_row in row.bound.start..end {
                rows.push((params_row, dispatch.window.reports));
            }
        }
    }
    for rows in &mut bound {
        let mut reporting: Vec<u64> = rows
            .iter()
            .filter(|row| row.1 == 1)
            .map(|row| row.0)
            .collect();
        reporting.sort_unstable();
        let all: Vec<u64> = (0..dims.row_count.max(1)).collect();
        assert_eq!(reporting, all, "{plan}");
        let parts = (cut.slice_bytes).div_ceil(slice_bytes);
        assert_eq!(rows.len() as u64, all.len() as u64 * parts, "{plan}");
    }
    dispatches.len()
}

/// Every binding is aligned, no larger than the limit, and holds what the dispatch counts in it.
pub(super) fn assert_fits(
    cut: &Cut<'_>,
    dispatch: &Dispatch,
    limits: &wgpu::Limits,
    plan: &GatherPlan,
) {
    let window = &dispatch.window;
    let unit = cut.kernel.unit.bytes();
    for span in [dispatch.params, dispatch.indices, dispatch.output] {
        assert_eq!(
            span.offset % u64::from(limits.min_storage_buffer_offset_alignment),
            0,
            "{plan}"
        );
        assert!(
            span.bytes <= limits.max_storage_buffer_binding_size,
            "{plan}: {span:?}"
        );
        assert_eq!(span.bytes % 4, 0, "{plan}");
    }
    if dispatch.grouped {
        // Indices are read as vectors, and slices of a word are stored as vectors.
        let is_packed = cut.kernel.unit == Unit::Word && cut.kernel.one_unit;
        assert_eq!(window.indices_start % 4, 0, "{plan}");
        assert!(
            !is_packed || window.output_start.is_multiple_of(4),
            "{plan}"
        );
    }
    let slices = |start: u32, rows: u32| {
        (u64::from(start) + u64::from(rows) * u64::from(window.slice_units)) * unit
    };
    assert!(
        slices(window.output_start, window.output_rows) <= dispatch.output.bytes,
        "{plan}"
    );
    if cut.dims.row_count > 0 {
        assert!(
            slices(window.params_start, window.params_rows) <= dispatch.params.bytes,
            "{plan}"
        );
    }
    let (width, height) = dispatch.workgroups;
    let most = limits.max_compute_workgroups_per_dimension;
    assert!(
        width <= most && height <= most && width == window.grid_width,
        "{plan}"
    );
    let invocations = u64::from(width) * u64::from(height) * u64::from(WORKGROUP_SIZE);
    let needed = match cut.kernel.unit {
        Unit::Byte => slices(window.output_start % 4, window.output_rows).div_ceil(4),
        _ if dispatch.grouped => {
            u64::from(window.output_rows / 4).div_ceil(cut.kernel.groups.into())
        }
        _ => u64::from(window.output_rows) << window.lanes_log2,
    };
    assert_eq!(dispatch.invocations, needed, "{plan}");
    assert!(needed <= invocations && invocations <= 1 << 32, "{plan}");
}
