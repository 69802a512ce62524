//! The dispatches of masks of any size, checked without a device.

use super::*;
use crate::{Gather, GatherElements, GatherNd};

fn limits(binding_bytes: u64, alignment: u32, workgroups: u32) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: binding_bytes,
        min_storage_buffer_offset_alignment: alignment,
        max_compute_workgroups_per_dimension: workgroups,
        ..Default::default()
    }
}

/// `index_rows` index rows of `index_depth` values.
fn plan(index_rows: usize, index_depth: usize) -> GatherPlan {
    let plan = GatherNd::new().plan(&[1; 8], &[index_rows, index_depth]);
    plan.expect("a valid shape")
}

/// Checks that the dispatches check each index row once, in order, within the limits; returns the rows of each.
fn checked(plan: &GatherPlan, index_kind: IndexKind, limits: &wgpu::Limits) -> Vec<u64> {
    let alignment = alignment(limits);
    checked_at(
        [alignment - index_kind.bytes(), 4],
        plan,
        index_kind,
        limits,
    );
    checked_at([0; 2], plan, index_kind, limits)
}

/// As [`checked`], with indices and mask that start some bytes after an aligned offset.
fn checked_at(
    starts: [u64; 2],
    plan: &GatherPlan,
    index_kind: IndexKind,
    limits: &wgpu::Limits,
) -> Vec<u64> {
    let dispatches = MaskDispatch::all(plan, index_kind, starts, limits).expect("four rows fit");
    let row_bytes = plan.dims().index_depth() as u64 * index_kind.bytes();
    let alignment = alignment(limits);
    let width = limits.max_compute_workgroups_per_dimension;
    let mut row = 0_u64;
    for dispatch in &dispatches {
        assert!(row.is_multiple_of(4), "row {row} starts within a word");
        let end = row + dispatch.rows;
        let [indices_start, mask_start] = starts;
        for (span, start, bytes) in [
            (dispatch.mask, mask_start, 1),
            (dispatch.indices, indices_start, row_bytes),
        ] {
            if bytes == 0 {
                assert_eq!(span, BoundRange::default());
                continue;
            }
            assert!(span.offset.is_multiple_of(alignment) && span.start < alignment);
            assert_eq!(span.offset + span.start, start + row * bytes);
            assert_eq!(span.offset + span.bytes, range_bytes(start + end * bytes));
            assert!(span.bytes <= limits.max_storage_buffer_binding_size);
        }
        let [x, y, _] = dispatch.workgroups;
        let lanes = u64::from(x) * u64::from(y) * 256;
        assert!(x <= width && y <= width && lanes * 4 >= dispatch.rows);
        let pass = dispatch.pass(plan, index_kind, false);
        let uniform = pass.uniform.expect("a uniform");
        let starts = [uniform.indices_start, uniform.output_start].map(u64::from);
        let [indices, mask] = [dispatch.indices.start, dispatch.mask.start];
        assert_eq!(starts, [indices / index_kind.bytes().min(4), mask / 4]);
        assert_eq!(u64::from(uniform.rows), dispatch.rows);
        row = end;
    }
    assert_eq!(row, plan.dims().index_rows());
    dispatches.iter().map(|dispatch| dispatch.rows).collect()
}

#[test]
fn a_mask_within_the_limits_is_one_dispatch() {
    let plan = Gather::new().axis(1).plan(&[5, 7, 3], &[300, 7]);
    let plan = plan.expect("a valid shape");
    let found = MaskDispatch::all(&plan, IndexKind::I64, [0; 2], &wgpu::Limits::default());
    let span = |bytes| BoundRange {
        offset: 0,
        bytes,
        start: 0,
    };
    // 2,100 index rows for 5 outer coordinates are 525 words, for three workgroups.
    let expected = MaskDispatch {
        rows: 2100,
        workgroups: [3, 1, 1],
        indices: span(16800),
        mask: span(2100),
    };
    assert_eq!(found, Ok(vec![expected]));
    let pass = expected.pass(&plan, IndexKind::I64, false);
    let uniform = pass.uniform.expect("a uniform");
    assert_eq!((uniform.rows, uniform.grid_width), (2100, 3));
    assert_eq!(
        (uniform.general.index_depth, uniform.general.index_bits_log2),
        (1, 6)
    );
    assert_eq!((uniform.dims[0], uniform.from_end), ([7, 0], 0));
}

#[test]
fn without_index_rows_there_is_no_dispatch() {
    for index_depth in [0, 1, 3] {
        assert!(checked(&plan(0, index_depth), IndexKind::I32, &limits(0, 256, 0)).is_empty());
    }
}

#[test]
fn bindings_and_workgroups_cut_a_mask() {
    for (index_rows, index_depth) in [(1, 1), (6, 0), (1023, 1), (1025, 2), (5000, 3), (9999, 8)] {
        for &index_kind in IndexKind::ALL {
            for alignment in [4, 32, 256] {
                for binding_bytes in [512, 516, 1000, 4096, 1 << 20] {
                    for workgroups in [1, 2, 65_535] {
                        let limits = limits(binding_bytes, alignment, workgroups);
                        checked(&plan(index_rows, index_depth), index_kind, &limits);
                    }
                }
            }
        }
    }
    let rows = |index_rows, depth, kind, limits: &wgpu::Limits| {
        checked(&plan(index_rows, depth), kind, limits)
    };
    // Indices fill the binding; from row 252 on they start 240 bytes after an aligned offset.
    let found = rows(700, 1, IndexKind::I32, &limits(1008, 256, 9));
    assert_eq!(found, [252, 192, 192, 64]);
    // The mask fills the binding.
    let found = rows(2000, 1, IndexKind::U8, &limits(1024, 256, 9));
    assert_eq!(found, [1024, 976]);
    // Four workgroups of 1,024 rows.
    let found = rows(10_000, 0, IndexKind::U8, &limits(1 << 20, 256, 2));
    assert_eq!(found, [4096, 4096, 1808]);
}

#[test]
fn rows_beyond_32_bits_are_in_the_mask() {
    let found = checked(
        &plan(5 << 30, 1),
        IndexKind::U8,
        &limits(1 << 40, 256, 65_535),
    );
    assert_eq!(found, [1 << 31, 1 << 31, 1 << 30]);
    let found = checked(
        &plan(5 << 30, 1),
        IndexKind::U8,
        &limits(1 << 40, 256, 1 << 11),
    );
    assert_eq!(found, [1 << 31, 1 << 31, 1 << 30]);
    let found = checked(
        &plan(1 << 31, 8),
        IndexKind::I64,
        &limits(1 << 31, 256, 65_535),
    );
    assert_eq!(found, [1 << 25; 64]);
}

#[test]
fn a_binding_that_holds_no_four_rows_is_refused() {
    let refused = |plan: &GatherPlan, kind, limits: &wgpu::Limits| {
        let error = MaskDispatch::all(plan, kind, [0; 2], limits).expect_err("too low a limit");
        error.to_string()
    };
    let name = "device limit max_storage_buffer_binding_size must be at least";
    for (index_rows, index_depth, kind, least) in [
        (3, 1, IndexKind::U8, 4),
        (3, 0, IndexKind::I64, 4),
        (9, 1, IndexKind::I16, 20),
        (1000, 1, IndexKind::I16, 256),
        (1000, 5, IndexKind::I32, 320),
        (1000, 8, IndexKind::I64, 256),
    ] {
        let plan = plan(index_rows, index_depth);
        checked_at([0; 2], &plan, kind, &limits(least, 256, 1));
        let text = refused(&plan, kind, &limits(least - 4, 256, 1));
        assert_eq!(text, format!("{name} {least}, found {}", least - 4));
    }
    let limits = wgpu::Limits {
        max_bindings_per_bind_group: 9,
        ..Default::default()
    };
    let text = "device limit max_bindings_per_bind_group must be at least 10, found 9";
    assert_eq!(refused(&plan(3, 1), IndexKind::U8, &limits), text);
}

/// No shader of a mask reads a number of params rows, which may be any where the output is empty.
#[test]
fn params_past_32_bits_have_masks() {
    for (axis, params, indices) in [
        (2, [0, 2, 1 << 32], [1, 2, 1]),
        (0, [1 << 40, 2, 0], [3, 2, 1]),
        (1, [0, 1 << 20, 1 << 20], [1, 5, 1]),
    ] {
        let gather = GatherElements::new().axis(axis).broadcast(true);
        let plan = gather.plan(&params, &indices).expect("a valid shape");
        assert_eq!(plan.output_len(), 0);
        for &index_kind in IndexKind::ALL {
            checked(&plan, index_kind, &wgpu::Limits::default());
        }
    }
}
