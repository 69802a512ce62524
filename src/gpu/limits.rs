//! What the shaders need of any device; WebGPU's defaults have all of it. Pure.

use super::kernel::{WORKGROUP_SIZE, binding};
use super::report::REPORT_BYTES;
use super::uniform::UNIFORM_BYTES;
use crate::error::GatherError;

/// Checks the limits of a device for gathers with or without a report, and with or without a count of index rows.
pub(crate) fn check_limits(
    limits: &wgpu::Limits,
    report: bool,
    counted: bool,
) -> Result<(), GatherError> {
    let invocations = u64::from(WORKGROUP_SIZE);
    // Bindings are numbered from 0.
    let last_binding = match (counted, report) {
        (true, _) => binding::GRID,
        (false, true) => binding::REPORT,
        (false, false) => binding::OUTPUT,
    };
    for (name, expected, found) in [
        ("max_bind_groups", 1, limits.max_bind_groups.into()),
        (
            "max_bindings_per_bind_group",
            u64::from(last_binding) + 1,
            limits.max_bindings_per_bind_group.into(),
        ),
        (
            "max_storage_buffers_per_shader_stage",
            3 + u64::from(report),
            limits.max_storage_buffers_per_shader_stage.into(),
        ),
        (
            "max_uniform_buffers_per_shader_stage",
            1,
            limits.max_uniform_buffers_per_shader_stage.into(),
        ),
        (
            "max_uniform_buffer_binding_size",
            UNIFORM_BYTES,
            limits.max_uniform_buffer_binding_size,
        ),
        ("max_buffer_size", UNIFORM_BYTES, limits.max_buffer_size),
        (
            "max_storage_buffer_binding_size",
            match (counted, report) {
                (true, _) => UNIFORM_BYTES,
                (false, true) => REPORT_BYTES,
                (false, false) => 0,
            },
            limits.max_storage_buffer_binding_size,
        ),
        (
            "max_compute_invocations_per_workgroup",
            invocations,
            limits.max_compute_invocations_per_workgroup.into(),
        ),
        (
            "max_compute_workgroup_size_x",
            invocations,
            limits.max_compute_workgroup_size_x.into(),
        ),
        (
            "max_compute_workgroups_per_dimension",
            1,
            limits.max_compute_workgroups_per_dimension.into(),
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
    Ok(())
}
