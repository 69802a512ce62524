//! The gatherer records gathers on one device, with pipelines and a counter that it makes once. It submits nothing,
//! waits for nothing, and checks its inputs before wgpu sees them.

use super::buffers::GatherBuffers;
use super::cut::{Cut, Dispatch, PlacedGather};
use super::limits::{check_buffers, check_limits};
use super::mask::MaskDispatch;
use super::operands::Operands;
use super::pipelines::Pipelines;
use super::prepared::PreparedGather;
use super::scope::is_lost;
use super::shaders::{EntryPoint, gather_text};
use super::types::TypedPlan;
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// The most dispatches of a gather with an index count. Each has a second one beside it, which counts its rows, and the
/// two take about 3 KB.
const MAX_COUNTED_DISPATCHES: usize = 1 << 16;

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
        check_buffers(&self.pipelines.limits, &typed.bytes)?;
        let cut = Cut::new(PlacedGather::aligned(typed), &self.pipelines.limits)?;
        let report = plan.bad_indices() == BadIndices::Error;
        if report || typed.bytes.output > 0 {
            check_limits(&self.pipelines.limits, types, None, report, false)?;
        }
        let finish = report.then(|| EntryPoint::FinishReport.key(false));
        for key in cut.pipelines(report).into_iter().chain(finish) {
            self.pipelines.get(key, gather_text)?;
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
        let plan = typed.plan;
        let operands = Operands::checked(buffers, &typed, &self.pipelines.limits)?;
        let dispatches = self.dispatches(operands.placed(typed), &operands)?;
        if let Some(first) = dispatches.first() {
            let count = dispatches.len();
            log::debug!(
                "{plan}: {count} dispatches, the first by {:?}",
                first.kernel
            );
        }
        let masks = self.masks(plan, &operands)?;
        PreparedGather::new(&self.pipelines, plan, &operands, &dispatches, &masks)
    }

    /// The dispatches, if the device's limits allow them.
    pub(super) fn dispatches(
        &self,
        placed: PlacedGather<'_>,
        operands: &Operands<'_>,
    ) -> Result<Vec<Dispatch>, GatherError> {
        let (typed, limits) = (placed.typed, &self.pipelines.limits);
        let dims = typed.plan.dims();
        let cut = Cut::new(placed, limits)?;
        let is_indirect = operands.index_count.is_some() && typed.bytes.output > 0;
        if is_indirect && dims.repeats_index_rows() {
            return Err(GatherError::CountOfRepeatedRows {
                index_rows: dims.index_rows(),
                output_rows: dims.index_count,
            });
        }
        let too_many = match is_indirect {
            true => MAX_COUNTED_DISPATCHES + 1,
            false => usize::MAX,
        };
        let dispatches: Vec<Dispatch> = cut.dispatches().take(too_many).collect();
        if dispatches.len() == too_many {
            let blocks = dims.output_rows() / dims.index_count;
            return Err(GatherError::DeviceLimit {
                name: "dispatches of an index count",
                expected: blocks.max(too_many as u64),
                found: MAX_COUNTED_DISPATCHES as u64,
            });
        }
        if !dispatches.is_empty() || operands.report.is_some() {
            let report = operands.report.is_some();
            check_limits(limits, operands.types, typed.update, report, is_indirect)?;
        }
        Ok(dispatches)
    }

    /// The dispatches of the mask; none without a mask.
    pub(super) fn masks(
        &self,
        plan: &GatherPlan,
        operands: &Operands<'_>,
    ) -> Result<Vec<MaskDispatch>, GatherError> {
        let Some(mask) = operands.mask else {
            return Ok(Vec::new());
        };
        let starts = [operands.start(operands.indices), operands.start(mask)];
        MaskDispatch::all(
            plan,
            operands.types.index_kind,
            starts,
            &self.pipelines.limits,
        )
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
}
