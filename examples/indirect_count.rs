//! An index count that only the GPU knows: a pass of the app keeps and counts the sprites in view, and the gather looks
//! up the colours of that many sprites, in the same submission.
//!
//! Each operand is a range of one buffer of the app, as in a memory pool.
//!
//! ```sh
//! cargo run --release --example indirect_count
//! ```

mod common;

use std::error::Error;
use std::sync::mpsc;

use wgpu_gather::{ElementTypes, Gather, GatherBuffers, Gatherer, wgpu};

/// The place of each sprite, its colour by number, and the colours.
const PLACES: [f32; 6] = [3.0, 12.5, 7.0, 40.0, 9.5, 11.0];
const COLOUR_OF: [u32; 6] = [1, 0, 2, 2, 1, 0];
const COLOURS: [u32; 3] = [0xff_0000, 0x00_ff00, 0x00_00ff];

/// One invocation, so that the sprites stay in order. The arrays have the sizes of the ranges below.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read_write> places: array<f32>;
@group(0) @binding(1) var<storage, read_write> colour_of: array<u32>;
@group(0) @binding(2) var<storage, read_write> visible: array<u32>;
@group(0) @binding(3) var<storage, read_write> count: u32;

@compute @workgroup_size(1)
fn keep_what_is_in_view() {
    count = 0u;
    for (var sprite = 0u; sprite < arrayLength(&places); sprite++) {
        if places[sprite] < 10.0 {
            visible[count] = colour_of[sprite];
            count++;
        }
    }
}
";

fn main() -> Result<(), Box<dyn Error>> {
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = match pollster::block_on(adapter) {
        Ok(adapter) => adapter,
        Err(error) => return common::without_gpu(error),
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;

    // The app's pool, and a range of it for each array, aligned as a binding must be.
    let step = u64::from(device.limits().min_storage_buffer_offset_alignment);
    let pool = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("pool"),
        size: 6 * step,
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    let range = |number: u64, words: usize| {
        let start = number * step;
        pool.slice(start..start + words as u64 * 4)
    };
    let sprites = PLACES.len();
    let (places, colour_of) = (range(0, sprites), range(1, sprites));
    let (visible, count) = (range(2, sprites), range(3, 1));
    let (colours, output) = (range(4, COLOURS.len()), range(5, sprites));
    queue.write_buffer(&pool, places.offset(), bytemuck::bytes_of(&PLACES));
    queue.write_buffer(&pool, colour_of.offset(), bytemuck::bytes_of(&COLOUR_OF));
    queue.write_buffer(&pool, colours.offset(), bytemuck::bytes_of(&COLOURS));

    // The app's own pass.
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(SHADER.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &shader,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let ranges = [(0, places), (1, colour_of), (2, visible), (3, count)];
    let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &ranges.map(|(binding, range)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: range.buffer(),
                offset: range.offset(),
                size: wgpu::BufferSize::new(range.size()),
            }),
        }),
    });

    // The plan has the largest number of index rows: one for each sprite. `index_count` gives the number of this frame.
    let plan = Gather::new().plan(&[COLOURS.len()], &[sprites])?;
    let buffers = GatherBuffers::new(ElementTypes::of::<u32, u32>())
        .params(colours)
        .indices(visible)
        .output(output)
        .index_count(count);
    let gatherer = Gatherer::new(&device);

    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    }
    gatherer.encode(&mut encoder, &plan, &buffers)?;
    queue.submit([encoder.finish()]);

    let (sender, receiver) = mpsc::channel();
    wgpu::util::DownloadBuffer::read_buffer(&device, &queue, &output, move |bytes| {
        let _ = sender.send(bytes);
    });
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = receiver.recv()??;
    let output: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[..]);
    println!("{output:06x?}");
    // Three sprites are in view; the output after their rows is not written.
    assert_eq!(output, [0x00_ff00, 0x00_00ff, 0x00_ff00, 0, 0, 0]);
    Ok(())
}
