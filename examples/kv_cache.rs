//! Keeps a KV cache with one encoder: the app's pass projects new tokens to keys, a scatter writes the keys into their slots, and a
//! gather reads two sequences' pages by a block table. The host reads nothing in between.
//!
//! A slot of -1 is padding, which the policy `Fill` drops; with `FromEnd` it would be the last slot.
//!
//! ```sh
//! cargo run --release --example kv_cache
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{
    BadIndices, Buffers, ElementTypes, Executor, Gather, Ranges, ScatterRanges, wgpu,
};

const PAGES: usize = 6;
/// How many tokens a page has, and how many numbers a key.
const PAGE: [usize; 2] = [2, 2];
/// Which pages two sequences use.
const BLOCK_TABLE: [[u32; 2]; 2] = [[4, 1], [3, 0]];
/// Where four new tokens go: their page times 2, plus the place in it. The last token is padding.
const SLOTS: [i32; 4] = [9, 2, 7, -1];
const TOKENS: [f32; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 9.0, 9.0];

/// A key is the token times a matrix: here the token's numbers, swapped, and a half of them.
const PROJECT: &str = "
    @group(0) @binding(0) var<storage, read> tokens: array<vec2<f32>>;
    @group(0) @binding(1) var<storage, read_write> keys: array<vec2<f32>>;

    @compute @workgroup_size(4)
    fn project(@builtin(global_invocation_id) lane: vec3<u32>) {
        keys[lane.x] = mat2x2<f32>(0.0, 0.5, 0.5, 0.0) * tokens[lane.x];
    }
";

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };
    let tokens = gpu.upload(&TOKENS, &[4, 2])?;
    let slots = gpu.upload(&SLOTS, &[4])?;
    let block_table = gpu.upload(BLOCK_TABLE.as_flattened(), &[2, 2])?;
    let keys = gpu.zeros::<f32>(&[4, 2])?;
    let cache = gpu.zeros::<f32>(&[PAGES * PAGE[0], PAGE[1]])?;
    let output = gpu.zeros::<f32>(&[2, 2, PAGE[0], PAGE[1]])?;

    let append = Gather::new().bad_indices(BadIndices::Fill);
    let append = append.plan(cache.shape(), &[4])?;
    let written = Buffers::scatter(
        ElementTypes::of::<f32, i32>(),
        ScatterRanges {
            target: cache.buffer()?.slice(..),
            indices: slots.buffer()?.slice(..),
            updates: keys.buffer()?.slice(..),
        },
    );
    // A scheduler gives each token its own slot, so the order of updates does not matter.
    let append = gpu.gatherer()?.prepare(append.unique(), &written)?;
    let read = Gather::new().plan(&[PAGES, PAGE[0], PAGE[1]], &[2, 2])?;
    let pages = Buffers::gather(
        ElementTypes::of::<f32, u32>(),
        Ranges {
            params: cache.buffer()?.slice(..),
            indices: block_table.buffer()?.slice(..),
            output: output.buffer()?.slice(..),
        },
    );
    let read = gpu.gatherer()?.prepare(&read, &pages)?;

    let device = gpu.device()?;
    let (project, bind_group) = projection(device, [tokens.buffer()?, keys.buffer()?]);
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&project);
    pass.set_bind_group(0, &bind_group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    append.encode_in_pass(&mut pass);
    read.encode_in_pass(&mut pass);
    drop(pass);
    gpu.queue()?.submit([encoder.finish()]);

    let output = output.download_blocking()?;
    for (pages, keys) in BLOCK_TABLE.iter().zip(output.chunks(8)) {
        println!("pages {pages:?} {keys:?}");
    }
    Ok(())
}

/// The app's pipeline, and its operands.
fn projection(
    device: &wgpu::Device,
    buffers: [&wgpu::Buffer; 2],
) -> (wgpu::ComputePipeline, wgpu::BindGroup) {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("project"),
        source: wgpu::ShaderSource::Wgsl(PROJECT.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("project"),
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let entries = [0, 1].map(|binding| wgpu::BindGroupEntry {
        binding,
        resource: buffers[binding as usize].as_entire_binding(),
    });
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("project"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    (pipeline, bind_group)
}
