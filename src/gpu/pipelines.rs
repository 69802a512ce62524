//! Pipelines: which ones a gather needs, and those that a device has. Made when they are first needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::cut::{Cut, Dispatch};
use super::gatherer::Gatherer;
use super::kernel::{BadRowsTo, EntryPoint, Kernel, PipelineKey};
use super::scope::scoped;
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::element::IndexKind;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// What pipelines depend on of the buffers that a gather is given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bindings {
    pub(super) index_kind: IndexKind,
    pub(super) report: bool,
    pub(super) fill: bool,
    /// How many index rows there are is counted on the device.
    pub(super) counted: bool,
    /// An operand that is only read lives in a buffer that is written.
    pub(super) one_buffer: bool,
}

/// The pipelines of one gather.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    kernel: Kernel,
    /// Of rows taken one by one, without a report.
    gather: PipelineKey,
    /// For rows in groups.
    index_depth: u32,
    report: bool,
    counted: bool,
}

impl Keys {
    pub(super) fn new(plan: &GatherPlan, cut: &Cut<'_>, bindings: Bindings) -> Self {
        let Bindings {
            index_kind,
            report,
            fill,
            counted,
            one_buffer,
        } = bindings;
        let gather = PipelineKey {
            entry_point: EntryPoint::Gather {
                unit: cut.kernel.unit,
                rows: cut.kernel.rows(false),
                bad_rows: BadRowsTo::Nowhere,
            },
            index_kind,
            // Numbers without a sign have no other end to be counted from.
            from_end: plan.negative_indices() == NegativeIndices::FromEnd && index_kind.is_signed(),
            clamp: plan.bad_indices() == BadIndices::Clamp,
            fill,
            places: plan.dims().has_places(),
            wide: cut.is_wide(),
            one_part: false,
            one_buffer,
            index_depth: 1,
        };
        Self {
            kernel: cut.kernel,
            gather,
            index_depth: u32::try_from(plan.dims().index_depth()).expect("8 at most"),
            report,
            counted,
        }
    }

    /// Those of one dispatch: the one that counts its rows, the gather's, and the one that reports its bad rows.
    pub(super) fn of(&self, dispatch: &Dispatch) -> impl Iterator<Item = PipelineKey> + use<> {
        let bad_rows = dispatch.bad_rows_to(self.report);
        let gather = PipelineKey {
            entry_point: EntryPoint::Gather {
                unit: self.kernel.unit,
                rows: self.kernel.rows(dispatch.grouped),
                bad_rows,
            },
            one_part: dispatch.one_part,
            index_depth: if dispatch.grouped {
                self.index_depth
            } else {
                1
            },
            ..self.gather
        };
        let gathers = dispatch.gathers();
        let count = (gathers && self.counted).then_some(PipelineKey::COUNT_ROWS);
        let reports = bad_rows == BadRowsTo::Notes && dispatch.window.reports == 1;
        let report =
            reports.then(|| PipelineKey::report_bad_rows(gather.index_kind, gather.one_buffer));
        let gather = gathers.then_some(gather);
        count.into_iter().chain(gather).chain(report)
    }
}

/// The pipelines of a device.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    shader: OnceLock<wgpu::ShaderModule>,
    one_buffer_shader: OnceLock<wgpu::ShaderModule>,
    pub(super) cache: Option<wgpu::PipelineCache>,
    made: Mutex<HashMap<PipelineKey, wgpu::ComputePipeline>>,
}

impl Pipelines {
    pub(super) fn with_shader(shader: wgpu::ShaderModule) -> Self {
        Self {
            shader: OnceLock::from(shader),
            ..Self::default()
        }
    }

    pub(super) fn get(
        &self,
        device: &wgpu::Device,
        key: PipelineKey,
    ) -> Result<wgpu::ComputePipeline, GatherError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = made.get(&key) {
            return Ok(pipeline.clone());
        }
        let shader = if key.one_buffer {
            let source = || one_buffer_shader().into();
            made_shader(device, &self.one_buffer_shader, source)?
        } else {
            made_shader(device, &self.shader, || Gatherer::SHADER.into())?
        };
        let pipeline = scoped(device, || self.make(device, key, shader))?;
        made.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    fn make(
        &self,
        device: &wgpu::Device,
        key: PipelineKey,
        shader: &wgpu::ShaderModule,
    ) -> wgpu::ComputePipeline {
        let name = key.entry_point.name();
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&format!("wgpu-gather/{name}")),
            layout: None,
            module: shader,
            entry_point: Some(name),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: &key.overrides(),
                // The output is written whole, workgroup memory is not used.
                zero_initialize_workgroup_memory: false,
            },
            cache: self.cache.as_ref(),
        })
    }
}

/// The shader for operands in one buffer: bound in several places, all of them must be bound for writing, although
/// the shader writes to none of the others.
pub(super) fn one_buffer_shader() -> String {
    Gatherer::SHADER.replace("var<storage, read>", "var<storage, read_write>")
}

/// A shader module, made for the first pipeline.
fn made_shader<'a>(
    device: &wgpu::Device,
    made: &'a OnceLock<wgpu::ShaderModule>,
    source: impl FnOnce() -> Cow<'static, str>,
) -> Result<&'a wgpu::ShaderModule, GatherError> {
    if let Some(shader) = made.get() {
        return Ok(shader);
    }
    let shader = scoped(device, || {
        device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("wgpu-gather/gather.wgsl"),
            source: wgpu::ShaderSource::Wgsl(source()),
        })
    })?;
    Ok(made.get_or_init(|| shader))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gather;

    #[test]
    fn gathers_share_what_reports_their_bad_rows() {
        let plans = [
            Gather::new(),
            Gather::new().negative_indices(NegativeIndices::FromEnd),
        ]
        .map(|gather| gather.plan(&[9, 3], &[5]).expect("a valid shape"));
        let keys = |index_kind: IndexKind| {
            plans.each_ref().map(|plan| {
                let cut = Cut::new(
                    plan.dims(),
                    4,
                    index_kind.bytes(),
                    &[9],
                    &wgpu::Limits::default(),
                    wgpu::DeviceType::DiscreteGpu,
                )
                .expect("the device holds a row");
                let bindings = Bindings {
                    index_kind,
                    report: true,
                    fill: false,
                    counted: false,
                    one_buffer: false,
                };
                let keys = Keys::new(plan, &cut, bindings);
                let dispatch = cut.dispatches().next().expect("an output");
                keys.of(&dispatch).collect::<Vec<_>>()
            })
        };
        let [i32_keys, from_end] = keys(IndexKind::I32);
        let [u32_keys, _] = keys(IndexKind::U32);
        let [i64_keys, _] = keys(IndexKind::I64);
        for others in [&from_end, &u32_keys] {
            assert_ne!(i32_keys[0], others[0]);
            assert_eq!(i32_keys[1..], others[1..]);
        }
        assert_eq!(i32_keys.len(), 2);
        assert_ne!(i32_keys[1], i64_keys[1]);
    }
}
