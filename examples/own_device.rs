//! Gathers between an app's own passes, on the app's device and in its encoder: particles drift with the wind in their cell.
//!
//! In each step the app's first pass writes each particle's cell, the gather looks up the wind there, and the app's second pass
//! moves the particles. Three steps are recorded and submitted at once, and the end is read back.
//!
//! ```sh
//! cargo run --release --example own_device
//! ```

mod common;

use std::error::Error;
use std::sync::mpsc;

use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Ranges, wgpu};

/// The wind in each cell of 4 units, and where the particles start.
const WIND: [f32; 4] = [1.5, 0.5, -1.0, -3.0];
const START: [f32; 6] = [0.0, 3.0, 5.5, 8.0, 11.0, 15.0];
const STEPS: usize = 3;

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> positions: array<f32>;
@group(0) @binding(1) var<storage, read_write> cells: array<u32>;
@group(0) @binding(2) var<storage, read_write> winds: array<f32>;

@compute @workgroup_size(6)
fn find_cells(@builtin(global_invocation_id) particle: vec3<u32>) {
    cells[particle.x] = u32(positions[particle.x] * 0.25);
}

@compute @workgroup_size(6)
fn drift(@builtin(global_invocation_id) particle: vec3<u32>) {
    positions[particle.x] += winds[particle.x];
}
";

fn main() -> Result<(), Box<dyn Error>> {
    // The app's own device.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = match pollster::block_on(adapter) {
        Ok(adapter) => adapter,
        Err(error) => return common::without_gpu(error),
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;

    // The app's own buffers. Gathers need only the usage STORAGE.
    let buffer = |len: usize, usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: len as u64 * 4,
            usage: wgpu::BufferUsages::STORAGE | usage,
            mapped_at_creation: false,
        })
    };
    let (from_host, to_host) = (wgpu::BufferUsages::COPY_DST, wgpu::BufferUsages::COPY_SRC);
    let wind = buffer(WIND.len(), from_host);
    let positions = buffer(START.len(), from_host | to_host);
    let cells = buffer(START.len(), wgpu::BufferUsages::empty());
    let winds = buffer(START.len(), wgpu::BufferUsages::empty());
    queue.write_buffer(&wind, 0, bytemuck::bytes_of(&WIND));
    queue.write_buffer(&positions, 0, bytemuck::bytes_of(&START));

    // The app's own passes.
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let own_pass = |entry_point, buffers: [(u32, &wgpu::Buffer); 2]| {
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &shader,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &buffers.map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            }),
        });
        move |encoder: &mut wgpu::CommandEncoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &bind_group, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        }
    };
    let find_cells = own_pass("find_cells", [(0, &positions), (1, &cells)]);
    let drift = own_pass("drift", [(0, &positions), (2, &winds)]);

    // The gather is prepared once and recorded in every step, where it reads the cells of that step.
    let plan = Gather::new().plan(&[WIND.len()], &[START.len()])?;
    let buffers = Buffers::gather(
        ElementTypes::of::<f32, u32>(),
        Ranges {
            params: wind.slice(..),
            indices: cells.slice(..),
            output: winds.slice(..),
        },
    );
    let look_up_wind = Gatherer::new(&device).prepare(&plan, &buffers)?;

    let mut encoder = device.create_command_encoder(&Default::default());
    for _ in 0..STEPS {
        find_cells(&mut encoder);
        look_up_wind.encode(&mut encoder);
        drift(&mut encoder);
    }
    queue.submit([encoder.finish()]);

    // The app reads the positions back.
    let (sender, receiver) = mpsc::channel();
    wgpu::util::DownloadBuffer::read_buffer(&device, &queue, &positions.slice(..), move |bytes| {
        let _ = sender.send(bytes);
    });
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = receiver.recv()??;
    let output: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes[..]);
    println!("from {START:?}\nto   {output:?}");
    assert_eq!(output, [4.5, 5.5, 7.0, 8.0, 8.0, 8.0]);
    Ok(())
}
