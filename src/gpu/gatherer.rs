//! Pipelines and notes of bad rows, made once per device, and recording. Submits nothing, waits for nothing, and
//! lets wgpu see nothing that has not been checked.

use std::sync::OnceLock;

use super::cut::{Cut, Dispatch};
use super::operands::GatherBuffers;
use super::pipelines::{Bindings, Keys, Pipelines};
use super::prepared::{PreparedGather, Step};
use super::report::NOTES_BYTES;
use super::scope::scoped;
use super::window::{OperandBytes, check_limits};
use crate::bad_indices::BadIndices;
use crate::element::IndexKind;
use crate::error::GatherError;
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
    pub(super) device: wgpu::Device,
    pub(super) limits: wgpu::Limits,
    device_type: wgpu::DeviceType,
    pub(super) pipelines: Pipelines,
    /// Where dispatches note bad rows: zero between gathers, which therefore share it.
    notes: OnceLock<wgpu::Buffer>,
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
            pipelines: Pipelines::default(),
            notes: OnceLock::new(),
        }
    }

    /// A gatherer whose shader module the caller has made of [`SHADER`](Self::SHADER), for instance with
    /// `create_shader_module_trusted` and other runtime checks. The shader needs none of them. Gathers whose output
    /// or report lives in a buffer that is also read take another one, which the gatherer makes.
    #[must_use]
    pub fn with_shader(device: &wgpu::Device, shader: wgpu::ShaderModule) -> Self {
        Self {
            pipelines: Pipelines::with_shader(shader),
            ..Self::new(device)
        }
    }

    /// Chooses kernels as for a device of this type, instead of the one that its adapter says it is: for a driver
    /// that says it wrong, and to try on a CPU that poses as a GPU what runs on one. Answers are the same.
    #[must_use]
    pub fn with_device_type(mut self, device_type: wgpu::DeviceType) -> Self {
        self.device_type = device_type;
        self
    }

    /// Has pipelines compiled with the help of `cache`, and what is compiled kept in it. It must be of the same
    /// device, which needs the feature `PIPELINE_CACHE`; to load and to store it is the caller's.
    #[must_use]
    pub fn with_pipeline_cache(mut self, cache: wgpu::PipelineCache) -> Self {
        self.pipelines.cache = Some(cache);
        self
    }

    /// Compiles what gathers of this plan need, so that the first one need not wait for it: elements of
    /// `element_bytes` bytes, indices of `index_kind`, and a report if the policy is [`BadIndices::Error`]; no fill, no
    /// index count.
    ///
    /// Pipelines are made for few things and never for a shape, so one plan warms up many. Two of those things are
    /// whether rows make groups of four, and with a report whether they, or the invocations that gather them, are more
    /// than 1,024.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare), but for the buffers'.
    ///
    /// ```
    /// use wgpu_gather::{Gather, Gatherer, IndexKind, wgpu};
    ///
    /// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let gatherer = Gatherer::new(&device);
    /// let plan = Gather::new().plan(&[50_000, 128], &[1_000])?;
    /// assert!(gatherer.warm_up(&plan, 4, IndexKind::U32).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn warm_up(
        &self,
        plan: &GatherPlan,
        element_bytes: u64,
        index_kind: IndexKind,
    ) -> Result<(), GatherError> {
        check_element(element_bytes)?;
        let dims = plan.dims();
        OperandBytes::new(dims, element_bytes, index_kind)?;
        let shards = [dims.params_rows()];
        let cut = self.cut(plan, element_bytes, index_kind, &shards)?;
        let report = plan.bad_indices() == BadIndices::Error;
        let bindings = Bindings {
            index_kind,
            report,
            fill: false,
            counted: false,
            one_buffer: false,
        };
        let keys = Keys::new(plan, &cut, bindings);
        if report || dims.output_len() > 0 {
            check_limits(&self.limits, report, false)?;
        }
        for dispatch in cut.dispatches_with(report) {
            for key in keys.of(&dispatch) {
                self.pipelines.get(&self.device, key)?;
            }
        }
        Ok(())
    }

    /// Makes all that recording the gather takes, to be recorded as often as one likes at no other cost.
    ///
    /// # Errors
    ///
    /// See [`GatherError`].
    pub fn prepare(
        &self,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
    ) -> Result<PreparedGather, GatherError> {
        self.steps(plan, buffers).map(PreparedGather::new)
    }

    /// Records the gather as one compute pass.
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
        self.prepare(plan, buffers)?.encode(encoder);
        Ok(())
    }

    /// Records the gather into a compute pass of the caller's, where it sets pipeline and bind group 0.
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
        self.prepare(plan, buffers)?.encode_in_pass(pass);
        Ok(())
    }

    /// All that can fail: the checks, then the GPU objects of each dispatch; if the output is empty none, or those of
    /// the report.
    fn steps(
        &self,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
    ) -> Result<Vec<Step>, GatherError> {
        if plan.bad_indices() == BadIndices::Error && buffers.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        check_element(buffers.element_bytes)?;
        buffers.fill_pattern()?;
        let bytes = OperandBytes::new(plan.dims(), buffers.element_bytes, buffers.index_kind)?;
        let one_buffer = buffers.check(plan.dims(), &bytes, &self.limits)?;
        let shards = buffers.params_shards(plan.dims());
        let rows: Vec<u64> = shards.iter().map(|shard| shard.rows).collect();
        let mut cut = self.cut(plan, buffers.element_bytes, buffers.index_kind, &rows)?;
        let counted = buffers.index_count.is_some() && bytes.output > 0;
        if counted {
            cut = cut.counted();
        }
        let report = buffers.report.is_some();
        let dispatches: Vec<Dispatch> = cut.dispatches_with(report).collect();
        if dispatches.is_empty() {
            return Ok(Vec::new());
        }
        check_limits(&self.limits, report, counted)?;
        log::debug!(
            "{plan}: {:?} in {} dispatches",
            cut.kernel,
            dispatches.len()
        );

        self.make_steps(plan, buffers, &shards, &cut, &dispatches, one_buffer)
    }

    fn cut<'a>(
        &self,
        plan: &'a GatherPlan,
        element_bytes: u64,
        index_kind: IndexKind,
        shard_rows: &[u64],
    ) -> Result<Cut<'a>, GatherError> {
        Cut::new(
            plan.dims(),
            element_bytes,
            index_kind.bytes(),
            shard_rows,
            &self.limits,
            self.device_type,
        )
    }

    /// The notes, of zeros when they are made.
    pub(super) fn notes(&self) -> Result<&wgpu::Buffer, GatherError> {
        if let Some(notes) = self.notes.get() {
            return Ok(notes);
        }
        let notes = scoped(&self.device, || {
            let notes = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("wgpu-gather/notes"),
                size: NOTES_BYTES,
                usage: wgpu::BufferUsages::STORAGE,
                // So that the zeros are there whatever becomes of the first submission. A buffer that wgpu would zero
                // in it counts as zeroed also if the submission is refused.
                mapped_at_creation: true,
            });
            notes.unmap();
            notes
        })?;
        Ok(self.notes.get_or_init(|| notes))
    }
}

fn check_element(element_bytes: u64) -> Result<(), GatherError> {
    match element_bytes {
        0 => Err(GatherError::ZeroSizedElement),
        _ => Ok(()),
    }
}
