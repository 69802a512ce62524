//! Gathers, scatters and numbers of masks with their GPU objects made, ready to be recorded any number of times.

mod kept;
mod steps;

use std::fmt;

use self::kept::Kept;
use self::steps::{Steps, Workgroups};
use super::bags;
use super::buffers::{Buffers, Given};
use super::nonzero::Passes;
use super::operands::Operands;
use super::pipelines::Pipelines;
use super::placed::Placed;
use super::report::BadRows;
use super::work::{Work, typed};
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::index::IndexKind;
use crate::plan::{Gather, GatherPlan, ScatterRules, With};
use crate::reduce::Reduce;

/// Records one gather or scatter, or the numbers of a mask, again and again, for instance in every frame.
///
/// [`Gatherer::prepare`](super::Gatherer::prepare) checks everything and makes the pipelines, uniforms and bind groups. Recording
/// then makes no GPU object, submits nothing, waits for nothing, and cannot fail. On the host this crate allocates nothing; wgpu
/// does, for its commands. A `Prepared` keeps its buffers alive.
///
/// The commands read what the buffers hold when they run, so you can write new indices into the same buffer for each frame. Submit
/// a frame before you write for the next by `queue.write_buffer`: two frames in one submit would both read the last write.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/prepared.rs")]
/// ```
pub struct Prepared {
    steps: Steps,
    device: wgpu::Device,
    limits: wgpu::Limits,
    plan: GatherPlan,
    rules: ScatterRules,
    kept: Kept,
}

impl Prepared {
    /// Makes the GPU objects for a call's work.
    pub(super) fn new(
        pipelines: &Pipelines,
        with: With<'_, Reduce>,
        given: &Given<'_>,
        work: &Work<'_>,
        operands: &Operands<'_>,
    ) -> Result<Self, GatherError> {
        let (plan, rules) = (with.plan, with.rules);
        let steps = Steps::play(pipelines, work, operands)?;
        log::debug!("{plan}: {} dispatches", steps.steps.len());
        Ok(Self {
            steps,
            device: pipelines.device.clone(),
            limits: pipelines.limits.clone(),
            plan: plan.clone(),
            rules,
            kept: Kept {
                types: given.types,
                scatter: given.scatter,
                placed: work.placed.clone(),
            },
        })
    }

    /// Makes the GPU objects for the numbers of a mask. `rebind` refuses all buffers: none have elements of 0 bytes.
    pub(super) fn of_mask(
        pipelines: &Pipelines,
        len: usize,
        passes: &Passes,
        operands: &Operands<'_>,
    ) -> Result<Self, GatherError> {
        let plan = Gather::new().plan(&[len], &[0])?;
        Ok(Self {
            steps: Steps::play_nonzero(pipelines, passes, operands)?,
            device: pipelines.device.clone(),
            limits: pipelines.limits.clone(),
            rules: ScatterRules::default(),
            kept: Kept {
                types: ElementTypes::new(0, IndexKind::U32),
                scatter: None,
                placed: Placed::aligned(&plan),
            },
            plan,
        })
    }

    /// Makes the GPU objects for sums over bags. `rebind` refuses all buffers, as for a mask.
    pub(super) fn of_bags(
        pipelines: &Pipelines,
        plan: &GatherPlan,
        index_kind: IndexKind,
        passes: &bags::Passes,
        operands: &Operands<'_>,
    ) -> Result<Self, GatherError> {
        Ok(Self {
            steps: Steps::play_bags(pipelines, passes, operands)?,
            device: pipelines.device.clone(),
            limits: pipelines.limits.clone(),
            plan: plan.clone(),
            rules: ScatterRules::default(),
            kept: Kept {
                types: ElementTypes::new(0, index_kind),
                scatter: None,
                placed: Placed::aligned(plan),
            },
        })
    }

    pub(super) const fn dispatches(&self) -> usize {
        self.steps.steps.len()
    }

    /// Binds other buffers, for the same plan, after you have replaced one. It makes only bind groups, so it costs less than another
    /// [`prepare`](super::Gatherer::prepare). If you alternate between two outputs, prepare a gather for each instead: then a frame
    /// makes nothing. What you recorded before keeps its buffers.
    ///
    /// The ranges may lie in other buffers, start elsewhere, and have other lengths. The following must stay as it was:
    ///
    /// - gather or scatter, a reduction, types, fill, shards with their rows, and which operands you give;
    /// - each range's start modulo A, where A is the larger of 16 bytes and the device's `min_storage_buffer_offset_alignment`;
    /// - whether an operand that the gather reads shares a buffer with one that it writes.
    ///
    /// # Errors
    ///
    /// [`GatherError::Rebound`] if any of these differs, even for an operand without bytes, and always for the numbers of a mask and for
    /// bags: prepare them again. Errors about the buffers are those of `prepare`. After an error the gather stays bound as before. In a
    /// browser, errors that only wgpu can see go to the device's handler.
    ///
    /// ```
    /// use wgpu_gather::{Buffers, ElementTypes, Gather, GatherError, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// let plan = Gather::new().plan(&[100], &[4])?;
    /// let (params, indices) = (buffer(400), buffer(16));
    /// let outputs = [buffer(16), buffer(16)];
    /// let buffers = [0, 1].map(|frame| {
    ///     let (types, output) = (ElementTypes::of::<f32, i32>(), outputs[frame].slice(..));
    ///     Buffers::gather(types, Ranges {
    ///         params: params.slice(..),
    ///         indices: indices.slice(..),
    ///         output,
    ///     })
    /// });
    /// let mut prepared = Gatherer::new(&device).prepare(&plan, &buffers[0]).expect("valid buffers");
    /// // An output that was made later.
    /// assert!(prepared.rebind(&buffers[1]).is_ok());
    /// let filled = prepared.rebind(&buffers[1].fill(&1_f32.to_le_bytes()));
    /// assert!(matches!(filled, Err(GatherError::Rebound { .. })));
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn rebind<O>(&mut self, buffers: &Buffers<'_, O>) -> Result<(), GatherError> {
        let Given { types, scatter, .. } = buffers.given;
        if (types, scatter) != (self.kept.types, self.kept.scatter) {
            let placed = self.kept.placed.clone();
            self.kept.check(&Kept {
                types,
                scatter,
                placed,
            })?;
        }
        let with = self.plan.with_rules(self.rules);
        let plan = with.of_updates(scatter.is_some());
        let typed = typed(&plan, types, scatter, self.rules)?;
        let operands = Operands::checked(&buffers.given, &typed, &self.limits)?;
        self.kept.check(&Kept {
            types,
            scatter,
            placed: operands.placed(),
        })?;
        self.steps.rebind(&self.device, &operands)
    }

    /// Reads this call's report, which you have read back from the buffer that you gave as
    /// [`report`](Buffers::report); `None` if no row was bad.
    ///
    /// # Errors
    ///
    /// As [`BadRows::from_report`].
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, BadRows, Buffers, ElementTypes, Gather, GatherError, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// let plan = Gather::new().bad_indices(BadIndices::Error).plan(&[100], &[4])?;
    /// let (params, indices, output) = (buffer(400), buffer(16), buffer(16));
    /// let report = buffer(BadRows::REPORT_BYTES);
    /// let types = ElementTypes::of::<f32, i32>();
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = Buffers::gather(types, ranges);
    /// let prepared = Gatherer::new(&device).prepare(&plan, &buffers.report(report.slice(..))).expect("valid buffers");
    /// let read_back = [0; BadRows::REPORT_BYTES as usize]; // before the gather was submitted
    /// assert_eq!(prepared.bad_rows(&read_back), Err(GatherError::UnwrittenReport));
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn bad_rows(&self, report: &[u8]) -> Result<Option<BadRows>, GatherError> {
        let index_kind = self.kept.types.index_kind;
        BadRows::read(&self.plan, index_kind, self.kept.scatter.is_some(), report)
    }

    /// Records the gather or the scatter as one compute pass.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        if self.dispatches() > 0 {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("wgpu-gather/encode"),
                timestamp_writes: None,
            });
            self.encode_in_pass(&mut pass);
        }
    }

    /// Records the gather or the scatter into your compute pass, and sets the pass's pipeline and bind group 0.
    ///
    /// Each dispatch in a pass sees what earlier dispatches wrote, so yours may stand before and after.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/in_pass.rs")]
    /// ```
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        for step in &self.steps.steps {
            pass.set_pipeline(&step.pipeline);
            pass.set_bind_group(0, &step.bind_group, &[]);
            match &step.workgroups {
                &Workgroups::Direct([x, y, z]) => pass.dispatch_workgroups(x, y, z),
                Workgroups::Indirect(buffer, offset) => {
                    pass.dispatch_workgroups_indirect(buffer, *offset);
                }
            }
        }
    }
}

/// Prints the number of dispatches.
///
/// A gather has
///
/// - one; several if the device's limits cut it, params has shards, or there is an index count and the plan has batch dims or dims
///   before `axis`
/// - one more if rows have 1, 2 or 4 bytes each, and the last ones, at most 15, do not fill 16 bytes
/// - for each dispatch of the two lines above: one more with an index count, and at most one more with a report
/// - for a mask, one; several if the device's limits cut it
/// - for an empty output, none, or one that writes the report
///
/// A scatter has
///
/// - one; several if the device's limits cut it, the target has shards, or an index count meets several blocks
/// - two more for an assign of several updates whose rows may repeat, and two for a report; each of these is several if the
///   device's limits cut the indices
/// - for a reduction that sorts, as [`explain`](GatherPlan::explain) counts
/// - with an index count, one more for each dispatch over indices or updates, but none for a sort or a fold; for a mask, one or
///   several
///
/// The numbers of a mask have three, four with a fill; more if the device's limits cut the mask. Bags have one, and two
/// more for a report, one for bags of more than 1,024 places, one for halves; with an index count, one more before each that
/// writes the output.
impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("dispatches", &self.dispatches())
            .finish()
    }
}
