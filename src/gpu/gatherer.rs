//! Pipelines, made once per device, and recording. Submits nothing, waits for nothing, and lets wgpu see
//! nothing that has not been checked.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::kernel::{EntryPoint, PipelineKey, binding};
use super::operands::GatherBuffers;
use super::report::REPORT_BYTES;
use super::scope::scoped;
use super::window::{
    Dispatch, GatherWindow, OperandBytes, check_binding, check_limits, range_bytes,
};
use crate::bad_indices::BadIndices;
use crate::error::{GatherError, Operand};
use crate::plan::GatherPlan;

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
    shader: Option<wgpu::ShaderModule>,
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
            shader: None,
            pipelines: Mutex::default(),
        }
    }

    /// A gatherer whose shader module the caller has made of [`SHADER`](Self::SHADER), for instance with
    /// `create_shader_module_trusted` and other runtime checks. The shader needs none of them.
    #[must_use]
    pub fn with_shader(device: &wgpu::Device, shader: wgpu::ShaderModule) -> Self {
        Self {
            shader: Some(shader),
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
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("wgpu-gather/encode"),
                timestamp_writes: None,
            });
            record_steps(&mut pass, &steps);
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
    pub fn record(
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
        buffers.check(&bytes, &self.limits, report_usage)?;
        let report = buffers.report.is_some();
        if report {
            check_binding(Operand::Report, REPORT_BYTES, &self.limits)?;
        }
        let dispatch = Dispatch::whole(plan.dims(), &bytes, buffers.element_bytes, &self.limits)?;
        let Some(dispatch) = dispatch else {
            // A report is cleared all the same, so it too must be one that the device takes.
            buffers
                .report
                .map_or(Ok(()), |report| self.check_bindable(report))?;
            return Ok(Vec::new());
        };
        check_limits(&self.limits, report)?;
        log::debug!(
            "{plan}: {:?} on {:?} workgroups",
            dispatch.kernel,
            dispatch.workgroups
        );

        let gather = EntryPoint::Gather {
            unit: dispatch.kernel.unit,
            report,
        };
        let entry_points = [
            Some((gather, dispatch.workgroups)),
            report.then_some((EntryPoint::CopyFirstBadRow, (1, 1))),
        ];
        let mut steps = Vec::with_capacity(entry_points.len());
        let window = scoped(&self.device, || self.make_window(&dispatch.window))?;
        for (entry_point, workgroups) in entry_points.into_iter().flatten() {
            let pipeline =
                self.pipeline(PipelineKey::new(plan, buffers.index_kind, entry_point))?;
            let bind_group = scoped(&self.device, || {
                self.bind(&pipeline, entry_point, &window, buffers, &bytes)
            })?;
            steps.push(Step {
                pipeline,
                bind_group,
                workgroups,
            });
        }
        Ok(steps)
    }

    fn make_window(&self, window: &GatherWindow) -> wgpu::Buffer {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/window"),
            size: size_of::<GatherWindow>() as u64,
            usage: wgpu::BufferUsages::UNIFORM,
            mapped_at_creation: true,
        });
        // A lost device maps nothing; what else went wrong is in the error scope.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            mapped.copy_from_slice(bytemuck::bytes_of(window));
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
        let pipeline = scoped(&self.device, || self.make_pipeline(key))?;
        pipelines.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    fn make_pipeline(&self, key: PipelineKey) -> wgpu::ComputePipeline {
        let shader = self.shader.clone().unwrap_or_else(|| {
            self.device
                .create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some("wgpu-gather/gather.wgsl"),
                    source: wgpu::ShaderSource::Wgsl(Self::SHADER.into()),
                })
        });
        let name = key.entry_point.name();
        self.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(&format!("wgpu-gather/{name}")),
                layout: None,
                module: &shader,
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
        window: &wgpu::Buffer,
        buffers: &GatherBuffers<'_>,
        bytes: &OperandBytes,
    ) -> wgpu::BindGroup {
        // wgpu binds no empty range. The shader reads no params if there are no rows, and no indices if the
        // index depth is 0, so the other one, which is not empty then, stands in.
        let params = (buffers.params, bytes.params);
        let indices = (buffers.indices, bytes.indices);
        let (params, indices) = match (bytes.params, bytes.indices) {
            (0, _) => (indices, indices),
            (_, 0) => (params, params),
            _ => (params, indices),
        };
        let entries = entry_point.bindings().iter().map(|&number| {
            let (range, bytes) = match number {
                binding::WINDOW => (window.slice(..), window.size()),
                binding::PARAMS => params,
                binding::INDICES => indices,
                binding::OUTPUT => (buffers.output, bytes.output),
                _ => (
                    buffers
                        .report
                        .expect("an entry point that reports has a report"),
                    REPORT_BYTES,
                ),
            };
            entry(number, range, bytes)
        });
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
                entries: &[entry(binding::REPORT, report, REPORT_BYTES)],
            }));
        })
    }
}

fn entry(
    binding: u32,
    range: wgpu::BufferSlice<'_>,
    operand_bytes: u64,
) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: range.buffer(),
            offset: range.offset(),
            size: wgpu::BufferSize::new(range_bytes(operand_bytes)),
        }),
    }
}

/// One dispatch, ready to record.
struct Step {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    workgroups: (u32, u32),
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
