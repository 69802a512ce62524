//! Sorts attributes by a key, as NumPy's `places[np.argsort(depth)]` does: particles from front to back. And takes the top k,
//! `colours[np.argsort(depth)[:4]]`: the four nearest particles' colours.
//!
//! One encoder records the app's pass, which writes keys and numbers, a radix sort from the crate lampshade, and the gathers. Each
//! gather takes the sorted numbers as indices; the first four are the top four.
//!
//! ```sh
//! cargo run --release --example sort_by_key
//! ```

mod common;

use std::error::Error;

use lampshade::KeyValueSoaSorter;
use wgpu_gather::{ElementTypes, Executor, Gather, GatherBuffers, Ranges, wgpu};

const PARTICLES: u32 = 1000;
const NEAREST: usize = 4;

const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> places: array<f32>;
@group(0) @binding(1) var<storage, read_write> keys: array<u32>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;

// A key that sorts as the number does, negative numbers first. ~key sorts the largest number first.
fn key_of(number: f32) -> u32 {
    let bits = bitcast<u32>(number);
    return select(bits | 0x80000000u, ~bits, number < 0.0);
}

@compute @workgroup_size(64)
fn write_keys(@builtin(global_invocation_id) particle: vec3<u32>) {
    let id = particle.x;
    if id < arrayLength(&keys) {
        keys[id] = key_of(places[3u * id + 2u]);
        order[id] = id;
    }
}
";

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };
    let (device, queue) = (gpu.device()?, gpu.queue()?);

    // A place and a colour for each particle. Its z is the depth, negative behind the camera.
    let n = PARTICLES as usize;
    let depth = |id: u32| (id * 37 % 101) as f32 - 50.0;
    let places = (0..PARTICLES).flat_map(|id| [id as f32, 0.5, depth(id)]);
    let colours = (0..PARTICLES).map(|id| [(id % 251) as u8, (id % 7) as u8, 0, 255]);
    let places = gpu.upload(places.collect::<Vec<f32>>(), &[n, 3])?;
    let colours = gpu.upload(colours.collect::<Vec<[u8; 4]>>(), &[n])?;
    let keys = gpu.zeros::<u32>(&[n])?;
    let order = gpu.zeros::<u32>(&[n])?;
    let sorted_places = gpu.zeros::<f32>(&[n, 3])?;
    let nearest_colours = gpu.zeros::<[u8; 4]>(&[NEAREST])?;

    // Once: the app's pipeline, the sorter, and the two gathers.
    let write_keys = Pass::new(device, [places.buffer()?, keys.buffer()?, order.buffer()?]);
    let mut sorter = KeyValueSoaSorter::new(device, queue);
    sorter.prepare_sort(keys.buffer()?, order.buffer()?, PARTICLES)?;
    let gather_places = gpu.gatherer()?.prepare(
        &Gather::new().plan(&[n, 3], &[n])?,
        &GatherBuffers::new(
            ElementTypes::of::<f32, u32>(),
            Ranges {
                params: places.buffer()?.slice(..),
                indices: order.buffer()?.slice(..),
                output: sorted_places.buffer()?.slice(..),
            },
        ),
    )?;
    // The plan has four index rows, so it reads the first four numbers.
    let gather_colours = gpu.gatherer()?.prepare(
        &Gather::new().plan(&[n], &[NEAREST])?,
        &GatherBuffers::new(
            ElementTypes::of::<[u8; 4], u32>(),
            Ranges {
                params: colours.buffer()?.slice(..),
                indices: order.buffer()?.slice(..),
                output: nearest_colours.buffer()?.slice(..),
            },
        ),
    )?;

    // Each frame.
    let mut encoder = device.create_command_encoder(&Default::default());
    write_keys.record(&mut encoder);
    sorter.record_reserved_sort(&mut encoder, keys.buffer()?, order.buffer()?, PARTICLES)?;
    gather_places.encode(&mut encoder);
    gather_colours.encode(&mut encoder);
    queue.submit([encoder.finish()]);

    let rows = sorted_places.download_blocking()?;
    let (rows, _) = rows.as_chunks::<3>();
    println!("from {:?}", &rows[..3]);
    println!("to {:?}", &rows[n - 3..]);
    let colours = nearest_colours.download_blocking()?;
    println!("the colours of the nearest {colours:?}");
    // The checksum of NumPy's result, which tests/data/recipes.py computes.
    assert_eq!(common::adler32(bytemuck::cast_slice(rows)), 0x9f1c_07b9);
    Ok(())
}

/// The app's pass.
struct Pass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
}

impl Pass {
    fn new(device: &wgpu::Device, buffers: [&wgpu::Buffer; 3]) -> Self {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("sort_by_key"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("write_keys"),
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let entries = buffers.iter().zip(0..);
        let entries = entries.map(|(buffer, binding)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        });
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("write_keys"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries.collect::<Vec<_>>(),
        });
        Self {
            pipeline,
            bind_group,
        }
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
        pass.dispatch_workgroups(PARTICLES.div_ceil(64), 1, 1);
    }
}
