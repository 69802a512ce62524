//! The GPU path: with data that stays there, end to end, in small calls and in windows, beside copies of the
//! output's bytes on the same device.

use std::time::Duration;

use wgpu_gather::{
    BadIndices, BadRows, GatherBuffers, GatherElement, GatherIndex, GatherPlan, Gpu, GpuTable,
    ParamsShard, wgpu,
};

use crate::timing::{Figure, Timed, time, took};
use crate::workloads::{Data, Number};

pub const DEVICE: &str = "gpu";

/// Calls in one submission, for the cost of one among many.
const RECORDED: u32 = 50;

/// An adapter, and how its work is timed.
pub struct Bench {
    adapter: wgpu::Adapter,
    gpu: Gpu,
    copy: wgpu::ComputePipeline,
    nothing: wgpu::ComputePipeline,
    stamps: Option<Stamps>,
}

/// Timestamps of the GPU around what is recorded.
struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    host: wgpu::Buffer,
}

const STAMPS_BYTES: u64 = 16;

/// What two timestamps around commands need.
const STAMPS: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

impl Bench {
    /// On the adapter that the environment asks for.
    pub fn new() -> Result<Self, String> {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        let instance = wgpu::Instance::new(descriptor);
        let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
        let adapter = pollster::block_on(adapter).map_err(|error| error.to_string())?;
        let gpu = device_of(&adapter, adapter.limits())?;
        let (device, shader) = (gpu.device(), wgpu::include_wgsl!("copy.wgsl"));
        let shader = device.create_shader_module(shader);
        let pipeline = |entry_point| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: None,
                module: &shader,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        let (copy, nothing) = (pipeline("copy_vec4"), pipeline("nothing"));
        let has_stamps = device.features().contains(STAMPS);
        let stamps = has_stamps.then(|| {
            let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
            let host = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
            Stamps {
                set: device.create_query_set(&wgpu::QuerySetDescriptor {
                    label: None,
                    ty: wgpu::QueryType::Timestamp,
                    count: 2,
                }),
                resolved: buffer(device, STAMPS_BYTES, usage),
                host: buffer(device, STAMPS_BYTES, host),
            }
        });
        Ok(Self {
            adapter,
            gpu,
            copy,
            nothing,
            stamps,
        })
    }

    pub fn adapter(&self) -> String {
        let clock = match self.stamps {
            Some(_) => "timestamps",
            None => "submit and wait",
        };
        format!("{}, timed by {clock}", self.gpu)
    }

    pub fn measure<T, I>(&self, data: &Data<T, I>, rounds: usize) -> Result<Vec<Timed>, String>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        let plan = data.workload.plan(BadIndices::DeviceDefault);
        let on_gpu = Operands::new(&self.gpu, data)?;
        on_gpu.check(&self.gpu, &plan, data)?;
        let whole = on_gpu.buffers(&self.gpu);
        let figure = |measure, sample| Figure {
            device: DEVICE,
            threads: 0,
            measure,
            calls: 1,
            sample,
        };
        let resident = |plan: &GatherPlan, buffers: &GatherBuffers<'_>| {
            self.time(&self.gpu, |encoder| {
                let encoded = self.gpu.gatherer().encode(encoder, plan, buffers);
                encoded.expect("checked before");
            })
        };

        let bytes = on_gpu.output.size();
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let copied = buffer(self.gpu.device(), bytes, usage);
        let reporting = data.workload.plan(BadIndices::Error);
        let report_bytes = usize::try_from(BadRows::REPORT_BYTES).expect("a few bytes");
        let report = self.gpu.upload(&vec![0_u8; report_bytes]);
        let report = report.map_err(|error| error.to_string())?;
        let with_report = whole.with_report(report.buffer().slice(..));
        let prepared = self.gpu.gatherer().prepare(&plan, &whole);
        let prepared = prepared.map_err(|error| error.to_string())?;
        let vec4_copy = self.prepare_copy(&on_gpu.output, &copied);
        let mut figures = vec![
            figure(
                "copy",
                Box::new(|| {
                    self.time(&self.gpu, |encoder| {
                        encoder.copy_buffer_to_buffer(&on_gpu.output, 0, &copied, 0, bytes);
                    })
                }) as Box<dyn FnMut() -> Duration>,
            ),
            figure(
                "vec4_copy",
                Box::new(|| {
                    self.time(&self.gpu, |encoder| {
                        self.copy_vec4(encoder, &vec4_copy);
                    })
                }),
            ),
            figure("resident", Box::new(|| resident(&plan, &whole))),
            figure(
                "bad_indices_error",
                Box::new(|| resident(&reporting, &with_report)),
            ),
        ];
        if bytes < 1 << 20 {
            figures.push(figure(
                "one_call",
                Box::new(|| {
                    took(|| {
                        let mut encoder = new_encoder(&self.gpu);
                        let encoded = self.gpu.gatherer().encode(&mut encoder, &plan, &whole);
                        encoded.expect("checked before");
                        submit_and_wait(&self.gpu, encoder);
                    })
                }),
            ));
            for (measure, record) in [
                (
                    "recorded_50",
                    Box::new(|encoder: &mut wgpu::CommandEncoder| {
                        (0..RECORDED).for_each(|_| prepared.encode(encoder));
                    }) as Box<dyn Fn(&mut wgpu::CommandEncoder)>,
                ),
                (
                    "in_pass_50",
                    Box::new(|encoder| {
                        let mut pass = encoder.begin_compute_pass(&Default::default());
                        (0..RECORDED).for_each(|_| prepared.encode_in_pass(&mut pass));
                    }),
                ),
                (
                    "vec4_copy_50",
                    Box::new(|encoder| {
                        (0..RECORDED).for_each(|_| self.copy_vec4(encoder, &vec4_copy));
                    }),
                ),
                (
                    "empty_50",
                    Box::new(|encoder| {
                        (0..RECORDED).for_each(|_| {
                            let mut pass = encoder.begin_compute_pass(&Default::default());
                            self.record_nothing(&mut pass);
                        });
                    }),
                ),
                (
                    "empty_in_pass_50",
                    Box::new(|encoder| {
                        let mut pass = encoder.begin_compute_pass(&Default::default());
                        (0..RECORDED).for_each(|_| self.record_nothing(&mut pass));
                    }),
                ),
            ] {
                figures.push(Figure {
                    calls: RECORDED,
                    ..figure(
                        measure,
                        Box::new(move || self.time(&self.gpu, |encoder| record(encoder))),
                    )
                });
            }
            // On the host: with all checks and objects, and once those are made.
            for (measure, record) in [
                (
                    "record",
                    Box::new(|encoder: &mut wgpu::CommandEncoder| {
                        let encoded = self.gpu.gatherer().encode(encoder, &plan, &whole);
                        encoded.expect("checked before");
                    }) as Box<dyn Fn(&mut wgpu::CommandEncoder)>,
                ),
                ("replay", Box::new(|encoder| prepared.encode(encoder))),
            ] {
                figures.push(Figure {
                    calls: RECORDED,
                    ..figure(
                        measure,
                        Box::new(move || {
                            let mut encoder = new_encoder(&self.gpu);
                            took(|| (0..RECORDED).for_each(|_| record(&mut encoder)))
                        }),
                    )
                });
            }
        }
        // By itself: it fills caches with what no other has a use for.
        let end_to_end = figure(
            "end_to_end",
            Box::new(|| {
                took(|| {
                    let table = self.gpu.upload(&data.params).expect("it fits");
                    let output = self.gpu.gather_blocking(&plan, &table, &data.indices);
                    drop(output.expect("it fits"));
                })
            }),
        );
        let mut timed = time(figures, rounds);
        timed.extend(time(vec![end_to_end], rounds));
        on_gpu.check(&self.gpu, &plan, data)?;
        Ok(timed)
    }

    /// The same gather with params in 2 and in 8 buffer ranges, and on devices that bind only a half and an
    /// eighth of params at once, which cuts the output too.
    pub fn measure_windows<T, I>(
        &self,
        data: &Data<T, I>,
        rounds: usize,
    ) -> Result<Vec<Timed>, String>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        let plan = data.workload.plan(BadIndices::DeviceDefault);
        let on_gpu = Operands::new(&self.gpu, data)?;
        let params_bytes = on_gpu.table.buffer().size();
        let rows = plan.dims().params_rows();
        let shards = [1, 2, 8].map(|count| {
            let shard = |number| ParamsShard {
                rows: rows / count,
                range: on_gpu
                    .table
                    .buffer()
                    .slice(params_bytes / count * number..params_bytes / count * (number + 1)),
            };
            (0..count).map(shard).collect::<Vec<_>>()
        });
        let lowered = [2, 8].map(|count| {
            let limits = wgpu::Limits {
                max_storage_buffer_binding_size: params_bytes / count,
                ..self.adapter.limits()
            };
            let gpu = device_of(&self.adapter, limits)?;
            let operands = Operands::new(&gpu, data)?;
            operands.check(&gpu, &plan, data)?;
            Ok::<_, String>((gpu, operands))
        });
        let [half, eighth] = lowered;
        let (half, eighth) = (half?, eighth?);

        let whole = on_gpu.buffers(&self.gpu);
        let figure = |measure, gpu, buffers| Figure {
            device: DEVICE,
            threads: 0,
            measure,
            calls: 1,
            sample: {
                let plan = &plan;
                Box::new(move || self.time_gather(gpu, plan, &buffers))
                    as Box<dyn FnMut() -> Duration>
            },
        };
        let figures = vec![
            figure("uncut", &self.gpu, whole.with_params_shards(&shards[0])),
            figure(
                "params_in_2",
                &self.gpu,
                whole.with_params_shards(&shards[1]),
            ),
            figure(
                "params_in_8",
                &self.gpu,
                whole.with_params_shards(&shards[2]),
            ),
            figure("bindings_of_half", &half.0, half.1.buffers(&half.0)),
            figure("bindings_of_eighth", &eighth.0, eighth.1.buffers(&eighth.0)),
        ];
        Ok(time(figures, rounds))
    }

    fn time_gather(&self, gpu: &Gpu, plan: &GatherPlan, buffers: &GatherBuffers<'_>) -> Duration {
        let mut encoder = new_encoder(gpu);
        let encoded = gpu.gatherer().encode(&mut encoder, plan, buffers);
        encoded.expect("checked before");
        took(|| submit_and_wait(gpu, encoder))
    }

    /// The time on the device of what is recorded.
    fn time(&self, gpu: &Gpu, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Duration {
        let mut encoder = new_encoder(gpu);
        let Some(stamps) = &self.stamps else {
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
        #[allow(clippy::cast_precision_loss)]
        Duration::from_secs_f64(ticks as f64 * f64::from(gpu.queue().get_timestamp_period()) / 1e9)
    }

    /// What a copy of a buffer by a shader binds, in as few dispatches as the device can, and their workgroups.
    fn prepare_copy(
        &self,
        source: &wgpu::Buffer,
        copied: &wgpu::Buffer,
    ) -> Vec<(wgpu::BindGroup, [u32; 2])> {
        let device = self.gpu.device();
        let limits = device.limits();
        let most = limits.max_storage_buffer_binding_size / 256 * 256;
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
            let workgroups = u32::try_from(size.div_ceil(16 * 64)).expect("a binding");
            let height = workgroups.div_ceil(limits.max_compute_workgroups_per_dimension);
            dispatches.push((operands, [workgroups.div_ceil(height), height]));
            offset += size;
        }
        dispatches
    }

    fn record_nothing(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.nothing);
        pass.dispatch_workgroups(1, 1, 1);
    }

    fn copy_vec4(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        dispatches: &[(wgpu::BindGroup, [u32; 2])],
    ) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.copy);
        for (operands, [width, height]) in dispatches {
            pass.set_bind_group(0, operands, &[]);
            pass.dispatch_workgroups(*width, *height, 1);
        }
    }
}

/// Operands that stay on the device.
struct Operands<T, I> {
    table: GpuTable<T>,
    indices: GpuTable<I>,
    output: wgpu::Buffer,
}

impl<T: Number + GatherElement, I: Number + GatherIndex> Operands<T, I> {
    fn new(gpu: &Gpu, data: &Data<T, I>) -> Result<Self, String> {
        let upload_error = |error: wgpu_gather::GpuError| error.to_string();
        let output_len = data
            .workload
            .plan(BadIndices::DeviceDefault)
            .dims()
            .output_len();
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        Ok(Self {
            table: gpu.upload(&data.params).map_err(upload_error)?,
            indices: gpu.upload(&data.indices).map_err(upload_error)?,
            output: buffer(gpu.device(), output_len * size_of::<T>() as u64, usage),
        })
    }

    fn buffers(&self, _: &Gpu) -> GatherBuffers<'_> {
        GatherBuffers::new::<T, I>(
            self.table.buffer().slice(..),
            self.indices.buffer().slice(..),
            self.output.slice(..),
        )
    }

    /// Against the CPU.
    fn check(&self, gpu: &Gpu, plan: &GatherPlan, data: &Data<T, I>) -> Result<(), String> {
        let gathered = gpu.gather_blocking(plan, &self.table, &data.indices);
        let expected = plan.run(&data.params, &data.indices);
        if gathered.map_err(|error| error.to_string())? == expected.expect("in range") {
            Ok(())
        } else {
            Err("the GPU's output differs from the CPU's".into())
        }
    }
}

fn device_of(adapter: &wgpu::Adapter, required_limits: wgpu::Limits) -> Result<Gpu, String> {
    // On a CPU adapter a clock on the host says what its caller waits for.
    let is_cpu = adapter.get_info().device_type == wgpu::DeviceType::Cpu;
    let has_stamps = adapter.features().contains(STAMPS) && !is_cpu;
    let device = adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: if has_stamps {
            STAMPS
        } else {
            wgpu::Features::empty()
        },
        required_limits,
        ..Default::default()
    });
    let (device, queue) = pollster::block_on(device).map_err(|error| error.to_string())?;
    Ok(Gpu::from_parts(device, queue))
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn new_encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&Default::default())
}

fn submit_and_wait(gpu: &Gpu, encoder: wgpu::CommandEncoder) {
    gpu.queue().submit([encoder.finish()]);
    let waited = gpu.device().poll(wgpu::PollType::wait_indefinitely());
    waited.expect("a live device");
}
