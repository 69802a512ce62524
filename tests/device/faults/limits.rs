//! Devices with limits below WebGPU's defaults: a gather is right, or an error that names the limit.

use libtest_mimic::Trial;
use wgpu_gather::{GatherError, GpuError, wgpu};

use crate::support::{Machine, Work, on_both};

pub fn trials() -> Vec<Trial> {
    let mut trials = on_both(
        "a device with the downlevel defaults gathers",
        downlevel_defaults,
    );
    trials.extend(on_both(
        "a device without storage bindings says so",
        webgl2_defaults,
    ));
    trials.extend(on_both(
        "a device below one needed limit names it",
        one_limit_less,
    ));
    trials
}

fn downlevel_defaults(machine: &Machine) {
    for limits in [wgpu::Limits::default(), wgpu::Limits::downlevel_defaults()] {
        let app = machine.app_with(limits).unwrap();
        for work in [Work::small(), Work::rows(100, 3, 70_000)] {
            assert!(app.gather(&work) == Ok(machine.answer(&work)));
        }
        app.assert_handlers_are_the_apps();
    }
}

fn webgl2_defaults(machine: &Machine) {
    let app = machine
        .app_with(wgpu::Limits::downlevel_webgl2_defaults())
        .unwrap();
    let text = app.gather(&Work::small()).unwrap_err().to_string();
    let told = text.starts_with("device limit ") || text.contains("at most 0 bytes");
    assert!(told, "{text}");
    app.assert_handlers_are_the_apps();
}

/// Sets one limit below what a gather needs.
type Lower = fn(&mut wgpu::Limits);

const TOO_LOW: [(&str, Lower); 4] = [
    ("max_storage_buffers_per_shader_stage", |limits| {
        limits.max_storage_buffers_per_shader_stage = 2;
    }),
    ("max_uniform_buffers_per_shader_stage", |limits| {
        limits.max_uniform_buffers_per_shader_stage = 0;
    }),
    ("max_compute_invocations_per_workgroup", |limits| {
        limits.max_compute_invocations_per_workgroup = 32;
    }),
    ("max_compute_workgroup_size_x", |limits| {
        limits.max_compute_workgroup_size_x = 32;
    }),
];

fn one_limit_less(machine: &Machine) {
    for (expected, lower) in TOO_LOW {
        let mut limits = wgpu::Limits::downlevel_defaults();
        lower(&mut limits);
        let app = machine.app_with(limits).unwrap();
        let error = app.gather(&Work::small()).unwrap_err();
        let GpuError::Gather(GatherError::DeviceLimit { name, .. }) = error else {
            panic!("{expected}: {error:?}");
        };
        assert_eq!(name, expected);
        app.assert_handlers_are_the_apps();
    }
}
