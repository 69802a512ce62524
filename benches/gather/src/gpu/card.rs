//! A device with its clock, its uploads and its downloads.

use std::cell::Cell;
use std::time::Duration;

use testkit::device;
use wgpu_gather::wgpu;

use crate::timing::took;

/// The features that timestamps around commands need.
const STAMPS: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

const STAMPS_BYTES: u64 = 16;

/// A card with a lower clock takes at least so many times as long for a fixed work.
const SLOWER: f64 = 1.0 / 0.9;

/// Bytes that an upload or a download moves at once.
const PART_BYTES: u64 = 64 << 20;

pub struct Card {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    stamps: Option<Stamps>,
    pace: Option<Pace>,
}

/// Arithmetic of one workgroup, some 20 µs at a high clock, without loads: only the clock changes its time.
struct Pace {
    pipeline: wgpu::ComputePipeline,
    operands: wgpu::BindGroup,
    least: Cell<Duration>,
}

/// Device timestamps around recorded commands.
struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    host: wgpu::Buffer,
}

/// The adapter that `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` name, else the default one.
pub fn adapter() -> Result<wgpu::Adapter, String> {
    let instance = wgpu::Instance::new(device::descriptor());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    pollster::block_on(adapter).map_err(|error| error.to_string())
}

fn descriptor(adapter: &wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> {
    // The host's clock times a software adapter: it measures how long a caller waits.
    let is_cpu = adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    let has_stamps = adapter.features().contains(STAMPS) && !is_cpu;
    wgpu::DeviceDescriptor {
        required_features: match has_stamps {
            true => STAMPS,
            false => wgpu::Features::empty(),
        },
        required_limits: adapter.limits(),
        ..Default::default()
    }
}

impl Card {
    pub fn new(adapter: &wgpu::Adapter) -> Result<Self, String> {
        let opened = pollster::block_on(adapter.request_device(&descriptor(adapter)));
        let (device, queue) = opened.map_err(|error| error.to_string())?;
        let stamps = device.features().contains(STAMPS).then(|| {
            let set = device.create_query_set(&wgpu::QuerySetDescriptor {
                label: None,
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            let resolve = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
            Stamps {
                set,
                resolved: buffer(&device, STAMPS_BYTES, resolve),
                host: buffer(&device, STAMPS_BYTES, HOST),
            }
        });
        let mut card = Self {
            device,
            queue,
            stamps,
            pace: None,
        };
        card.pace = card.stamps.is_some().then(|| {
            let pipeline = card.pipeline(include_str!("pace.wgsl"), &[]);
            let target = card.storage(16);
            Pace {
                operands: card.bind(&pipeline, &[target.slice(..)]),
                pipeline,
                least: Cell::new(Duration::MAX),
            }
        });
        Ok(card)
    }

    /// True if the card's clock is near the highest that was seen, and if nothing tells.
    pub fn is_awake(&self) -> bool {
        let Some(pace) = &self.pace else {
            return true;
        };
        let took = self.time(|encoder| {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            pass.set_pipeline(&pace.pipeline);
            pass.set_bind_group(0, &pace.operands, &[]);
            pass.dispatch_workgroups(1, 1, 1);
        });
        pace.least.set(took.min(pace.least.get()));
        took.as_secs_f64() <= pace.least.get().as_secs_f64() * SLOWER
    }

    pub fn clock(&self) -> &'static str {
        match self.stamps {
            Some(_) => "timestamps",
            None => "submit and wait",
        }
    }

    /// Times recorded commands: between two timestamps on the device or, if it has none, from submission to completion.
    pub fn time(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Duration {
        let mut encoder = self.encoder();
        let Some(stamps) = &self.stamps else {
            record(&mut encoder);
            return took(|| self.submit_and_wait(encoder));
        };
        encoder.write_timestamp(&stamps.set, 0);
        record(&mut encoder);
        encoder.write_timestamp(&stamps.set, 1);
        encoder.resolve_query_set(&stamps.set, 0..2, &stamps.resolved, 0);
        encoder.copy_buffer_to_buffer(&stamps.resolved, 0, &stamps.host, 0, STAMPS_BYTES);
        self.queue.submit([encoder.finish()]);
        let ticks = self.mapped(&stamps.host, |bytes| {
            let [start, end]: [u64; 2] = bytemuck::pod_read_unaligned(bytes);
            end - start
        });
        Duration::from_secs_f64(ticks as f64 * f64::from(self.queue.get_timestamp_period()) / 1e9)
    }

    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    pub fn submit_and_wait(&self, encoder: wgpu::CommandEncoder) {
        self.queue.submit([encoder.finish()]);
        self.wait();
    }

    fn wait(&self) {
        let waited = self.device.poll(wgpu::PollType::wait_indefinitely());
        waited.expect("a live device");
    }

    /// Waits for all submitted work, maps the buffer, and returns what `look` returns for its bytes.
    fn mapped<R>(&self, host: &wgpu::Buffer, look: impl FnOnce(&[u8]) -> R) -> R {
        host.map_async(wgpu::MapMode::Read, .., |mapped| {
            mapped.expect("a live device");
        });
        self.wait();
        let result = look(&host.get_mapped_range(..).expect("mapped"));
        host.unmap();
        result
    }

    /// A buffer for operands.
    pub fn storage(&self, size: u64) -> wgpu::Buffer {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        buffer(&self.device, size.next_multiple_of(4).max(16), usage)
    }

    /// Writes bytes part by part, so that the host needs little memory for them.
    pub fn upload(&self, target: &wgpu::Buffer, start: u64, bytes: &[u8]) {
        let parts = bytes.chunks(PART_BYTES as usize);
        for (number, part) in (0..).zip(parts) {
            let mut padded = part.to_vec();
            padded.resize(part.len().next_multiple_of(4), 0);
            let at = start + number * PART_BYTES;
            self.queue.write_buffer(target, at, &padded);
            self.queue.submit([]);
            self.wait();
        }
    }

    /// Downloads `bytes` bytes from `start` on in parts, and passes each part's offset and bytes to `look`.
    pub fn download(
        &self,
        source: &wgpu::Buffer,
        start: u64,
        bytes: u64,
        mut look: impl FnMut(u64, &[u8]),
    ) {
        let size = PART_BYTES.min(bytes.next_multiple_of(4));
        let host = buffer(&self.device, size, HOST);
        for at in (0..bytes).step_by(PART_BYTES as usize) {
            let part = PART_BYTES.min(bytes - at);
            let mut encoder = self.encoder();
            let copied = part.next_multiple_of(4);
            encoder.copy_buffer_to_buffer(source, start + at, &host, 0, copied);
            self.queue.submit([encoder.finish()]);
            self.mapped(&host, |bytes| look(at, &bytes[..part as usize]));
        }
    }

    /// A pipeline with the layout that wgpu derives from the shader.
    pub fn pipeline(&self, source: &str, constants: &[(&str, f64)]) -> wgpu::ComputePipeline {
        let module = self
            .device
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(source.into()),
            });
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &module,
                entry_point: None,
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants,
                    ..Default::default()
                },
                cache: None,
            })
    }

    /// Binds the ranges, the first to binding 0.
    pub fn bind(
        &self,
        pipeline: &wgpu::ComputePipeline,
        ranges: &[wgpu::BufferSlice<'_>],
    ) -> wgpu::BindGroup {
        let entries = (0..)
            .zip(ranges)
            .map(|(binding, range)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: range.buffer(),
                    offset: range.offset(),
                    size: wgpu::BufferSize::new(range.size()),
                }),
            });
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries.collect::<Vec<_>>(),
        })
    }

    /// A grid with at least `workgroups` workgroups, in two dims if the device's limit requires them.
    pub fn grid(&self, workgroups: u64) -> [u32; 2] {
        let most = u64::from(self.device.limits().max_compute_workgroups_per_dimension);
        let height = workgroups.div_ceil(most).max(1);
        [workgroups.div_ceil(height), height].map(|size| u32::try_from(size).expect("a dispatch"))
    }

    /// The most bytes that a binding can hold, in whole units of 16.
    pub fn binding_bytes(&self) -> u64 {
        self.device.limits().max_storage_buffer_binding_size / 16 * 16
    }
}

const HOST: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}
