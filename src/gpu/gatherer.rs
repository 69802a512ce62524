//! The gatherer records gathers and scatters on one device, with pipelines and a counter that it makes once. It submits nothing,
//! waits for nothing, and checks its inputs before wgpu sees them.

use super::bags::{self, Starts};
use super::buffers::{Buffers, Given};
use super::call::Call;
use super::limits::{Needs, check_buffers};
use super::nonzero::Nonzero;
use super::operands::Operands;
use super::pipelines::Pipelines;
use super::prepared::Prepared;
use super::scope::is_lost;
use super::work::{Work, typed};
use crate::bad_indices::BadIndices;
use crate::bags::Bags;
use crate::error::GatherError;
use crate::plan::{GatherPlan, With};
use crate::reduce::Reduce;

/// How many dispatches from the first on show all pipelines, except those for the last rows.
const MAX_DIFFERENT_DISPATCHES: usize = 1000;

/// Records gathers, and [scatters](crate::guide::scatter), on one device.
///
/// Make one gatherer and keep it: a pipeline is compiled when a gather first needs it. Threads may share a gatherer.
///
/// [`Buffers`] say where the operands lie, and take the options: a report, a mask, an index count that only the GPU knows, a
/// gather's fill, a scatter's reduction.
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
    /// runtime checks, which the shaders do not need. If an operand that a call writes shares a buffer with one
    /// that it reads, the call uses other modules, which differ only in how bindings are accessed.
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

    /// Compiles the pipelines that a call through this plan needs, so that the first one does not wait for them. For a gather
    /// without options, pass its [`ElementTypes`](crate::ElementTypes).
    ///
    /// Plans of other sizes often need the same pipelines. The policies `Error` and `Wrap` have pipelines of their own; all other policies
    /// share theirs. `warm_up` leaves out the pipelines for the following, which [`prepare`](Self::prepare) compiles:
    ///
    /// - params or a target in shards;
    /// - an operand that is read, in one buffer with an operand that is written;
    /// - a fill that does not have 1, 2, 4, 8 or 16 bytes.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare), except for buffers.
    ///
    /// ```
    /// use wgpu_gather::{Call, ElementTypes, Gather, Gatherer, Operand, wgpu};
    ///
    /// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let gatherer = Gatherer::new(&device);
    /// let plan = Gather::new().plan(&[50_000, 128], &[1_000])?;
    /// let types = ElementTypes::of::<f32, u32>();
    /// assert!(gatherer.warm_up(&plan, types).is_ok());
    /// assert!(gatherer.warm_up(&plan, Call::gather(types).with(Operand::IndexCount)).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn warm_up<'p, O>(
        &self,
        plan: impl Into<With<'p, Reduce>>,
        call: impl Into<Call<O>>,
    ) -> Result<(), GatherError> {
        let (with, told) = (plan.into(), call.into().told);
        let plan = &with.of_updates(told.scatter.is_some());
        let typed = typed(plan, told.types, told.scatter, with.rules)?;
        let limits = &self.pipelines.limits;
        check_buffers(limits, &typed.bytes)?;
        let (placed, index_rows) = (told.placed(&typed), typed.index_rows());
        let work = Work::new(
            typed,
            told.scatter.zip(index_rows.as_ref()),
            &placed,
            limits,
        )?;
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

    /// Makes the pipelines, uniforms and bind groups, so that you can then record the gather or the scatter any number of times.
    ///
    /// A scatter's result has the same bits as [`GatherPlan::scatter`] or [`scatter_reduce`](GatherPlan::scatter_reduce). With
    /// [`BadIndices::DeviceDefault`] or [`Error`](BadIndices::Error), bad rows are dropped and good rows are written; the CPU writes
    /// nothing then.
    ///
    /// If rows may repeat, a scatter that assigns several updates takes three kinds of passes, and keeps 4 bytes for each target row
    /// in each batch; a reduction without atomics sorts the index rows, and keeps what
    /// [costs](crate::guide::costs#scatters-on-a-gpu) lists: 16.25 bytes for each, and more where a batch has over 1,024.
    /// The promise of [`unique`](GatherPlan::unique) rows spares all this.
    ///
    /// # Errors
    ///
    /// See [`GatherError`].
    pub fn prepare<'p, O>(
        &self,
        plan: impl Into<With<'p, Reduce>>,
        buffers: &Buffers<'_, O>,
    ) -> Result<Prepared, GatherError> {
        let with = plan.into();
        if with.plan.bad_indices() == BadIndices::Error && buffers.given.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        self.prepare_given(with, &buffers.given)
    }

    /// As [`prepare`](Self::prepare), for a caller that passes a report wherever the policy needs one.
    pub(crate) fn prepare_given(
        &self,
        with: With<'_, Reduce>,
        given: &Given<'_>,
    ) -> Result<Prepared, GatherError> {
        let plan = &with.of_updates(given.scatter.is_some());
        let typed = typed(plan, given.types, given.scatter, with.rules)?;
        let limits = &self.pipelines.limits;
        let operands = Operands::checked(given, &typed, limits)?;
        let (placed, index_rows) = (operands.placed(), typed.index_rows());
        let work = Work::new(
            typed,
            given.scatter.zip(index_rows.as_ref()),
            &placed,
            limits,
        )?;
        Prepared::new(&self.pipelines, with, given, &work, &operands)
    }

    /// Prepares the numbers of a mask's true entries, in order, and their count: what [`Mask::nonzero`](crate::Mask::nonzero) returns
    /// on the CPU. They are the indices, of type `u32`, and the [`index_count`](Buffers::index_count) of a gather or a scatter that
    /// is recorded after them, even in the same pass: `x[mask]` and `x[mask] = v`. The host waits for nothing. [`Nonzero`] says what
    /// it takes. Along another axis than the first, the count holds for each block, `x[:, mask]`, and each block takes a dispatch of
    /// its own.
    ///
    /// The call takes three kinds of passes. It reads the mask once, and keeps a bit for each entry and 4 bytes for each 8,192. To
    /// compile its pipelines early, prepare any short mask of the same kind, with a fill if yours has one.
    ///
    /// # Errors
    ///
    /// - [`GatherError::RangeTooShort`], [`MissingUsage`](GatherError::MissingUsage),
    ///   [`OffsetMisaligned`](GatherError::OffsetMisaligned) and [`Overlap`](GatherError::Overlap) about the mask, the numbers, which
    ///   errors call indices, and the count, the index count.
    /// - [`GatherError::DeviceLimit`] if no binding holds the numbers, or no buffer the bits.
    /// - [`GatherError::Plan`] if a `u32` does not count the entries.
    ///
    /// ```
    /// use wgpu_gather::{Buffers, ElementTypes, Gather, GatherError, Gatherer, Mask, Nonzero, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // Those of 1,000 particles that live: 3 floats each.
    /// let [alive, numbers, count] = [1000, 4000, 4].map(buffer);
    /// let gatherer = Gatherer::new(&device);
    /// let nonzero = gatherer.prepare_nonzero(&Nonzero {
    ///     mask: Mask::bytes(alive.slice(..), 1000),
    ///     numbers: numbers.slice(..),
    ///     count: count.slice(..),
    ///     fill: None,
    /// }).expect("valid buffers");
    /// let plan = Gather::new().plan(&[1000, 3], &[1000])?;
    /// let (places, output) = (buffer(12_000), buffer(12_000));
    /// let ranges = Ranges { params: places.slice(..), indices: numbers.slice(..), output: output.slice(..) };
    /// let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), ranges).index_count(count.slice(..));
    /// let gather = gatherer.prepare(&plan, &buffers).expect("valid buffers");
    /// // Each frame.
    /// let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    /// nonzero.encode_in_pass(&mut pass);
    /// gather.encode_in_pass(&mut pass);
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn prepare_nonzero(&self, nonzero: &Nonzero<'_>) -> Result<Prepared, GatherError> {
        let limits = &self.pipelines.limits;
        let (passes, operands) = nonzero.checked(limits)?;
        Prepared::of_mask(&self.pipelines, nonzero.mask.len, &passes, &operands)
    }

    /// Prepares sums, means or maxima over bags of indices: what [`GatherPlan::gather_bags`] and
    /// [`gather_bags_encoded`](GatherPlan::gather_bags_encoded) return on the CPU: [`Bags`] says which bits are the same. `buffers` are those of a gather, whose
    /// output has a slice for each bag. Params are `f32`s, or rows of an encoding: for halves give
    /// [`ElementTypes::decoded`](crate::ElementTypes::decoded) with [`Encoding::F16`](crate::Encoding::F16) or `Bf16`. The
    /// [index count](Buffers::index_count) counts bags.
    ///
    /// Offsets are `i32`, `u32`, `i64` or `u64`, and start, as weights do, at a multiple of 4 bytes. The host does not see them: an
    /// offset below 0 counts as 0, one above the number of indices as this number, and a bag that would end before it begins is empty.
    /// With [`BadIndices::DeviceDefault`] and [`Error`](BadIndices::Error), bad rows are left out. A report has all of them, also those in
    /// no bag.
    ///
    /// The call takes one pass. If a bag may have more than 1,024 places, another one combines its blocks, and keeps 4 bytes for each
    /// element of a slice and up to 32 more, for each 1,024 indices. For halves a last pass rounds, and keeps 4 bytes for each element of the
    /// output.
    ///
    /// # Errors
    ///
    /// - [`PlanError::Bags`](crate::PlanError::Bags), as [`gather_bags`](GatherPlan::gather_bags), and for shards, a fill, and offsets of
    ///   fewer than 32 bits.
    /// - [`GatherError::DeviceLimit`] if one binding does not hold each operand.
    /// - [`GatherError::UnexpectedOperand`] for a mask.
    /// - Others as [`prepare`](Self::prepare).
    ///
    /// ```
    /// use wgpu_gather::{Bags, Buffers, ElementTypes, Gather, GatherError, Gatherer, IndexKind, Offsets, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// // 100 bags of up to 3,000 ids in all, of a table with 64 floats a row.
    /// let (table, ids, offsets, output) = (buffer(256_000), buffer(12_000), buffer(404), buffer(25_600));
    /// let plan = Gather::new().plan(&[1000, 64], &[3000])?;
    /// let ranges = Ranges { params: table.slice(..), indices: ids.slice(..), output: output.slice(..) };
    /// let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), ranges);
    /// let bags = Bags::mean(Offsets::new(offsets.slice(..), IndexKind::U32, 101));
    /// assert!(Gatherer::new(&device).prepare_bags(&plan, &buffers, bags).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn prepare_bags(
        &self,
        plan: &GatherPlan,
        buffers: &Buffers<'_>,
        bags: Bags<wgpu::BufferSlice<'_>>,
    ) -> Result<Prepared, GatherError> {
        if plan.bad_indices() == BadIndices::Error && buffers.given.report.is_none() {
            return Err(GatherError::MissingReport);
        }
        self.prepare_given_bags(plan, &buffers.given, bags)
    }

    /// As [`prepare_bags`](Self::prepare_bags), for a caller that passes a report wherever the policy needs one.
    pub(crate) fn prepare_given_bags(
        &self,
        plan: &GatherPlan,
        given: &Given<'_>,
        bags: Bags<wgpu::BufferSlice<'_>>,
    ) -> Result<Prepared, GatherError> {
        let limits = &self.pipelines.limits;
        let (typed, given) = bags::given(plan, given, &bags)?;
        check_buffers(limits, &typed.bytes)?;
        let operands = Operands::checked(&given, &typed, limits)?;
        let starts = Starts::of(&operands, &given);
        let passes = bags::Passes::new(&typed, &bags, &starts, limits)?;
        let index_kind = given.types.index_kind();
        Prepared::of_bags(&self.pipelines, plan, index_kind, &passes, &operands)
    }

    /// Records the gather or the scatter as one compute pass. To record into a pass of your own, call [`prepare`](Self::prepare),
    /// then [`Prepared::encode_in_pass`].
    ///
    /// # Errors
    ///
    /// See [`GatherError`]. After an error nothing has been recorded.
    pub fn encode<'p, O>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        plan: impl Into<With<'p, Reduce>>,
        buffers: &Buffers<'_, O>,
    ) -> Result<(), GatherError> {
        self.prepare(plan, buffers)?.encode(encoder);
        Ok(())
    }
}
