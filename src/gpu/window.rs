//! Fitting a plan to a device: what the shader reads of it, as `u32`, and the size of its dispatch. Pure: a
//! function of sizes and limits. A plan that does not fit in one window is refused here.

use bytemuck::{Pod, Zeroable};

use super::kernel::{Kernel, WORKGROUP_SIZE};
use crate::dims::GatherDims;
use crate::element::IndexKind;
use crate::error::{GatherError, Operand};

/// Storage bindings are whole words.
pub(crate) const WORD_BYTES: u32 = 4;

/// The sizes that the shader reads, in its units: `GatherWindow` of shaders/gather.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct GatherWindow {
    pub(crate) output_rows: u32,
    pub(crate) outer_size: u32,
    pub(crate) index_count: u32,
    pub(crate) index_depth: u32,
    pub(crate) indexed_dims: [u32; 8],
    pub(crate) row_count: u32,
    pub(crate) slice_units: u32,
    pub(crate) lanes_log2: u32,
    pub(crate) grid_width: u32,
}

/// The bytes of each operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperandBytes {
    pub(crate) params: u64,
    pub(crate) indices: u64,
    pub(crate) output: u64,
}

impl OperandBytes {
    pub(crate) fn new(
        dims: &GatherDims,
        element_bytes: u64,
        index_kind: IndexKind,
    ) -> Result<Self, GatherError> {
        let bytes = |operand, elements: u64, element_bytes| {
            elements
                .checked_mul(element_bytes)
                .filter(|&bytes| bytes <= i64::MAX.unsigned_abs())
                .ok_or(GatherError::TooManyBytes {
                    operand,
                    elements,
                    element_bytes,
                })
        };
        Ok(Self {
            params: bytes(Operand::Params, dims.params_len(), element_bytes)?,
            indices: bytes(Operand::Indices, dims.indices_len(), index_kind.bytes())?,
            output: bytes(Operand::Output, dims.output_len(), element_bytes)?,
        })
    }
}

/// The bytes that an operand's range holds: its own, rounded up to whole words.
pub(crate) const fn range_bytes(operand_bytes: u64) -> u64 {
    operand_bytes.next_multiple_of(WORD_BYTES as u64)
}

/// One dispatch: the kernel, the sizes it reads and the grid it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) kernel: Kernel,
    pub(crate) window: GatherWindow,
    pub(crate) workgroups: (u32, u32),
}

impl Dispatch {
    /// The one dispatch that does all of a plan, or `None` if its output is empty.
    pub(crate) fn whole(
        dims: &GatherDims,
        bytes: &OperandBytes,
        element_bytes: u64,
        limits: &wgpu::Limits,
    ) -> Result<Option<Self>, GatherError> {
        if bytes.output == 0 {
            return Ok(None);
        }
        check_binding(Operand::Params, bytes.params, limits)?;
        check_binding(Operand::Indices, bytes.indices, limits)?;
        check_binding(Operand::Output, bytes.output, limits)?;

        let slice_bytes = dims.slice_len * element_bytes;
        let kernel = Kernel::choose(dims, slice_bytes);
        let workgroups = grid(kernel.invocations(dims.output_rows(), bytes.output), limits)?;
        // The output is not empty and its bytes fit, so every size that makes it up fits; so do the dims of
        // params and the rows of indices, whose bytes fit too.
        let size = |size: u64| {
            u32::try_from(size).expect("a size of operands that fit in 32 bits of bytes")
        };
        let mut indexed_dims = [0; 8];
        for (window_dim, &dim) in indexed_dims.iter_mut().zip(&dims.indexed_dims) {
            *window_dim = size(dim);
        }
        let window = GatherWindow {
            output_rows: size(dims.output_rows()),
            outer_size: size(dims.outer_size),
            index_count: size(dims.index_count),
            index_depth: size(dims.index_depth() as u64),
            indexed_dims,
            row_count: size(dims.row_count),
            slice_units: size(slice_bytes / kernel.unit.bytes()),
            lanes_log2: kernel.lanes_log2,
            grid_width: workgroups.0,
        };
        Ok(Some(Self {
            kernel,
            window,
            workgroups,
        }))
    }
}

/// Whether an operand fits in one binding. Beyond 32 bits of bytes the shader could not count, whatever a
/// device may bind.
pub(crate) fn check_binding(
    operand: Operand,
    operand_bytes: u64,
    limits: &wgpu::Limits,
) -> Result<(), GatherError> {
    let bytes = range_bytes(operand_bytes);
    let limit = limits
        .max_storage_buffer_binding_size
        .min(u64::from(u32::MAX));
    if bytes > limit {
        return Err(GatherError::BindingTooLarge {
            operand,
            bytes,
            limit,
        });
    }
    Ok(())
}

/// What the shaders need of any device; WebGPU's defaults have all of it.
pub(crate) fn check_limits(limits: &wgpu::Limits, report: bool) -> Result<(), GatherError> {
    let window_bytes = size_of::<GatherWindow>() as u64;
    let invocations = u64::from(WORKGROUP_SIZE);
    let report = u64::from(report);
    for (name, expected, found) in [
        ("max_bind_groups", 1, limits.max_bind_groups.into()),
        (
            "max_bindings_per_bind_group",
            4 + report,
            limits.max_bindings_per_bind_group.into(),
        ),
        (
            "max_storage_buffers_per_shader_stage",
            3 + report,
            limits.max_storage_buffers_per_shader_stage.into(),
        ),
        (
            "max_uniform_buffers_per_shader_stage",
            1,
            limits.max_uniform_buffers_per_shader_stage.into(),
        ),
        (
            "max_uniform_buffer_binding_size",
            window_bytes,
            limits.max_uniform_buffer_binding_size,
        ),
        ("max_buffer_size", window_bytes, limits.max_buffer_size),
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

/// As few rows of workgroups as the device allows, of equal width, that hold all invocations.
///
/// Operands that fit in bindings have at most 2^30 invocations, so their numbers fit in 32 bits, those of the
/// last row's end too.
fn grid(invocations: u64, limits: &wgpu::Limits) -> Result<(u32, u32), GatherError> {
    let per_dimension = u64::from(limits.max_compute_workgroups_per_dimension);
    let workgroups = invocations.div_ceil(u64::from(WORKGROUP_SIZE));
    let height = workgroups.div_ceil(per_dimension.max(1));
    let width = workgroups.div_ceil(height);
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(width), Ok(height)) if u64::from(width.max(height)) <= per_dimension => {
            Ok((width, height))
        }
        _ => {
            let limit = per_dimension.saturating_mul(per_dimension);
            Err(GatherError::DispatchTooLarge { workgroups, limit })
        }
    }
}

#[cfg(test)]
mod tests;
