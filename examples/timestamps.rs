//! Times a gather on an app's own device, by the GPU's clock: first with timestamps that the app writes at both ends of the
//! gather's pass, then with a wgpu-profiler scope around the pass.
//!
//! ```sh
//! cargo run --release --example timestamps
//! ```

mod common;

use std::error::Error;
use std::sync::mpsc;

use wgpu::util::DeviceExt;
use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Prepared, Ranges, wgpu};
use wgpu_profiler::{GpuProfiler, GpuProfilerSettings};

/// A table's embeddings, and how many are looked up.
const PARAMS: [usize; 2] = [50_000, 128];
const ROWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    // The app's own device, with the one feature that a pass's timestamps need.
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = match pollster::block_on(adapter) {
        Ok(adapter) => adapter,
        Err(error) => return common::without_gpu(error),
    };
    let timestamps = wgpu::Features::TIMESTAMP_QUERY;
    if !adapter.features().contains(timestamps) {
        println!("this adapter writes no timestamps");
        return Ok(());
    }
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: timestamps,
        ..Default::default()
    }))?;

    let plan = Gather::new().plan(&PARAMS, &[ROWS])?;
    let zeros = |len: usize| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: len as u64 * 4,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    };
    let table = zeros(PARAMS.iter().product());
    let output = zeros(plan.output_len());
    let token_ids: Vec<u32> = (0..).map(|n| n * 7_919 % 50_000).take(ROWS).collect();
    let token_ids = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: None,
        contents: bytemuck::cast_slice(&token_ids),
        usage: wgpu::BufferUsages::STORAGE,
    });
    let buffers = Buffers::gather(
        ElementTypes::of::<f32, u32>(),
        Ranges {
            params: table.slice(..),
            indices: token_ids.slice(..),
            output: output.slice(..),
        },
    );
    let lookup = Gatherer::new(&device).prepare(&plan, &buffers)?;
    println!("{plan}\n{lookup:?}");

    // The first run is not timed: it may wait for memory and for the GPU to wake up.
    let mut encoder = device.create_command_encoder(&Default::default());
    lookup.encode(&mut encoder);
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;

    let seconds = by_timestamps(&device, &queue, &lookup)?;
    report("timestamps", seconds);
    let seconds = by_profiler(&device, &queue, &lookup)?;
    report("wgpu-profiler", seconds);
    Ok(())
}

/// The seconds between two timestamps that the app writes.
fn by_timestamps(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    lookup: &Prepared,
) -> Result<f64, Box<dyn Error>> {
    let query_set = device.create_query_set(&wgpu::QuerySetDescriptor {
        label: None,
        ty: wgpu::QueryType::Timestamp,
        count: 2,
    });
    let resolved = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 2 * u64::from(wgpu::QUERY_SIZE),
        usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });

    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("look-up"),
        timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
            query_set: &query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }),
    });
    lookup.encode_in_pass(&mut pass);
    drop(pass);
    encoder.resolve_query_set(&query_set, 0..2, &resolved, 0);
    queue.submit([encoder.finish()]);

    let (sender, receiver) = mpsc::channel();
    wgpu::util::DownloadBuffer::read_buffer(device, queue, &resolved.slice(..), move |bytes| {
        let _ = sender.send(bytes);
    });
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = receiver.recv()??;
    let ticks: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes[..]);
    let nanoseconds_per_tick = f64::from(queue.get_timestamp_period());
    Ok(ticks[1].saturating_sub(ticks[0]) as f64 * nanoseconds_per_tick * 1e-9)
}

/// The seconds that wgpu-profiler gives for the pass of its scope.
fn by_profiler(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    lookup: &Prepared,
) -> Result<f64, Box<dyn Error>> {
    let mut profiler = GpuProfiler::new(device, GpuProfilerSettings::default())?;
    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut frame = profiler.scope("frame", &mut encoder);
        let mut pass = frame.scoped_compute_pass("look-up");
        lookup.encode_in_pass(&mut pass);
    }
    profiler.resolve_queries(&mut encoder);
    queue.submit([encoder.finish()]);
    profiler.end_frame()?;

    device.poll(wgpu::PollType::wait_indefinitely())?;
    let frames = profiler.process_finished_frame(queue.get_timestamp_period());
    let frame = frames.as_ref().and_then(|frames| frames.first());
    let pass = frame.and_then(|frame| frame.nested_queries.first());
    // Only the pass has a time; the frame's time would need TIMESTAMP_QUERY_INSIDE_ENCODERS.
    let time = pass.and_then(|pass| pass.time.clone());
    let time = time.ok_or("the profiler has no time for the pass")?;
    Ok(time.end - time.start)
}

/// The time goes to stderr, as it differs from run to run.
fn report(clock: &str, seconds: f64) {
    println!("{clock}: the gather took some time: {}", seconds > 0.0);
    eprintln!("{clock}: {:.3} ms", seconds * 1e3);
}
