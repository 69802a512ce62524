//! An app with its own GPU records a gather and its own work on the output into one encoder, and submits both at once.
//! Nothing is read back before the end.

use std::error::Error;

use wgpu_gather::{Buffers, ElementTypes, Executor, GatherPlan, Ranges, wgpu};

use crate::{DIGITS, PIXELS};

/// Gathers `images` in the order that `indices` gives, then takes the mean of the rows `starts[digit]..starts[digit + 1]` for each
/// digit. Returns the rows and the means.
pub fn gather_and_average(
    gpu: &Executor,
    plan: &GatherPlan,
    images: &[u8],
    indices: &[u32],
    starts: &[u32],
) -> Result<(Vec<u8>, Vec<f32>), Box<dyn Error>> {
    let device = gpu.device()?;
    let images = gpu.upload(images, plan.params_shape())?;
    let indices = gpu.upload(indices, plan.indices_shape())?;
    let starts = gpu.upload(starts, &[starts.len()])?;
    let rows = gpu.zeros::<u8>(plan.output_shape())?;
    let means = gpu.zeros::<f32>(&[DIGITS, PIXELS])?;

    let shader = device.create_shader_module(wgpu::include_wgsl!("mean.wgsl"));
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("quickstart/mean"),
        layout: None,
        module: &shader,
        entry_point: Some("mean"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let bindings = [
        (0, rows.buffer()?),
        (1, starts.buffer()?),
        (2, means.buffer()?),
    ];
    let entries = bindings.map(|(binding, buffer)| wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    });
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("quickstart/mean"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });

    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let buffers = Buffers::gather(
        ElementTypes::of::<u8, u32>(),
        Ranges {
            params: images.buffer()?.slice(..),
            indices: indices.buffer()?.slice(..),
            output: rows.buffer()?.slice(..),
        },
    );
    gpu.gatherer()?.encode(&mut encoder, plan, &buffers)?;
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        pass.dispatch_workgroups(u32::try_from(DIGITS)?, 1, 1);
    }
    gpu.queue()?.submit([encoder.finish()]);
    Ok((rows.download_blocking()?, means.download_blocking()?))
}
