//! Pipelines, made once per device, and recording. Submits nothing, waits for nothing, and lets wgpu see
//! nothing that has not been checked.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::bound::{Bound, entry};
use super::cut::{Cut, Dispatch};
use super::kernel::{EntryPoint, PipelineKey, binding};
use super::operands::{GatherBuffers, ParamsShard};
use super::report::REPORT_BYTES;
use super::scope::scoped;
use super::window::{OperandBytes, WINDOW_BYTES, WORD_BYTES, check_limits};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// The windows of many dispatches share buffers of up to this many bytes.
const MAX_WINDOWS_BYTES: u64 = 1 << 16;

/// Records gathers on one device.
///
/// Make one and keep it: its pipelines are compiled when a gather first needs them. It may be shared
/// among threads.
///
/// Everything that can be checked is checked before anything is recorded; what wgpu alone can see, a
/// buffer that is destroyed or of another device, comes back as [`GatherError::Rejected`]. Three mistakes
/// nobody sees while recording: a buffer that is mapped when the commands are submitted, an encoder or pass
/// of another device, and a buffer of another `wgpu::Instance`, which wgpu may take for one of this device's.
///
/// ```no_run
#[doc = include_str!("../../tests/doc_examples/gatherer.rs")]
/// ```
#[derive(Debug)]
pub struct Gatherer {
    device: wgpu::Device,
    limits: wgpu::Limits,
    device_type: wgpu::DeviceType,
    shader: OnceLock<wgpu::ShaderModule>,
    pipelines: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
}

impl Gatherer {
    /// The WGSL of all kernels, for [`with_shader`](Self::with_shader).
    pub const SHADER: &'static str = include_str!("../../shaders/gather.wgsl");

    /// A gatherer for gathers on `device`. Makes no GPU object yet.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            device: device.clone(),
            limits: device.limits(),
            device_type: device.adapter_info().device_type,
            shader: OnceLock::new(),
            pipelines: Mutex::default(),
        }
    }

    /// A gatherer whose shader module the caller has made of [`SHADER`](Self::SHADER), for instance with
    /// `create_shader_module_trusted` and other runtime checks. The shader needs none of them.
    #[must_use]
    pub fn with_shader(device: &wgpu::Device, shader: wgpu::ShaderModule) -> Self {
        Self {
            shader: OnceLock::from(shader),
            ..Self::new(device)
        }
    }

    /// Records the gather as one compute pass. If there is a report, clears it first.
    ///
    /// # Errors
    ///
    /// See [`GatherError`]; nothing has been recorded then.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
    ) -> Result<(), GatherError> {
        let report_usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let steps = self.prepare(plan, buffers, report_usage)?;
        if let Some(report) = buffers.report {
            encoder.clear_buffer(report.buffer(), report.offset(), Some(REPORT_BYTES));
        }
        if !steps.is_empty() {
            record_pass(encoder, &steps);
        }
        Ok(())
    }

    /// Records the gather into a compute pass of the caller's, where it sets pipeline and bind group 0.
    ///
    /// A report must hold zeros when the pass begins: a pass cannot clear it.
    ///
    /// # Errors
    ///
    /// See [`GatherError`]; nothing has been recorded then.
    pub fn encode_in_pass(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
    ) -> Result<(), GatherError> {
        let steps = self.prepare(plan, buffers, wgpu::BufferUsages::STORAGE)?;
        record_steps(pass, &steps);
        Ok(())
    }

    /// All that can fail: the checks, then the GPU objects of each dispatch; none if the output is empty.
    fn prepare(
        &self,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
        report_usage: wgpu::BufferUsages,
    ) -> Result<Vec<Step>, GatherError> {
        if plan.bad_indices() == BadIndices::Error && buffers.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        if buffers.element_bytes == 0 {
            return Err(GatherError::ZeroSizedElement);
        }
        let bytes = OperandBytes::new(plan.dims(), buffers.element_bytes, buffers.index_kind)?;
        buffers.check(plan.dims(), &bytes, &self.limits, report_usage)?;
        let shards = buffers.params_shards(plan.dims());
        let cut = Cut::new(
            plan.dims(),
            buffers.element_bytes,
            buffers.index_kind.bytes(),
            &shards.iter().map(|shard| shard.rows).collect::<Vec<_>>(),
            &self.limits,
            self.device_type,
        )?;
        let dispatches: Vec<Dispatch> = cut.dispatches().collect();
        if dispatches.is_empty() {
            // A report is cleared all the same, so it too must be one that the device takes.
            buffers
                .report
                .map_or(Ok(()), |report| self.check_bindable(report))?;
            return Ok(Vec::new());
        }
        check_limits(&self.limits, buffers.report.is_some())?;
        log::debug!(
            "{plan}: {:?} in {} dispatches",
            cut.kernel,
            dispatches.len()
        );

        self.make_steps(plan, buffers, &shards, &cut, &dispatches)
    }

    /// The GPU objects of dispatches of a plan, whose operands are checked.
    pub(super) fn make_steps(
        &self,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
        shards: &[ParamsShard<'_>],
        cut: &Cut<'_>,
        dispatches: &[Dispatch],
    ) -> Result<Vec<Step>, GatherError> {
        let report = buffers.report.is_some();
        let gather = PipelineKey {
            entry_point: EntryPoint::Gather {
                unit: cut.kernel.unit,
                grouped: false,
                report,
            },
            index_kind: buffers.index_kind,
            // Numbers without a sign have no other end to be counted from.
            from_end: plan.negative_indices() == NegativeIndices::FromEnd
                && buffers.index_kind.is_signed(),
            wide: cut.is_wide(),
            index_depth: 1,
        };
        let grouped = PipelineKey {
            entry_point: EntryPoint::Gather {
                unit: cut.kernel.unit,
                grouped: true,
                report,
            },
            index_depth: u32::try_from(plan.dims().index_depth()).expect("8 at most"),
            ..gather
        };
        let copy = PipelineKey {
            entry_point: EntryPoint::CopyFirstBadRow,
            ..gather
        };
        let mut steps = Vec::new();
        for dispatches in dispatches.chunks(self.windows_per_buffer()) {
            let windows = scoped(&self.device, || self.make_windows(dispatches))?;
            for (number, dispatch) in dispatches.iter().enumerate() {
                let bound = Bound {
                    window: (&windows, number as u64 * self.window_stride()),
                    params: shards[dispatch.shard].range,
                    buffers,
                    dispatch,
                };
                let copies = report && dispatch.window.reports == 1;
                let gather = if dispatch.grouped { grouped } else { gather };
                for (key, workgroups) in [(gather, dispatch.workgroups), (copy, (1, 1))]
                    .into_iter()
                    .take(if copies { 2 } else { 1 })
                {
                    let pipeline = self.pipeline(key)?;
                    let bind_group = scoped(&self.device, || {
                        self.bind(&pipeline, key.entry_point, &bound)
                    })?;
                    steps.push(Step {
                        pipeline,
                        bind_group,
                        workgroups,
                    });
                }
            }
        }
        Ok(steps)
    }

    /// Bytes from one window to the next in a buffer of windows.
    fn window_stride(&self) -> u64 {
        let alignment = u64::from(
            self.limits
                .min_uniform_buffer_offset_alignment
                .max(WORD_BYTES),
        );
        WINDOW_BYTES.next_multiple_of(alignment)
    }

    fn windows_per_buffer(&self) -> usize {
        let buffer_bytes = self.limits.max_buffer_size.min(MAX_WINDOWS_BYTES);
        usize::try_from(buffer_bytes / self.window_stride()).map_or(1, |windows| windows.max(1))
    }

    fn make_windows(&self, dispatches: &[Dispatch]) -> wgpu::Buffer {
        let stride = self.window_stride();
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/windows"),
            size: (dispatches.len() as u64 - 1) * stride + WINDOW_BYTES,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE,
            mapped_at_creation: true,
        });
        // A lost device maps nothing; what else went wrong is in the error scope.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            let mut start = 0;
            for dispatch in dispatches {
                let window = bytemuck::bytes_of(&dispatch.window);
                mapped
                    .slice(start..start + window.len())
                    .copy_from_slice(window);
                start += usize::try_from(stride).expect("windows in memory");
            }
        }
        buffer.unmap();
        buffer
    }

    fn pipeline(&self, key: PipelineKey) -> Result<wgpu::ComputePipeline, GatherError> {
        let mut pipelines = self
            .pipelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&key) {
            return Ok(pipeline.clone());
        }
        let shader = self.shader()?;
        let pipeline = scoped(&self.device, || self.make_pipeline(key, shader))?;
        pipelines.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    /// The shader module, made for the first pipeline.
    fn shader(&self) -> Result<&wgpu::ShaderModule, GatherError> {
        if let Some(shader) = self.shader.get() {
            return Ok(shader);
        }
        let shader = scoped(&self.device, || {
            self.device
                .create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("wgpu-gather/gather.wgsl"),
                    source: wgpu::ShaderSource::Wgsl(Self::SHADER.into()),
                })
        })?;
        Ok(self.shader.get_or_init(|| shader))
    }

    fn make_pipeline(
        &self,
        key: PipelineKey,
        shader: &wgpu::ShaderModule,
    ) -> wgpu::ComputePipeline {
        let name = key.entry_point.name();
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&format!("wgpu-gather/{name}")),
                layout: None,
                module: shader,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &key.overrides(),
                    // The output is written whole, workgroup memory is not used.
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            })
    }

    /// Binds what the entry point reads and writes.
    fn bind(
        &self,
        pipeline: &wgpu::ComputePipeline,
        entry_point: EntryPoint,
        bound: &Bound<'_>,
    ) -> wgpu::BindGroup {
        let entries = entry_point
            .bindings()
            .iter()
            .map(|&number| bound.entry(number));
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("wgpu-gather/operands"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries.collect::<Vec<_>>(),
        })
    }

    /// Binds a report to nothing: only wgpu knows whether it is destroyed, or another device's.
    fn check_bindable(&self, report: wgpu::BufferSlice<'_>) -> Result<(), GatherError> {
        let layout_entry = wgpu::BindGroupLayoutEntry {
            binding: binding::REPORT,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        scoped(&self.device, || {
            let label = Some("wgpu-gather/report");
            let layout = self
                .device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label,
                    entries: &[layout_entry],
                });
            drop(self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label,
                layout: &layout,
                entries: &[entry(
                    binding::REPORT,
                    report.buffer(),
                    report.offset(),
                    REPORT_BYTES,
                )],
            }));
        })
    }
}

/// One dispatch, ready to record.
pub(super) struct Step {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
}

pub(super) fn record_pass(encoder: &mut wgpu::CommandEncoder, steps: &[Step]) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("wgpu-gather/encode"),
        timestamp_writes: None,
    });
    record_steps(&mut pass, steps);
}

fn record_steps(pass: &mut wgpu::ComputePass<'_>, steps: &[Step]) {
    for Step {
        pipeline,
        bind_group,
        workgroups,
    } in steps
    {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, bind_group, &[]);
        pass.dispatch_workgroups(workgroups.0, workgroups.1, 1);
    }
}
