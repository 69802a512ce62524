//! Pipelines and a counter of bad rows, made once per device, and recording. Submits nothing, waits for nothing, and
//! lets wgpu see nothing that has not been checked.

use super::buffers::GatherBuffers;
use super::cut::{Cut, Dispatch};
use super::limits::check_limits;
use super::operands::Operands;
use super::pipelines::Pipelines;
use super::prepared::PreparedGather;
use super::shaders::EntryPoint;
use super::shaders::Shader;
use super::types::{ElementTypes, OperandBytes};
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
    pub(super) pipelines: Pipelines,
}

impl Gatherer {
    /// The name and the WGSL of each shader module that gathers may take.
    pub fn shaders() -> impl Iterator<Item = (&'static str, &'static str)> {
        Shader::ALL
            .into_iter()
            .map(|shader| (shader.name(), shader.source()))
    }

    /// A gatherer for gathers on `device`. Makes no GPU object yet.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            pipelines: Pipelines::new(device),
        }
    }

    /// Has shader modules made by `make` when they are first needed, for instance by `create_shader_module_trusted`
    /// without runtime checks: the shaders need none of them. Gathers whose output or report lives in a buffer that is
    /// also read take modules of their own, which differ in the access of bindings only.
    #[must_use]
    pub fn with_shader_modules(
        mut self,
        make: impl Fn(&wgpu::Device, wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.pipelines.make_shader = Some(Box::new(make));
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
    /// `element_bytes` bytes, indices of `index_kind`, and a report if the policy is [`BadIndices::Error`]; no index count,
    /// and no fill but one of 1, 2, 4, 8 or 16 bytes.
    ///
    /// Pipelines are made for few things and never for a shape or another policy, so one plan warms up many.
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
        let types = ElementTypes {
            element_bytes,
            index_kind,
        };
        let dims = plan.dims();
        let bytes = types.operand_bytes(dims)?;
        self.check_buffer_sizes(&bytes)?;
        let cut = Cut::new(dims, types, &[dims.params_rows()], &self.pipelines.limits)?;
        let report = plan.bad_indices() == BadIndices::Error;
        if report || bytes.output > 0 {
            check_limits(&self.pipelines.limits, report, false)?;
        }
        let finish = report.then(|| EntryPoint::FinishReport.key(false));
        for key in cut.pipelines(report).into_iter().chain(finish) {
            self.pipelines.get(key)?;
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
        if plan.bad_indices() == BadIndices::Error && buffers.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        let limits = &self.pipelines.limits;
        let bytes = buffers.types.operand_bytes(plan.dims())?;
        let operands = Operands::checked(buffers, plan.dims(), &bytes, limits)?;
        let shard_rows: Vec<u64> = operands.shards.iter().map(|shard| shard.rows).collect();
        let mut cut = Cut::new(plan.dims(), operands.types, &shard_rows, limits)?;
        cut.set_fill_words(operands.fill.words);
        let is_indirect = operands.index_count.is_some() && bytes.output > 0;
        if is_indirect {
            cut = cut.indirect();
        }
        let dispatches: Vec<Dispatch> = cut.dispatches().collect();
        if !dispatches.is_empty() || operands.report.is_some() {
            check_limits(limits, operands.report.is_some(), is_indirect)?;
        }
        if let Some(first) = dispatches.first() {
            let count = dispatches.len();
            log::debug!(
                "{plan}: {count} dispatches, the first by {:?}",
                first.kernel
            );
        }
        PreparedGather::new(&self.pipelines, plan, &operands, &dispatches)
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

    /// A device without buffers for indices and output cannot run the gather; params may come in several.
    fn check_buffer_sizes(&self, bytes: &OperandBytes) -> Result<(), GatherError> {
        let (expected, found) = (
            bytes.indices.max(bytes.output),
            self.pipelines.limits.max_buffer_size,
        );
        if found < expected {
            return Err(GatherError::DeviceLimit {
                name: "max_buffer_size",
                expected,
                found,
            });
        }
        Ok(())
    }
}
