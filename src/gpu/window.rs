//! What the shader reads of a plan, what a device must have, and how many workgroups a dispatch takes. Pure.

use bytemuck::{Pod, Zeroable};

use super::kernel::{WORKGROUP_SIZE, binding};
use super::report::REPORT_BYTES;
use crate::dims::GatherDims;
use crate::element::IndexKind;
use crate::error::{GatherError, Operand};

/// Storage bindings are whole words.
pub(crate) const WORD_BYTES: u32 = 4;

/// Dims that a window holds.
pub(crate) const MAX_PLACE_DIMS: usize = 8;

/// What one dispatch reads of the sizes, in its units: `GatherWindow` of shaders/gather.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct GatherWindow {
    pub(crate) output_rows: u32,
    pub(crate) index_count: u32,
    pub(crate) outer_size: u32,
    pub(crate) first_index: u32,
    pub(crate) first_outer: u32,
    pub(crate) index_depth: u32,
    pub(crate) slice_units: u32,
    pub(crate) lanes_log2: u32,
    pub(crate) held_rows: [u32; 2],
    pub(crate) first_row: [u32; 2],
    pub(crate) params_first_row: [u32; 2],
    pub(crate) params_rows: u32,
    pub(crate) params_start: u32,
    pub(crate) indices_start: u32,
    pub(crate) output_start: u32,
    pub(crate) grid_width: u32,
    pub(crate) reports: u32,
    pub(crate) index_row_base: [u32; 2],
    pub(crate) groups: u32,
    pub(crate) fill_words: u32,
    pub(crate) fill_start: u32,
    pub(crate) first_n: u32,
    pub(crate) index_stride: u32,
    pub(crate) place_dim_count: u32,
    pub(crate) most_output_rows: u32,
    pub(crate) of_bytes: u32,
    pub(crate) begins_report: u32,
    pub(crate) reporters: u32,
    pub(crate) indexed_dims: [[u32; 2]; 8],
    pub(crate) fill: [u32; 16],
    pub(crate) place_dims: [[u32; 2]; MAX_PLACE_DIMS],
}

pub(crate) const WINDOW_BYTES: u64 = size_of::<GatherWindow>() as u64;

/// The words of a number.
pub(crate) fn low_and_high(number: u64) -> [u32; 2] {
    [number & u64::from(u32::MAX), number >> u32::BITS]
        .map(|word| u32::try_from(word).expect("a word has 32 bits"))
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

/// What the shaders need of any device; WebGPU's defaults have all of it.
pub(crate) fn check_limits(
    limits: &wgpu::Limits,
    report: bool,
    counted: bool,
) -> Result<(), GatherError> {
    let invocations = u64::from(WORKGROUP_SIZE);
    let report = u64::from(report);
    // Numbers of bindings, from 0.
    let bindings = if counted {
        u64::from(binding::GRID) + 1
    } else {
        4 + 2 * report
    };
    for (name, expected, found) in [
        ("max_bind_groups", 1, limits.max_bind_groups.into()),
        (
            "max_bindings_per_bind_group",
            bindings,
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
            WINDOW_BYTES,
            limits.max_uniform_buffer_binding_size,
        ),
        ("max_buffer_size", WINDOW_BYTES, limits.max_buffer_size),
        (
            "max_storage_buffer_binding_size",
            if counted {
                WINDOW_BYTES
            } else {
                report * REPORT_BYTES
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gather;

    #[test]
    fn bytes_that_cannot_be_counted_are_refused() {
        let refused = |params_shape: &[usize], indices_shape: &[usize], element_bytes| {
            let plan = Gather::new().plan(params_shape, indices_shape);
            let plan = plan.expect("a valid shape");
            let bytes = OperandBytes::new(plan.dims(), element_bytes, IndexKind::I32);
            bytes.expect_err("too many").to_string()
        };
        let most = "must have at most 9223372036854775807 bytes, found";
        assert_eq!(
            refused(&[1 << 62], &[1], 4),
            format!("params {most} 4611686018427387904 elements of 4 bytes")
        );
        assert_eq!(
            refused(&[2], &[1 << 62], 1),
            format!("indices {most} 4611686018427387904 elements of 4 bytes")
        );
        assert_eq!(
            refused(&[2, 1 << 40], &[1 << 20], 16),
            format!("output {most} 1152921504606846976 elements of 16 bytes")
        );
    }

    #[test]
    fn a_number_is_its_words() {
        assert_eq!(low_and_high(5 * (1 << 30) + 3), [(1 << 30) + 3, 1]);
    }
}
