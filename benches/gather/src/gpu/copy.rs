//! A shader that copies a buffer, and a shader that does nothing.

use wgpu_gather::wgpu;

use super::device::{grid, pipeline};

/// Bytes that a workgroup of the copy moves: 16 for each of its 64 invocations.
const WORKGROUP_BYTES: u64 = 16 * 64;

pub struct Shaders {
    copy: wgpu::ComputePipeline,
    nothing: wgpu::ComputePipeline,
}

/// A copy of a buffer, in as few dispatches as the device's bindings allow.
pub struct Copy<'a> {
    pipeline: &'a wgpu::ComputePipeline,
    dispatches: Vec<(wgpu::BindGroup, [u32; 2])>,
}

impl Shaders {
    pub fn new(device: &wgpu::Device) -> Self {
        let module = device.create_shader_module(wgpu::include_wgsl!("../copy.wgsl"));
        let [copy, nothing] =
            ["copy_vec4", "nothing"].map(|name| pipeline(device, &module, name, &[]));
        Self { copy, nothing }
    }

    pub fn copy(
        &self,
        device: &wgpu::Device,
        source: &wgpu::Buffer,
        copied: &wgpu::Buffer,
    ) -> Copy<'_> {
        let most = device.limits().max_storage_buffer_binding_size / 256 * 256;
        let mut dispatches = Vec::new();
        let mut offset = 0;
        while offset < source.size() {
            let size = most.min(source.size() - offset);
            let bind = |binding, buffer| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: wgpu::BufferSize::new(size),
                }),
            };
            let operands = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &self.copy.get_bind_group_layout(0),
                entries: &[bind(0, source), bind(1, copied)],
            });
            dispatches.push((operands, grid(device, size.div_ceil(WORKGROUP_BYTES))));
            offset += size;
        }
        Copy {
            pipeline: &self.copy,
            dispatches,
        }
    }

    pub fn record_nothing(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.nothing);
        pass.dispatch_workgroups(1, 1, 1);
    }
}

impl Copy<'_> {
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(self.pipeline);
        for (operands, [width, height]) in &self.dispatches {
            pass.set_bind_group(0, operands, &[]);
            pass.dispatch_workgroups(*width, *height, 1);
        }
    }
}
