//! Devices whose limits are below what a gather needs.

use testkit::gpu::buffers_of;
use wgpu_gather::{
    BadIndices, BadRows, Buffers, ElementTypes, Gather, GatherError, GatherNd, GatherPlan,
    IndexKind, wgpu,
};

use super::{App, STORAGE, Set, f32s, plan};

/// A gather of `indices` rows out of `params`, each with `slice` elements.
fn rows(params: usize, slice: usize, indices: usize) -> GatherPlan {
    Gather::new().plan(&[params, slice], &[indices]).unwrap()
}

#[test]
fn an_operand_beyond_the_binding_limit_is_cut() {
    let app = App::binding(512);
    let buffers = [(); 3].map(|()| app.buffer(4096, STORAGE));
    let whole = operands(&buffers);
    for plan in [
        rows(1024, 1, 1),
        rows(1, 1, 1024),
        rows(2, 7, 100),
        rows(4, 200, 3),
    ] {
        app.assert_accepted(&plan, &whole);
    }
}

#[test]
fn a_binding_that_may_hold_no_row_is_refused() {
    let app = App::binding(128);
    let buffers = [(); 3].map(|()| app.buffer(4096, STORAGE));
    let whole = operands(&buffers);
    app.assert_accepted(&rows(8, 4, 8), &whole);
    for (plan, expected) in [
        (rows(33, 1, 1), 132),
        (rows(1, 1, 33), 132),
        (rows(99, 4, 1), 256),
    ] {
        let buffers = [(); 3].map(|()| app.buffer(4096, STORAGE));
        let whole = operands(&buffers);
        let text = format!(
            "device limit max_storage_buffer_binding_size must be at least {expected}, found 128"
        );
        app.assert_refused(&plan, &whole, &buffers.each_ref(), &text);
    }
}

#[test]
fn the_binding_limit_is_the_error_of_small_bindings() {
    let plans = [
        rows(3, 1, 2),
        rows(3, 4, 2),
        // Without params rows, and without index values, a dummy is bound.
        Gather::new()
            .bad_indices(BadIndices::Fill)
            .plan(&[0, 4], &[2])
            .unwrap(),
        GatherNd::new().plan(&[3], &[2, 0]).unwrap(),
    ];
    for limit in (0..=40).step_by(4).chain([7, 15, 64, 96, 252, 256]) {
        let app = App::binding(limit);
        let [params, indices, output] = [(); 3].map(|()| app.buffer(4096, STORAGE));
        let mask = app.buffer(4096, STORAGE);
        for plan in &plans {
            for index_kind in [IndexKind::U8, IndexKind::I32, IndexKind::I64] {
                for element_bytes in [1, 4, 16] {
                    let types = ElementTypes::new(element_bytes, index_kind);
                    let buffers = buffers_of(
                        types,
                        [params.slice(..), indices.slice(..), output.slice(..)],
                    );
                    for buffers in [buffers, buffers.mask(mask.slice(..))] {
                        let found = app.gatherer.prepare(plan, &buffers).map(drop);
                        let is_right = match &found {
                            Ok(()) => true,
                            Err(error) => matches!(
                                error,
                                GatherError::DeviceLimit {
                                    name: "max_storage_buffer_binding_size",
                                    ..
                                }
                            ),
                        };
                        assert!(
                            is_right,
                            "limit {limit}, {plan}, {types:?}, {buffers:?}: {found:?}"
                        );
                    }
                }
            }
        }
        app.assert_handler_heard_nothing();
    }
}

#[test]
fn a_report_beyond_the_binding_limit_is_refused() {
    let app = App::binding(64);
    let set = Set::new(&app);
    app.assert_accepted(&plan(), &set.without_report());
    let text = "device limit max_storage_buffer_binding_size must be at least 80, found 64";
    app.assert_refused(&plan(), &set.bound(), &set.all(), text);
}

#[test]
fn more_workgroups_than_the_device_dispatches_are_cut() {
    let app = App::with_limits(wgpu::Limits {
        max_compute_workgroups_per_dimension: 2,
        ..Default::default()
    });
    let buffers = [(); 3].map(|()| app.buffer(4096, STORAGE));
    let whole = operands(&buffers);
    app.assert_accepted(&rows(3, 1, 256), &whole);
    app.assert_accepted(&rows(3, 1, 1024), &whole);
}

/// Params, indices and output for gathering `f32` by `i32`.
fn operands([params, indices, output]: &[wgpu::Buffer; 3]) -> Buffers<'_> {
    f32s([params.slice(..), indices.slice(..), output.slice(..)])
}

/// Sets a limit that the shaders need, by its name.
fn set_limit(limits: &mut wgpu::Limits, name: &str, value: u32) {
    *match name {
        "max_bind_groups" => &mut limits.max_bind_groups,
        "max_bindings_per_bind_group" => &mut limits.max_bindings_per_bind_group,
        "max_storage_buffers_per_shader_stage" => &mut limits.max_storage_buffers_per_shader_stage,
        "max_uniform_buffers_per_shader_stage" => &mut limits.max_uniform_buffers_per_shader_stage,
        "max_compute_invocations_per_workgroup" => {
            &mut limits.max_compute_invocations_per_workgroup
        }
        "max_compute_workgroup_size_x" => &mut limits.max_compute_workgroup_size_x,
        "max_uniform_buffer_binding_size" => {
            limits.max_uniform_buffer_binding_size = value.into();
            return;
        }
        "max_buffer_size" => {
            limits.max_buffer_size = value.into();
            return;
        }
        other => panic!("{other} is no limit of the shaders"),
    } = value;
}

/// Names of limits, the least that a gather needs, and the least with a report.
const NEEDED: [(&str, u32, u32); 8] = [
    ("max_bind_groups", 1, 1),
    ("max_bindings_per_bind_group", 4, 6),
    ("max_storage_buffers_per_shader_stage", 3, 4),
    ("max_uniform_buffers_per_shader_stage", 1, 1),
    ("max_uniform_buffer_binding_size", 512, 512),
    ("max_buffer_size", 512, 512),
    ("max_compute_invocations_per_workgroup", 256, 256),
    ("max_compute_workgroup_size_x", 256, 256),
];

#[test]
fn a_device_below_what_the_shaders_need_is_refused() {
    for (name, needed, _) in NEEDED {
        let mut limits = wgpu::Limits::default();
        set_limit(&mut limits, name, needed - 1);
        let app = App::with_limits(limits);
        let buffers = [40, 16, 16].map(|size| app.buffer(size, STORAGE));
        let whole = operands(&buffers);
        let text = format!(
            "device limit {name} must be at least {needed}, found {}",
            needed - 1
        );
        app.assert_refused(&plan(), &whole, &buffers.each_ref(), &text);
    }
}

#[test]
fn a_report_needs_more_bindings() {
    for name in [
        "max_bindings_per_bind_group",
        "max_storage_buffers_per_shader_stage",
    ] {
        let (_, without, with) = NEEDED
            .into_iter()
            .find(|&(needed, ..)| needed == name)
            .unwrap();
        let mut limits = wgpu::Limits::default();
        set_limit(&mut limits, name, without);
        let app = App::with_limits(limits);
        let set = Set::new(&app);
        app.assert_accepted(&plan(), &set.without_report());
        let text = format!("device limit {name} must be at least {with}, found {without}");
        app.assert_refused(&plan(), &set.bound(), &set.all(), &text);
    }
}

#[test]
fn a_device_with_just_what_the_shaders_need_is_enough() {
    for report in [false, true] {
        let mut limits = wgpu::Limits {
            max_storage_buffer_binding_size: if report { BadRows::REPORT_BYTES } else { 40 },
            max_compute_workgroups_per_dimension: 1,
            max_compute_workgroup_size_y: 1,
            max_compute_workgroup_size_z: 1,
            max_compute_workgroup_storage_size: 0,
            max_immediate_size: 0,
            ..wgpu::Limits::downlevel_webgl2_defaults()
        };
        for (name, without, with) in NEEDED {
            set_limit(&mut limits, name, if report { with } else { without });
        }
        let app = App::with_limits(limits);
        let buffers = [40, 16, 16].map(|size| app.buffer(size, STORAGE));
        let mut whole = operands(&buffers);
        let noted;
        if report {
            noted = app.buffer(BadRows::REPORT_BYTES, STORAGE);
            whole = whole.report(noted.slice(..));
        }
        app.assert_accepted(&plan(), &whole);
    }
}

#[test]
fn lower_standard_limits_are_enough_or_an_error() {
    let app = App::with_limits(wgpu::Limits::downlevel_defaults());
    app.assert_accepted(&plan(), &Set::new(&app).bound());
    let app = App::with_limits(wgpu::Limits::downlevel_webgl2_defaults());
    let set = Set::new(&app);
    let text = "device limit max_compute_workgroups_per_dimension must be at least 1, found 0";
    app.assert_refused(&plan(), &set.without_report(), &set.all(), text);
    let empty = Gather::new().plan(&[10], &[0]).unwrap();
    let warmed = app.gatherer.warm_up(&empty, ElementTypes::of::<f32, i32>());
    assert_eq!(warmed, Ok(()));
}

/// Each block takes a dispatch, and one more counts its rows.
#[test]
fn an_index_count_of_too_many_blocks_is_refused() {
    let app = App::new();
    let plan = |blocks| Gather::new().axis(1).plan(&[blocks, 2], &[1]).unwrap();
    let buffers = [1 << 20, 256, 1 << 20, 4].map(|size| app.buffer(size, STORAGE));
    let [params, indices, output, count] = &buffers;
    let whole = f32s([params.slice(..), indices.slice(..), output.slice(..)]);
    app.assert_accepted(&plan(100_000), &whole);
    let counted = whole.index_count(count.slice(..));
    app.assert_accepted(&plan(1000), &counted);
    app.assert_refused(
        &plan(100_000),
        &counted,
        &buffers.each_ref(),
        "a call with an index count must take at most 65536 dispatches, found 100000 or more: each block takes its own",
    );
}
