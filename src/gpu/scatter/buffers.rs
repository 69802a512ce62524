//! The buffers that a caller gives a scatter, each by its name.

use crate::element::ElementTypes;
use crate::gpu::buffers::{GatherBuffers, Ranges};
use crate::reduce::{NumberKind, Reduce, ScatterNumber};

/// The buffer ranges of one scatter, the types of their elements, and what the scatter does with updates: it assigns them,
/// unless [`reduce`](Self::reduce) is called.
///
/// All that [`GatherBuffers`] says of ranges holds here too: the target starts as params does, updates as the output. Target,
/// report and mask are written, so each of them must not overlap another operand, gaps between rows included. All other bytes of
/// the target's buffer keep their values, also those that share a word with the target.
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
    /// The target as params, and updates as the output.
    pub(crate) buffers: GatherBuffers<'a>,
    pub(crate) reduction: Option<(Reduce, NumberKind)>,
}

impl<'a> ScatterBuffers<'a> {
    /// The ranges of buffers that hold the operands of a scatter, and the types of their elements and indices.
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

    /// Reduces: each element of the target becomes the sum, the product, the minimum or the maximum of itself and its updates, as
    /// by [`GatherPlan::scatter_reduce`](crate::GatherPlan::scatter_reduce). `T` is the type of elements, whose width the types
    /// repeat.
    ///
    /// A GPU reduces `i32`, `u32` and `f32`, except for products of `f32`. All others are errors: the CPU has them.
    ///
    /// Where rows may repeat, sums, minima and maxima of integers are atomic. All other reductions sort the index rows, which takes
    /// memory and time: see [costs](crate::guide::costs). [`with_unique_indices`](crate::GatherPlan::with_unique_indices) spares both.
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

    /// The range of one `u32`, the number of index rows of each batch that are scattered: see [`GatherBuffers::index_count`].
    #[must_use]
    pub fn index_count(mut self, index_count: wgpu::BufferSlice<'a>) -> Self {
        self.buffers = self.buffers.index_count(index_count);
        self
    }
}

/// The ranges that each scatter has. Indices and updates are read, and the target is read and written.
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
    /// The ranges of the gather through the same plan.
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
