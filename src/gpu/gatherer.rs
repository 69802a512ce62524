//! The gatherer records gathers on one device, with pipelines and a counter that it makes once. It submits nothing,
//! waits for nothing, and checks its inputs before wgpu sees them.

use super::buffers::GatherBuffers;
use super::limits::{Needs, check_buffers};
use super::operands::Operands;
use super::pipelines::Pipelines;
use super::placed::Placed;
use super::prepared::PreparedGather;
use super::scatter::{PreparedScatter, ScatterBuffers};
use super::scope::is_lost;
use super::types::TypedPlan;
use super::work::Work;
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// How many dispatches from the first on show all pipelines, except those for the last rows.
const MAX_DIFFERENT_DISPATCHES: usize = 1000;

/// Records gathers, and [scatters](crate::guide::scatter), on one device.
///
/// Make one gatherer and keep it: a pipeline is compiled when a gather first needs it. Threads may share a gatherer.
///
/// [`GatherBuffers`] says where the operands lie, and takes the options: a report, a mask, a fill, and an index count that
/// only the GPU knows.
///
/// Each call checks its inputs before it records anything. If only wgpu can see a mistake, such as a destroyed buffer or
/// another device's buffer, you get [`GatherError::Rejected`]. Three mistakes are not found while recording:
///
/// - a buffer that is mapped or destroyed when you submit the commands;
/// - an encoder or pass from another device;
/// - a buffer from another `wgpu::Instance`, which wgpu may take for one of this device's.
///
/// ```no_run
#[doc = include_str!("../../tests/doc_examples/gatherer.rs")]
/// ```
#[derive(Debug)]
pub struct Gatherer {
    pub(super) pipelines: Pipelines,
}

impl Gatherer {
    /// A gatherer for `device`. Makes no GPU object yet.
    #[must_use]
    pub fn new(device: &wgpu::Device) -> Self {
        Self {
            pipelines: Pipelines::new(device),
        }
    }

    /// Calls `make` for each shader module, when a gather first needs it. `make` may call `create_shader_module_trusted` without
    /// runtime checks, which the shaders do not need. If a gather's output or report shares a buffer with an operand that it
    /// reads, the gather uses other modules, which differ only in how bindings are accessed.
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

    /// Compiles pipelines with the help of `cache`, and adds them to `cache`. The cache must belong to the same device, which
    /// needs the feature `PIPELINE_CACHE`. You load and store its data.
    #[must_use]
    pub fn with_pipeline_cache(mut self, cache: wgpu::PipelineCache) -> Self {
        self.pipelines.cache = Some(cache);
        self
    }

    /// Compiles the pipelines that this plan needs with these types, so that the first gather does not wait for them.
    ///
    /// Plans of other sizes often need the same pipelines. The policies `Error` and `Wrap` have pipelines of their own; all other policies
    /// share theirs. `warm_up` leaves out the pipelines for the following, which [`prepare`](Self::prepare) compiles:
    ///
    /// - a report, unless the policy is [`BadIndices::Error`];
    /// - a mask, or an index count;
    /// - params in shards, or in a buffer that it shares with the output or the report;
    /// - a fill that does not have 1, 2, 4, 8 or 16 bytes.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare), except for buffers.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, Gatherer, wgpu};
    ///
    /// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let gatherer = Gatherer::new(&device);
    /// let plan = Gather::new().plan(&[50_000, 128], &[1_000])?;
    /// assert!(gatherer.warm_up(&plan, ElementTypes::of::<f32, u32>()).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn warm_up(&self, plan: &GatherPlan, types: ElementTypes) -> Result<(), GatherError> {
        let typed = TypedPlan::new(plan, types)?;
        let limits = &self.pipelines.limits;
        check_buffers(limits, &typed.bytes)?;
        let placed = Placed {
            has_report: plan.bad_indices() == BadIndices::Error,
            ..Placed::aligned(plan)
        };
        let work = Work::gather(typed, &placed, limits)?;
        let keys = work.keys(MAX_DIFFERENT_DISPATCHES);
        Needs::of_all(&keys).check(limits)?;
        for key in keys {
            self.pipelines.get(key, work.texts)?;
        }
        // wgpu makes pipelines on a lost device without an error.
        match is_lost(&self.pipelines.device) {
            true => Err(GatherError::DeviceLost),
            false => Ok(()),
        }
    }

    /// Makes the pipelines, uniforms and bind groups, so that you can then record the gather any number of times.
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
        self.prepare_typed(TypedPlan::new(plan, buffers.types)?, buffers)
    }

    /// As [`prepare`](Self::prepare), with a report if the policy needs one.
    pub(crate) fn prepare_typed(
        &self,
        typed: TypedPlan<'_>,
        buffers: &GatherBuffers<'_>,
    ) -> Result<PreparedGather, GatherError> {
        let operands = Operands::checked(buffers, &typed, &self.pipelines.limits)?;
        let placed = operands.placed();
        let work = Work::gather(typed, &placed, &self.pipelines.limits)?;
        PreparedGather::new(&self.pipelines, &work, &operands)
    }

    /// Records the gather as one compute pass. To record into a pass of your own, call [`prepare`](Self::prepare), then
    /// [`PreparedGather::encode_in_pass`].
    ///
    /// # Errors
    ///
    /// See [`GatherError`]. After an error nothing has been recorded.
    pub fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
    ) -> Result<(), GatherError> {
        self.prepare(plan, buffers)?.encode(encoder);
        Ok(())
    }

    /// Makes the pipelines, uniforms and bind groups of a scatter, which you can then record any number of times. The result
    /// has the same bits as [`GatherPlan::scatter`] or [`scatter_reduce`](GatherPlan::scatter_reduce).
    ///
    /// Bad rows are dropped and good rows are written, under [`BadIndices::DeviceDefault`] and [`Error`](BadIndices::Error) too.
    /// The CPU instead writes nothing if a row is bad under these two.
    ///
    /// If rows may repeat, an assign of several updates takes three passes, and keeps 4 bytes for each target row in each
    /// batch; a reduction without atomics sorts the index rows, and keeps what
    /// [costs](crate::guide::costs#scatters-on-a-gpu) lists: 16.25 bytes for each, and more where a batch has over 1,024.
    /// [`with_unique_indices`](GatherPlan::with_unique_indices) spares all this.
    ///
    /// # Errors
    ///
    /// See [`GatherError`].
    pub fn prepare_scatter(
        &self,
        plan: &GatherPlan,
        buffers: &ScatterBuffers<'_>,
    ) -> Result<PreparedScatter, GatherError> {
        if plan.bad_indices() == BadIndices::Error && buffers.buffers.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        self.prepare_any_scatter(plan, buffers)
    }

    /// As [`prepare_scatter`](Self::prepare_scatter), for a caller that passes a report wherever the policy needs one.
    pub(crate) fn prepare_any_scatter(
        &self,
        plan: &GatherPlan,
        buffers: &ScatterBuffers<'_>,
    ) -> Result<PreparedScatter, GatherError> {
        let plan = &plan.of_updates();
        let typed = buffers.typed(plan)?;
        let operands = Operands::checked(&buffers.buffers, &typed, &self.pipelines.limits)?;
        let (placed, index_rows) = (operands.placed(), plan.of_index_rows());
        let work = Work::scatter(typed, &index_rows, &placed, &self.pipelines.limits)?;
        let prepared = PreparedGather::new(&self.pipelines, &work, &operands)?;
        Ok(PreparedScatter::new(prepared))
    }

    /// Records the scatter as one compute pass. To record into a pass of your own, call
    /// [`prepare_scatter`](Self::prepare_scatter), then [`PreparedScatter::encode_in_pass`].
    ///
    /// # Errors
    ///
    /// See [`GatherError`]. After an error nothing has been recorded.
    pub fn encode_scatter(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        plan: &GatherPlan,
        buffers: &ScatterBuffers<'_>,
    ) -> Result<(), GatherError> {
        self.prepare_scatter(plan, buffers)?.encode(encoder);
        Ok(())
    }
}
