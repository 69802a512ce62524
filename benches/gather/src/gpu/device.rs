//! Devices, and the time of recorded commands on a device.

use std::time::Duration;

use wgpu_gather::{Gpu, wgpu};

use crate::timing::took;

/// The features that timestamps around commands need.
const STAMPS: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

const STAMPS_BYTES: u64 = 16;

/// Timestamps of the GPU around recorded commands.
pub struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    host: wgpu::Buffer,
}

impl Stamps {
    /// Returns `None` if the device has no timestamps.
    pub fn new(device: &wgpu::Device) -> Option<Self> {
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let host = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        device.features().contains(STAMPS).then(|| Self {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            resolved: buffer(device, STAMPS_BYTES, usage),
            host: buffer(device, STAMPS_BYTES, host),
        })
    }
}

/// The time of recorded commands: between timestamps on the device, or without `stamps` from submission to completion.
pub fn time_recorded(
    gpu: &Gpu,
    stamps: Option<&Stamps>,
    record: impl FnOnce(&mut wgpu::CommandEncoder),
) -> Duration {
    let mut encoder = new_encoder(gpu);
    let Some(stamps) = stamps else {
        record(&mut encoder);
        return took(|| submit_and_wait(gpu, encoder));
    };
    encoder.write_timestamp(&stamps.set, 0);
    record(&mut encoder);
    encoder.write_timestamp(&stamps.set, 1);
    encoder.resolve_query_set(&stamps.set, 0..2, &stamps.resolved, 0);
    encoder.copy_buffer_to_buffer(&stamps.resolved, 0, &stamps.host, 0, STAMPS_BYTES);
    gpu.queue().submit([encoder.finish()]);
    stamps.host.map_async(wgpu::MapMode::Read, .., |mapped| {
        mapped.expect("a live device")
    });
    let waited = gpu.device().poll(wgpu::PollType::wait_indefinitely());
    waited.expect("a live device");
    let ticks = {
        let mapped = stamps.host.get_mapped_range(..).expect("mapped");
        let [start, end]: [u64; 2] = bytemuck::pod_read_unaligned(&mapped);
        end - start
    };
    stamps.host.unmap();
    Duration::from_secs_f64(ticks as f64 * f64::from(gpu.queue().get_timestamp_period()) / 1e9)
}

/// The adapter that `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` name, else the default one.
pub fn adapter() -> Result<wgpu::Adapter, String> {
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let instance = wgpu::Instance::new(descriptor);
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    pollster::block_on(adapter).map_err(|error| error.to_string())
}

pub fn descriptor(
    adapter: &wgpu::Adapter,
    required_limits: wgpu::Limits,
) -> wgpu::DeviceDescriptor<'static> {
    // A software adapter is timed by the host's clock, which measures the time that a caller waits.
    let is_cpu = adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    let has_stamps = adapter.features().contains(STAMPS) && !is_cpu;
    wgpu::DeviceDescriptor {
        required_features: if has_stamps {
            STAMPS
        } else {
            wgpu::Features::empty()
        },
        required_limits,
        ..Default::default()
    }
}

pub fn device_of(adapter: &wgpu::Adapter, required_limits: wgpu::Limits) -> Result<Gpu, String> {
    let device = adapter.request_device(&descriptor(adapter, required_limits));
    let (device, queue) = pollster::block_on(device).map_err(|error| error.to_string())?;
    Ok(Gpu::from_parts(device, queue))
}

pub fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}

/// A pipeline with the layout that wgpu derives from the shader.
pub fn pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    entry_point: &str,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(entry_point),
        layout: None,
        module,
        entry_point: Some(entry_point),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants,
            ..Default::default()
        },
        cache: None,
    })
}

/// A grid of at least `workgroups` workgroups; it has two dims if the device's limit requires them.
pub fn grid(device: &wgpu::Device, workgroups: u64) -> [u32; 2] {
    let most = u64::from(device.limits().max_compute_workgroups_per_dimension);
    let height = workgroups.div_ceil(most).max(1);
    [workgroups.div_ceil(height), height].map(|size| u32::try_from(size).expect("a dispatch"))
}

pub fn new_encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&Default::default())
}

pub fn submit_and_wait(gpu: &Gpu, encoder: wgpu::CommandEncoder) {
    gpu.queue().submit([encoder.finish()]);
    let waited = gpu.device().poll(wgpu::PollType::wait_indefinitely());
    waited.expect("a live device");
}
