//! The buffers that a caller passes to a scatter, each by name.

use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::gpu::buffers::{GatherBuffers, Ranges};
use crate::gpu::types::TypedPlan;
use crate::plan::GatherPlan;
use crate::reduce::{NumberKind, Reduce, ScatterNumber};

/// The buffer ranges and element types of one scatter, which assigns updates unless you call [`reduce`](Self::reduce).
///
/// The range rules of [`GatherBuffers`] hold here too: the target may start where params may, updates where the output may. The
/// scatter writes target, report and mask, so none of them may overlap another operand, gaps between rows included. All other
/// bytes in the target's buffer keep their values, even those that share a word with the target.
///
/// ```
/// use wgpu_gather::{ElementTypes, Gather, Gatherer, Reduce, ScatterBuffers, ScatterRanges, wgpu};
///
#[doc = noop_buffers!()]
/// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
/// // 4 of 100 counters.
/// let plan = Gather::new().plan(&[100], &[4])?;
/// let (target, indices, updates) = (buffer(400), buffer(16), buffer(16));
/// let types = ElementTypes::of::<u32, i32>();
/// let ranges = ScatterRanges { target: target.slice(..), indices: indices.slice(..), updates: updates.slice(..) };
/// let buffers = ScatterBuffers::new(types, ranges).reduce::<u32>(Reduce::Add);
/// assert!(Gatherer::new(&device).encode_scatter(&mut encoder, &plan, &buffers).is_ok());
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScatterBuffers<'a> {
    /// The target is `params`, and updates are `output`.
    pub(crate) buffers: GatherBuffers<'a>,
    pub(crate) reduction: Option<(Reduce, NumberKind)>,
}

impl<'a> ScatterBuffers<'a> {
    /// Takes the ranges that hold the operands, and the types of elements and indices.
    #[must_use]
    pub fn new(types: ElementTypes, ranges: ScatterRanges<'a>) -> Self {
        Self::of(GatherBuffers::new(types, ranges.of_gather()))
    }

    /// As [`new`](Self::new), but with the target in several buffers: see [`GatherBuffers::of_shards`].
    #[must_use]
    pub fn of_shards(
        types: ElementTypes,
        ranges: ScatterRanges<'a, &'a [(u64, wgpu::BufferSlice<'a>)]>,
    ) -> Self {
        Self::of(GatherBuffers::of_shards(types, ranges.of_gather()))
    }

    const fn of(buffers: GatherBuffers<'a>) -> Self {
        Self {
            buffers,
            reduction: None,
        }
    }

    pub(crate) fn typed<'p>(&self, plan: &'p GatherPlan) -> Result<TypedPlan<'p>, GatherError> {
        TypedPlan::of_updates(plan, self.buffers.types, self.reduction)
    }

    /// Reduces: each target element becomes the sum, product, minimum or maximum of itself and its updates, as
    /// [`GatherPlan::scatter_reduce`](crate::GatherPlan::scatter_reduce) does. `T` is the element type, and must be as wide as
    /// the types say.
    ///
    /// A GPU reduces `i32`, `u32` and `f32`, except for products of `f32`. All other reductions are errors; the CPU runs them.
    ///
    /// If rows may repeat, sums, minima and maxima of integers are atomic. All other reductions sort the index rows, which
    /// takes memory and time: see [costs](crate::guide::costs). [`with_unique_indices`](crate::GatherPlan::with_unique_indices)
    /// spares both.
    #[must_use]
    pub fn reduce<T: ScatterNumber>(mut self, reduce: Reduce) -> Self {
        self.reduction = Some((reduce, T::KIND));
        self
    }

    /// Reports bad rows, whose updates are dropped: see [`GatherBuffers::report`].
    #[must_use]
    pub fn report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.buffers = self.buffers.report(report);
        self
    }

    /// Writes the mask of bad rows: see [`GatherBuffers::mask`].
    #[must_use]
    pub fn mask(mut self, mask: wgpu::BufferSlice<'a>) -> Self {
        self.buffers = self.buffers.mask(mask);
        self
    }

    /// The range of one `u32` that says how many index rows in each batch to scatter: see [`GatherBuffers::index_count`]. Each batch
    /// takes one dispatch more for a report, and two more for an assign to rows that may repeat.
    #[must_use]
    pub fn index_count(mut self, index_count: wgpu::BufferSlice<'a>) -> Self {
        self.buffers = self.buffers.index_count(index_count);
        self
    }
}

/// The ranges that every scatter needs. It reads indices and updates, and reads and writes the target.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "apps give each range by its name"
)]
pub struct ScatterRanges<'a, T = wgpu::BufferSlice<'a>> {
    /// The target: one range, or for [`ScatterBuffers::of_shards`] several.
    pub target: T,
    /// The indices.
    pub indices: wgpu::BufferSlice<'a>,
    /// The updates.
    pub updates: wgpu::BufferSlice<'a>,
}

impl<'a, T> ScatterRanges<'a, T> {
    /// The same ranges, under a gather's names.
    fn of_gather(self) -> Ranges<'a, T> {
        let Self {
            target,
            indices,
            updates,
        } = self;
        Ranges {
            params: target,
            indices,
            output: updates,
        }
    }
}
