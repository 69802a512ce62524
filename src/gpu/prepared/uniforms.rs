//! The buffers of the dispatches' uniforms, and of the workgroups that `count_rows` writes.

use super::Maker;
use crate::gpu::bindings::WORKGROUPS_BYTES;
use crate::gpu::uniform::{GatherUniform, UNIFORM_BYTES};

/// The uniforms of many dispatches share buffers of up to this many bytes.
const MAX_UNIFORMS_BYTES: u64 = 1 << 16;

impl Maker<'_> {
    pub(super) fn uniforms_per_buffer(&self) -> usize {
        let buffer_bytes = self.pipelines.limits.max_buffer_size;
        let uniforms = buffer_bytes.min(MAX_UNIFORMS_BYTES) / self.stride;
        usize::try_from(uniforms).map_or(1, |uniforms| uniforms.max(1))
    }

    pub(super) fn make_uniforms(&self, uniforms: &[GatherUniform]) -> wgpu::Buffer {
        let mut usage = wgpu::BufferUsages::UNIFORM;
        if self.is_indirect {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let device = &self.pipelines.device;
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/uniforms"),
            size: (uniforms.len() as u64 - 1) * self.stride + UNIFORM_BYTES,
            usage,
            mapped_at_creation: true,
        });
        // A lost device maps nothing; the error scope holds any error.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            let mut start = 0;
            for uniform in uniforms {
                let bytes = bytemuck::bytes_of(uniform);
                let end = start + bytes.len();
                mapped.slice(start..end).copy_from_slice(bytes);
                start += usize::try_from(self.stride).expect("uniforms in memory");
            }
        }
        buffer.unmap();
        buffer
    }

    /// A buffer for the workgroups of dispatches with an index count, as far apart as their uniforms.
    pub(super) fn make_workgroups(&self, dispatches: usize) -> wgpu::Buffer {
        let device = &self.pipelines.device;
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/workgroups"),
            size: (dispatches as u64 - 1) * self.stride + WORKGROUPS_BYTES,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        })
    }
}
