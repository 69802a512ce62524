//! The buffers that a caller gives to a gather or a scatter, each by its name.

use std::marker::PhantomData;

use super::fill::Fill;
use super::work::Scatters;
use crate::element::ElementTypes;
use crate::reduce::{Number, Reduce};

/// Names the buffer range of each operand, the types of elements and indices, and the options: a report, a mask and an index
/// count; a gather's fill; a scatter's reduction. A gather takes `Buffers`, a scatter `Buffers<Reduce>`.
///
/// Operands are row-major and little-endian. Each range must hold its operand. If the operand ends at an offset in the
/// buffer that is no multiple of 4 bytes, the range must go on to the next multiple, because wgpu binds whole words. Bytes in the last word that belong to no operand keep their values. An operand without elements may have an empty
/// range. Each buffer needs the usage `STORAGE`, and may have others, such as `VERTEX`.
///
/// | a range for | starts at |
/// |---|---|
/// | params, output, target, updates | a multiple of 4 bytes for elements of 4, 8, 12 .. bytes; of 2 bytes for 2, 6, 10 ..; any byte for odd sizes |
/// | indices | a multiple of 4 bytes for indices of 32 or 64 bits; of 2 bytes for 16 bits; any byte for 8 bits |
/// | params with an encoding, zero points | any byte |
/// | scales | a multiple of the size of a scale |
/// | mask | a multiple of 4 bytes |
/// | report, index count | a multiple of the device's `min_storage_buffer_offset_alignment` |
///
/// If every row starts at a multiple of 16 bytes, a lane copies units of 16 bytes, else smaller ones.
///
/// Operands may share a buffer, for instance a memory pool. But the output or the target, the report and the mask are written, so
/// none of these may overlap another operand, not even in the gaps that a [stride](crate::GatherPlan::with_output_stride) leaves.
///
/// ```
/// use wgpu_gather::{Buffers, ElementTypes, Gather, GatherError, Gatherer, Operand, Ranges, wgpu};
///
#[doc = noop_buffers!()]
/// let plan = Gather::new().plan(&[100], &[4])?;
/// let (params, indices, output) = (buffer(400), buffer(16), buffer(16));
/// let types = ElementTypes::of::<f32, i32>();
/// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
/// let gatherer = Gatherer::new(&device);
/// assert!(gatherer.prepare(&plan, &Buffers::gather(types, ranges)).is_ok());
/// let short = Buffers::gather(types, Ranges { output: output.slice(..12), ..ranges });
/// let error = GatherError::RangeTooShort { operand: Operand::Output, expected: 16, found: 12 };
/// assert_eq!(gatherer.prepare(&plan, &short).err(), Some(error));
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
///
/// A scatter takes no fill, and a gather reduces nothing:
///
/// ```compile_fail,E0599
/// # fn f(scatter: wgpu_gather::Buffers<'_, wgpu_gather::Reduce>) {
/// scatter.fill(&[0]);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn f(gather: wgpu_gather::Buffers<'_>) {
/// gather.reduce::<u32>(wgpu_gather::Reduce::Add);
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Buffers<'a, O = ()> {
    pub(crate) given: Given<'a>,
    options: PhantomData<O>,
}

impl<'a> Buffers<'a> {
    /// A gather's: takes the ranges that hold the operands, and the types of params and indices.
    #[must_use]
    pub fn gather(types: ElementTypes, ranges: Ranges<'a>) -> Self {
        Self::of(Given::of_gather(types, Table::Whole(ranges.params), ranges))
    }

    /// As [`gather`](Self::gather), but for params in several buffers, which a table larger than the device's largest buffer needs. For
    /// each shard, give how many params rows it has, and the range that holds them.
    ///
    /// Params rows are the slices in row-major order. The first shard holds the first rows, the second shard the next ones, and
    /// so on; together the shards hold all rows. Shards may share buffers.
    ///
    /// ```
    /// use wgpu_gather::{Buffers, ElementTypes, GatherNd, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let plan = GatherNd::new().plan(&[100, 16], &[8, 1])?;
    /// let (first, second) = (buffer(60 * 64), buffer(40 * 64));
    /// let shards = [(60, first.slice(..)), (40, second.slice(..))];
    /// let (indices, output) = (buffer(8 * 4), buffer(8 * 64));
    /// let ranges = Ranges { params: &shards[..], indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = Buffers::gather_shards(ElementTypes::of::<f32, u32>(), ranges);
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn gather_shards(
        types: ElementTypes,
        ranges: Ranges<'a, &'a [(usize, wgpu::BufferSlice<'a>)]>,
    ) -> Self {
        Self::of(Given::of_gather(
            types,
            Table::Shards(ranges.params),
            ranges,
        ))
    }

    /// The range that holds the scales for a [`BlockQuantized`](crate::BlockQuantized), row after row. If params is in shards, it
    /// holds the scales for all shards. The page [encoded rows](crate::guide::encoded_rows) has an example.
    #[must_use]
    pub fn scales(mut self, scales: wgpu::BufferSlice<'a>) -> Self {
        self.given.qparams[0] = Some(scales);
        self
    }

    /// The range that holds the zero points, if a [`BlockQuantized`](crate::BlockQuantized) keeps them in their own operand.
    #[must_use]
    pub fn zero_points(mut self, zero_points: wgpu::BufferSlice<'a>) -> Self {
        self.given.qparams[1] = Some(zero_points);
        self
    }

    /// Bad rows hold `fill`, the bytes of one element, instead of zeros. With `Clamp` and `Wrap` only an indexed dim of 0 is filled.
    ///
    /// `prepare` and `encode` return an error if the fill's width is not the element's. The width may be at most 64 bytes if it is
    /// a multiple of 4, at most 32 bytes if it is only a multiple of 2, and at most 16 bytes if it is odd.
    #[must_use]
    pub fn fill(mut self, fill: &[u8]) -> Self {
        self.given.fill = Some(Fill::new(fill));
        self
    }
}

impl<'a> Buffers<'a, Reduce> {
    /// A scatter's: takes the ranges that hold the operands, and the types of elements and indices. The scatter assigns updates,
    /// unless you call [`reduce`](Self::reduce). All other bytes in the target's buffer keep their values, even those that share a
    /// word with the target.
    ///
    /// ```
    /// use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Reduce, ScatterRanges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // 4 of 100 counters.
    /// let plan = Gather::new().plan(&[100], &[4])?;
    /// let (target, indices, updates) = (buffer(400), buffer(16), buffer(16));
    /// let types = ElementTypes::of::<u32, i32>();
    /// let ranges = ScatterRanges { target: target.slice(..), indices: indices.slice(..), updates: updates.slice(..) };
    /// let buffers = Buffers::scatter(types, ranges).reduce::<u32>(Reduce::Add);
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn scatter(types: ElementTypes, ranges: ScatterRanges<'a>) -> Self {
        let table = Table::Whole(ranges.target);
        Self::of(Given::of_scatter(types, table, ranges))
    }

    /// As [`scatter`](Self::scatter), but with the target in several buffers: see [`Buffers::gather_shards`].
    #[must_use]
    pub fn scatter_shards(
        types: ElementTypes,
        ranges: ScatterRanges<'a, &'a [(usize, wgpu::BufferSlice<'a>)]>,
    ) -> Self {
        let table = Table::Shards(ranges.target);
        Self::of(Given::of_scatter(types, table, ranges))
    }

    /// Reduces: each target element becomes the sum, product, minimum or maximum of itself and its updates, as
    /// [`GatherPlan::scatter_reduce`](crate::GatherPlan::scatter_reduce) does. `T` is the element type, and must be as wide as
    /// the types say.
    ///
    /// A GPU reduces `i32`, `u32` and `f32`, except for products of `f32`. All other reductions are errors; the CPU runs them.
    ///
    /// If rows may repeat, sums, minima and maxima of integers are atomic. All other reductions sort the index rows, which
    /// takes memory and time: see [costs](crate::guide::costs). The promise
    /// of [`unique`](crate::GatherPlan::unique) rows spares both.
    #[must_use]
    pub fn reduce<T: Number>(mut self, reduce: Reduce) -> Self {
        self.given.scatter = Some(Scatters::new(Some((reduce, T::KIND))));
        self
    }
}

impl<'a, O> Buffers<'a, O> {
    const fn of(given: Given<'a>) -> Self {
        Self {
            given,
            options: PhantomData,
        }
    }

    /// Reports bad rows in `report`, which has [`BadRows::REPORT_BYTES`](crate::BadRows::REPORT_BYTES) bytes. The policy
    /// [`BadIndices::Error`](crate::BadIndices::Error) requires a report; every other policy allows one. With an
    /// [`index_count`](Self::index_count), rows from the count on are not reported.
    ///
    /// The buffer needs the usage `STORAGE`, and one by which you read it back, such as `COPY_SRC`. The call overwrites the
    /// whole report.
    #[must_use]
    pub fn report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.given.report = Some(report);
        self
    }

    /// Marks bad rows in `mask`: one byte for each index row, 1 if a value in the row is out of range, else 0.
    /// [`GatherPlan::out_of_range`](crate::GatherPlan::out_of_range) returns the same mask on the CPU, and describes it. The
    /// range needs [`index_row_count`](crate::GatherPlan::index_row_count) bytes, rounded up to a multiple of 4.
    ///
    /// The mask takes its own dispatch, or several if the device's limits cut it. It reads only the indices, and runs even if
    /// the output is empty. If the buffer has the usages `COPY_SRC` and `COPY_DST` too, `Tensor::<bool>::from_buffer` reads it. With an [`index_count`](Self::index_count) the mask still covers all the plan's index rows: from
    /// the count on, it marks whatever the index buffer holds.
    ///
    /// ```
    /// use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let plan = Gather::new().plan(&[100, 16], &[6])?;
    /// let (params, indices, output) = (buffer(100 * 64), buffer(6 * 4), buffer(6 * 64));
    /// let mask = buffer(plan.index_row_count().next_multiple_of(4) as u64);
    /// assert_eq!(mask.size(), 8);
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = Buffers::gather(ElementTypes::of::<f32, i32>(), ranges).mask(mask.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn mask(mut self, mask: wgpu::BufferSlice<'a>) -> Self {
        self.given.mask = Some(mask);
        self
    }

    /// Takes only the first n index rows; if there are batches, the first n of each. The batches of a
    /// [`GatherElements`](crate::GatherElements) are the leading dims before the axis, up to the first that differs in params and
    /// indices. `index_count` holds n as one `u32`. The GPU reads it when the commands run, so an earlier pass or `queue.write_buffer` may write it. If n is larger than the plan's number of index
    /// rows, all are taken.
    ///
    /// A gather's output rows from n on keep their values, a scatter's updates from n on change nothing, and their indices are not read. A [`GatherElements`](crate::GatherElements) that
    /// broadcasts indices takes no count: you get `GatherError::CountOfRepeatedRows`.
    /// [Recipes](crate::guide::recipes#a-count-that-only-the-gpu-knows) shows how to draw as many instances as the count says.
    ///
    /// | call | what the count costs |
    /// |---|---|
    /// | any | one more dispatch before each dispatch: a single invocation, which reads the count |
    /// | at most 2¹⁸ invocations: up to 1 MiB of output, or 16 MiB if slices are long | all invocations start, and those beyond the count end at once |
    /// | more | an indirect dispatch: a small count costs little |
    /// | with batch dims, or dims before `axis` | a dispatch for each batch and each coordinate of those dims; more than 65,536 are a `GatherError::TooManyDispatches` |
    /// | a scatter with a report; an assign to rows that may repeat | one dispatch more for each batch; two more |
    /// | slices of 1, 2 or 4 bytes | if n is near the plan's number of index rows, more time than without a count: see [costs](crate::guide::costs#kernels) |
    ///
    /// ```
    /// use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // At most 8 rows of 16 elements.
    /// let plan = Gather::new().plan(&[100, 16], &[8])?;
    /// let (params, indices, output) = (buffer(100 * 64), buffer(8 * 4), buffer(8 * 64));
    /// let count = buffer(4); // one u32
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), ranges).index_count(count.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn index_count(mut self, index_count: wgpu::BufferSlice<'a>) -> Self {
        self.given.index_count = Some(index_count);
        self
    }
}

/// The ranges that every gather needs. It reads params and indices, and writes the output.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "apps give each range by its name"
)]
pub struct Ranges<'a, P = wgpu::BufferSlice<'a>> {
    /// Params: one range; several for [`Buffers::gather_shards`].
    pub params: P,
    /// The indices.
    pub indices: wgpu::BufferSlice<'a>,
    /// The output.
    pub output: wgpu::BufferSlice<'a>,
}

/// The ranges that every scatter needs. It reads indices and updates, and reads and writes the target.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "apps give each range by its name"
)]
pub struct ScatterRanges<'a, T = wgpu::BufferSlice<'a>> {
    /// The target: one range, or for [`Buffers::scatter_shards`] several.
    pub target: T,
    /// The indices.
    pub indices: wgpu::BufferSlice<'a>,
    /// The updates.
    pub updates: wgpu::BufferSlice<'a>,
}

/// The ranges, types and options of [`Buffers`]. A scatter's target is `params`, and its updates are `output`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Given<'a> {
    pub(crate) types: ElementTypes,
    /// `None` for a gather.
    pub(crate) scatter: Option<Scatters>,
    pub(crate) params: Table<'a>,
    pub(crate) indices: wgpu::BufferSlice<'a>,
    pub(crate) output: wgpu::BufferSlice<'a>,
    pub(crate) report: Option<wgpu::BufferSlice<'a>>,
    pub(crate) mask: Option<wgpu::BufferSlice<'a>>,
    pub(crate) index_count: Option<wgpu::BufferSlice<'a>>,
    /// Scales and zero points.
    pub(crate) qparams: [Option<wgpu::BufferSlice<'a>>; 2],
    pub(crate) fill: Option<Fill>,
    /// The offsets and the weights of bags, with the bytes that they take.
    pub(crate) of_bags: [Option<(wgpu::BufferSlice<'a>, u64)>; 2],
}

/// Params or the target: one buffer range, or shards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Table<'a> {
    Whole(wgpu::BufferSlice<'a>),
    Shards(&'a [(usize, wgpu::BufferSlice<'a>)]),
}

impl<'a> Given<'a> {
    fn of_gather<P>(types: ElementTypes, params: Table<'a>, ranges: Ranges<'a, P>) -> Self {
        Self {
            types,
            scatter: None,
            params,
            indices: ranges.indices,
            output: ranges.output,
            report: None,
            mask: None,
            index_count: None,
            qparams: [None; 2],
            fill: None,
            of_bags: [None; 2],
        }
    }

    fn of_scatter<T>(types: ElementTypes, target: Table<'a>, ranges: ScatterRanges<'a, T>) -> Self {
        let ScatterRanges {
            indices, updates, ..
        } = ranges;
        let ranges = Ranges {
            params: (),
            indices,
            output: updates,
        };
        Self {
            scatter: Some(Scatters::new(None)),
            ..Self::of_gather(types, target, ranges)
        }
    }
}
