//! Windows and grids of chosen plans within chosen limits. Pure.

use super::*;
use crate::gpu::kernel::Unit;
use crate::{Gather, GatherNd, GatherPlan};

const GIB: usize = 1 << 30;

fn gather(params_shape: &[usize], indices_shape: &[usize]) -> GatherPlan {
    Gather::new()
        .plan(params_shape, indices_shape)
        .expect("a valid shape")
}

/// The dispatch of a plan with `i32` indices.
fn dispatch(
    plan: &GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
) -> Result<Option<Dispatch>, GatherError> {
    let bytes = OperandBytes::new(plan.dims(), element_bytes, IndexKind::I32)?;
    Dispatch::whole(plan.dims(), &bytes, element_bytes, limits)
}

#[track_caller]
fn assert_workgroups(
    plan: &GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
    expected: (u32, u32),
) {
    let dispatch = dispatch(plan, element_bytes, limits)
        .expect("the plan fits")
        .expect("the output is not empty");
    assert_eq!(dispatch.workgroups, expected, "{plan}");
    assert_eq!(dispatch.window.grid_width, expected.0, "{plan}");
}

#[track_caller]
fn assert_refused(plan: &GatherPlan, element_bytes: u64, limits: &wgpu::Limits, text: &str) {
    let error = dispatch(plan, element_bytes, limits).expect_err("the plan does not fit");
    assert_eq!(error.to_string(), text, "{plan}");
}

#[test]
fn a_window_of_gather_nd_holds_its_sizes_in_words() {
    let plan = GatherNd::new()
        .batch_dims(1)
        .plan(&[2, 3, 4, 5], &[2, 6, 2]);
    let plan = plan.expect("a valid shape");
    let expected = Dispatch {
        kernel: Kernel {
            unit: Unit::Word,
            lanes_log2: 0,
        },
        window: GatherWindow {
            output_rows: 12,
            outer_size: 1,
            index_count: 6,
            index_depth: 2,
            indexed_dims: [3, 4, 0, 0, 0, 0, 0, 0],
            row_count: 12,
            slice_units: 5,
            lanes_log2: 0,
            grid_width: 1,
        },
        workgroups: (1, 1),
    };
    assert_eq!(
        dispatch(&plan, 4, &wgpu::Limits::default()),
        Ok(Some(expected))
    );
}

#[test]
fn a_window_of_gather_holds_its_sizes_in_units_of_16_bytes() {
    let plan = Gather::new()
        .axis(2)
        .batch_dims(1)
        .plan(&[2, 3, 7, 64], &[2, 5]);
    let plan = plan.expect("a valid shape");
    let expected = Dispatch {
        kernel: Kernel {
            unit: Unit::Vec4,
            lanes_log2: 2,
        },
        window: GatherWindow {
            output_rows: 30,
            outer_size: 3,
            index_count: 5,
            index_depth: 1,
            indexed_dims: [7, 0, 0, 0, 0, 0, 0, 0],
            row_count: 7,
            slice_units: 16,
            lanes_log2: 2,
            grid_width: 2,
        },
        workgroups: (2, 1),
    };
    assert_eq!(
        dispatch(&plan, 4, &wgpu::Limits::default()),
        Ok(Some(expected))
    );
}

#[test]
fn bytes_have_an_invocation_for_each_word() {
    let limits = wgpu::Limits::default();
    assert_workgroups(&gather(&[9, 3], &[85]), 1, &limits, (1, 1));
    assert_workgroups(&gather(&[9, 3], &[86]), 1, &limits, (2, 1));
}

#[test]
fn an_index_depth_of_zero_has_no_indexed_dims() {
    let plan = GatherNd::new().plan(&[2, 3], &[5, 0]);
    let plan = plan.expect("a valid shape");
    let dispatch = dispatch(&plan, 2, &wgpu::Limits::default());
    let window = dispatch.expect("it fits").expect("it has output").window;
    assert_eq!((window.index_depth, window.indexed_dims), (0, [0; 8]));
    assert_eq!(
        (window.row_count, window.index_count, window.slice_units),
        (1, 5, 3)
    );
}

#[test]
fn workgroups_beyond_one_dimension_fill_rows_of_equal_width() {
    let limits = wgpu::Limits::default();
    let rows = |workgroups: usize| gather(&[2], &[workgroups * 64]);
    assert_workgroups(&rows(65_535), 4, &limits, (65_535, 1));
    assert_workgroups(&rows(65_536), 4, &limits, (32_768, 2));
    assert_workgroups(&rows(2 * 65_535), 4, &limits, (65_535, 2));
    assert_workgroups(&rows(2 * 65_535 + 1), 4, &limits, (43_691, 3));
}

#[test]
fn a_grid_holds_all_invocations_and_less_than_one_more_workgroup_a_row() {
    for per_dimension in [1, 2, 3, 7, 100, 65_535, u32::MAX] {
        let limits = wgpu::Limits {
            max_compute_workgroups_per_dimension: per_dimension,
            ..Default::default()
        };
        let most = u64::from(per_dimension).pow(2).min(1 << 24);
        for workgroups in (1..300).chain([most - most / 3, most]) {
            if workgroups > most {
                continue;
            }
            let invocations = workgroups * u64::from(WORKGROUP_SIZE);
            let (width, height) = grid(invocations, &limits).expect("it fits");
            let found = u64::from(width) * u64::from(height);
            assert!(width.max(height) <= per_dimension, "{workgroups}");
            assert!(
                (workgroups..workgroups + u64::from(height)).contains(&found),
                "{workgroups}"
            );
            assert_eq!(grid(invocations - 63, &limits), Ok((width, height)));
        }
    }
}

#[test]
fn an_operand_of_just_the_binding_limit_fits() {
    let limits = wgpu::Limits::default();
    assert_eq!(limits.max_storage_buffer_binding_size, 134_217_728);
    for (plan, element_bytes) in [
        (gather(&[33_554_432], &[1]), 4),
        (gather(&[2], &[33_554_432]), 1),
        (gather(&[2, 4 << 20], &[32]), 1),
        (gather(&[134_217_728], &[1]), 1),
    ] {
        assert!(
            matches!(dispatch(&plan, element_bytes, &limits), Ok(Some(_))),
            "{plan}"
        );
    }
}

#[test]
fn each_operand_beyond_the_binding_limit_is_refused() {
    let limits = wgpu::Limits::default();
    assert_refused(
        &gather(&[33_554_433], &[1]),
        4,
        &limits,
        "params must have at most 134217728 bytes on this device, found 134217732",
    );
    assert_refused(
        &gather(&[134_217_729], &[1]),
        1,
        &limits,
        "params must have at most 134217728 bytes on this device, found 134217732",
    );
    assert_refused(
        &gather(&[2], &[33_554_433]),
        1,
        &limits,
        "indices must have at most 134217728 bytes on this device, found 134217732",
    );
    assert_refused(
        &gather(&[2, 4 << 20], &[33]),
        1,
        &limits,
        "output must have at most 134217728 bytes on this device, found 138412032",
    );
}

#[test]
fn more_workgroups_than_two_dimensions_hold_are_refused() {
    let limits = |per_dimension| wgpu::Limits {
        max_compute_workgroups_per_dimension: per_dimension,
        ..Default::default()
    };
    assert_workgroups(&gather(&[2], &[256]), 4, &limits(2), (2, 2));
    assert_refused(
        &gather(&[2], &[257]),
        4,
        &limits(2),
        "a dispatch must have at most 4 workgroups on this device, found 5",
    );
    assert_refused(
        &gather(&[2], &[1]),
        4,
        &limits(0),
        "a dispatch must have at most 0 workgroups on this device, found 1",
    );
}

#[test]
fn an_empty_output_needs_no_dispatch_whatever_the_limits() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 0,
        max_compute_workgroups_per_dimension: 0,
        ..Default::default()
    };
    for plan in [
        gather(&[1 << 40], &[0]),
        gather(&[1 << 40, 0], &[3]),
        Gather::new()
            .axis(1)
            .plan(&[0, 1 << 40], &[7])
            .expect("a valid shape"),
    ] {
        assert_eq!(dispatch(&plan, 4, &limits), Ok(None), "{plan}");
    }
}

#[test]
fn sizes_beyond_32_bits_of_bytes_are_refused_by_any_device() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: u64::MAX,
        max_compute_workgroups_per_dimension: u32::MAX,
        ..Default::default()
    };
    assert_workgroups(&gather(&[2], &[GIB - 1]), 4, &limits, (1 << 24, 1));
    assert_workgroups(&gather(&[4 * GIB - 4], &[1]), 1, &limits, (1, 1));
    let found = 4 * GIB;
    assert_refused(
        &gather(&[GIB], &[1]),
        4,
        &limits,
        &format!("params must have at most 4294967295 bytes on this device, found {found}"),
    );
    assert_refused(
        &gather(&[4 * GIB - 3], &[1]),
        1,
        &limits,
        &format!("params must have at most 4294967295 bytes on this device, found {found}"),
    );
    assert_refused(
        &gather(&[2], &[GIB]),
        1,
        &limits,
        &format!("indices must have at most 4294967295 bytes on this device, found {found}"),
    );
    assert_refused(
        &gather(&[2, GIB], &[4]),
        1,
        &limits,
        &format!("output must have at most 4294967295 bytes on this device, found {found}"),
    );
}

#[test]
fn bytes_that_cannot_be_counted_are_refused() {
    assert_refused(
        &gather(&[1 << 62], &[1]),
        4,
        &wgpu::Limits::default(),
        "params must have at most 9223372036854775807 bytes, found 4611686018427387904 elements of 4 bytes",
    );
    assert_refused(
        &gather(&[2], &[1 << 62]),
        1,
        &wgpu::Limits::default(),
        "indices must have at most 9223372036854775807 bytes, found 4611686018427387904 elements of 4 bytes",
    );
    assert_refused(
        &gather(&[2, 1 << 40], &[1 << 20]),
        16,
        &wgpu::Limits::default(),
        "output must have at most 9223372036854775807 bytes, found 1152921504606846976 elements of 16 bytes",
    );
}

#[test]
fn huge_plans_get_an_error_or_a_grid_that_holds_them() {
    let sizes = [0, 1, 3, 1 << 20, 1 << 31, 1 << 32, 1 << 40];
    let bytes = [1, 3, 4, 16, 1 << 33, u64::MAX];
    let limits = [0, 1 << 27, u64::MAX].map(|bytes| wgpu::Limits {
        max_storage_buffer_binding_size: bytes,
        ..Default::default()
    });
    let (mut fitting, mut refused, mut empty) = (0, 0, 0);
    for shape in sizes.map(|rows| sizes.map(|inner| [rows, inner])).concat() {
        for indices in sizes {
            let Ok(plan) = Gather::new().plan(&shape, &[indices]) else {
                continue;
            };
            for (&element_bytes, limits) in bytes
                .iter()
                .flat_map(|bytes| limits.iter().map(move |limits| (bytes, limits)))
            {
                match dispatch(&plan, element_bytes, limits) {
                    Ok(None) => empty += 1,
                    Err(_) => refused += 1,
                    Ok(Some(dispatch)) => {
                        fitting += 1;
                        let (width, height) = dispatch.workgroups;
                        let invocations = u64::from(width) * u64::from(height) * 64;
                        let dims = plan.dims();
                        let output_bytes = dims.output_len() * element_bytes;
                        assert!(
                            invocations
                                >= dispatch
                                    .kernel
                                    .invocations(dims.output_rows(), output_bytes),
                            "{plan}"
                        );
                    }
                }
            }
        }
    }
    assert!(
        fitting > 50 && refused > 500 && empty > 100,
        "{fitting} {refused} {empty}"
    );
}
