//! The buffers that a caller gives to a gather, each by its name.

use super::fill::Fill;
use crate::element::ElementTypes;

/// Where a gather's operands lie in your buffers, and which types their elements have.
///
/// Operands are row-major and little-endian. Each range must hold its operand. If the operand ends at an offset in the
/// buffer that is no multiple of 4 bytes, the range must go on to the next multiple, because wgpu binds whole words. Bytes in the last word that belong to no operand keep their values. An operand without elements may have an empty
/// range. Each buffer needs the usage `STORAGE`, and may have others, such as `VERTEX`.
///
/// | a range for | starts at |
/// |---|---|
/// | params, output | a multiple of 4 bytes for elements of 4, 8, 12 .. bytes; of 2 bytes for 2, 6, 10 ..; any byte for odd sizes |
/// | indices | a multiple of 4 bytes for indices of 32 or 64 bits; of 2 bytes for 16 bits; any byte for 8 bits |
/// | params with an encoding, zero points | any byte |
/// | scales | a multiple of the size of a scale |
/// | mask | a multiple of 4 bytes |
/// | report, index count | a multiple of the device's `min_storage_buffer_offset_alignment` |
///
/// If every row that the gather copies starts at a multiple of 16 bytes, it copies units of 16 bytes, else smaller ones.
///
/// Operands may share a buffer, for instance a memory pool. But the gather writes the output, the report and the mask, so none
/// of these may overlap another operand, not even in the gaps that
/// [`with_output_stride`](crate::GatherPlan::with_output_stride) leaves.
///
/// ```
/// use wgpu_gather::{ElementTypes, Gather, GatherBuffers, GatherError, Gatherer, Operand, Ranges, wgpu};
///
#[doc = noop_buffers!()]
/// let plan = Gather::new().plan(&[100], &[4])?;
/// let (params, indices, output) = (buffer(400), buffer(16), buffer(16));
/// let types = ElementTypes::of::<f32, i32>();
/// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
/// let gatherer = Gatherer::new(&device);
/// assert!(gatherer.prepare(&plan, &GatherBuffers::new(types, ranges)).is_ok());
/// let short = GatherBuffers::new(types, Ranges { output: output.slice(..12), ..ranges });
/// let error = GatherError::RangeTooShort { operand: Operand::Output, expected: 16, found: 12 };
/// assert_eq!(gatherer.prepare(&plan, &short).err(), Some(error));
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GatherBuffers<'a> {
    pub(crate) types: ElementTypes,
    pub(crate) params: ParamsRanges<'a>,
    pub(crate) indices: wgpu::BufferSlice<'a>,
    pub(crate) output: wgpu::BufferSlice<'a>,
    pub(crate) report: Option<wgpu::BufferSlice<'a>>,
    pub(crate) mask: Option<wgpu::BufferSlice<'a>>,
    pub(crate) index_count: Option<wgpu::BufferSlice<'a>>,
    /// Scales and zero points.
    pub(crate) qparams: [Option<wgpu::BufferSlice<'a>>; 2],
    pub(crate) fill: Option<Fill>,
}

impl<'a> GatherBuffers<'a> {
    /// Takes the ranges that hold the operands, and the types of params and indices.
    #[must_use]
    pub fn new(types: ElementTypes, ranges: Ranges<'a>) -> Self {
        let params = ParamsRanges::Whole(ranges.params);
        Self::of(types, params, ranges.indices, ranges.output)
    }

    /// As [`new`](Self::new), but for params in several buffers, which a table larger than the device's largest buffer needs. For
    /// each shard, give how many params rows it has, and the range that holds them.
    ///
    /// Params rows are the slices in row-major order. The first shard holds the first rows, the second shard the next ones, and
    /// so on; together the shards hold all rows. Shards may share buffers.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, GatherBuffers, GatherNd, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let plan = GatherNd::new().plan(&[100, 16], &[8, 1])?;
    /// let (first, second) = (buffer(60 * 64), buffer(40 * 64));
    /// let shards = [(60, first.slice(..)), (40, second.slice(..))];
    /// let (indices, output) = (buffer(8 * 4), buffer(8 * 64));
    /// let ranges = Ranges { params: &shards[..], indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = GatherBuffers::of_shards(ElementTypes::of::<f32, u32>(), ranges);
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn of_shards(
        types: ElementTypes,
        ranges: Ranges<'a, &'a [(u64, wgpu::BufferSlice<'a>)]>,
    ) -> Self {
        let params = ParamsRanges::Shards(ranges.params);
        Self::of(types, params, ranges.indices, ranges.output)
    }

    fn of(
        types: ElementTypes,
        params: ParamsRanges<'a>,
        indices: wgpu::BufferSlice<'a>,
        output: wgpu::BufferSlice<'a>,
    ) -> Self {
        Self {
            types,
            params,
            indices,
            output,
            report: None,
            mask: None,
            index_count: None,
            qparams: [None; 2],
            fill: None,
        }
    }

    /// Reports bad rows in `report`, which has [`BadRows::REPORT_BYTES`](crate::BadRows::REPORT_BYTES) bytes. The policy
    /// [`BadIndices::Error`](crate::BadIndices::Error) requires a report; every other policy allows one. With an
    /// [`index_count`](Self::index_count), rows from the count on are not reported.
    ///
    /// The buffer needs the usage `STORAGE`, and one by which you read it back, such as `COPY_SRC`. The gather overwrites the
    /// whole report.
    #[must_use]
    pub fn report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.report = Some(report);
        self
    }

    /// Marks bad rows in `mask`: one byte for each index row, 1 if a value in the row is out of range, else 0.
    /// [`GatherPlan::out_of_range`](crate::GatherPlan::out_of_range) returns the same mask on the CPU, and describes it. The
    /// range needs [`index_row_count`](crate::GatherPlan::index_row_count) bytes, rounded up to a multiple of 4.
    ///
    /// The mask takes its own dispatch, or several if the device's limits cut it. It reads only the indices, and runs even if
    /// the output is empty. With an [`index_count`](Self::index_count) the mask still covers all the plan's index rows: from
    /// the count on, it marks whatever the index buffer holds.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, GatherBuffers, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let plan = Gather::new().plan(&[100, 16], &[6])?;
    /// let (params, indices, output) = (buffer(100 * 64), buffer(6 * 4), buffer(6 * 64));
    /// let mask = buffer(plan.index_row_count().next_multiple_of(4));
    /// assert_eq!(mask.size(), 8);
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = GatherBuffers::new(ElementTypes::of::<f32, i32>(), ranges).mask(mask.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn mask(mut self, mask: wgpu::BufferSlice<'a>) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Gathers only the first n index rows; if there are batches, the first n of each. `index_count` holds n as one `u32`. The
    /// GPU reads it when the commands run, so an earlier pass or `queue.write_buffer` may write it. If n is larger than the plan's number of index
    /// rows, all are gathered.
    ///
    /// Output rows from n on keep their values, and their indices are not read. A [`GatherElements`](crate::GatherElements) that
    /// broadcasts indices takes no count: you get `GatherError::CountOfRepeatedRows`.
    /// [Recipes](crate::guide::recipes#a-count-that-only-the-gpu-knows) shows how to draw as many instances as the count says.
    ///
    /// | gather | what the count costs |
    /// |---|---|
    /// | any | one more dispatch before each dispatch of the gather: a single invocation, which reads the count |
    /// | at most 2¹⁸ invocations: up to 1 MiB of output, or 16 MiB if slices are long | all invocations start, and those beyond the count end at once |
    /// | more | an indirect dispatch: a small count costs little |
    /// | with batch dims, or dims before `axis` | a dispatch for each batch and each coordinate of those dims; more than 65,536 are a `GatherError::DeviceLimit` |
    /// | slices of 1, 2 or 4 bytes | if n is near the plan's number of index rows, more time than without a count: see [costs](crate::guide::costs#kernels) |
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, GatherBuffers, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // At most 8 rows of 16 elements.
    /// let plan = Gather::new().plan(&[100, 16], &[8])?;
    /// let (params, indices, output) = (buffer(100 * 64), buffer(8 * 4), buffer(8 * 64));
    /// let count = buffer(4); // one u32
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = GatherBuffers::new(ElementTypes::of::<f32, u32>(), ranges).index_count(count.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn index_count(mut self, index_count: wgpu::BufferSlice<'a>) -> Self {
        self.index_count = Some(index_count);
        self
    }

    /// The range that holds the scales for a [`BlockQuantized`](crate::BlockQuantized), row after row. If params is in shards, it
    /// holds the scales for all shards.
    ///
    /// ```
    /// use wgpu_gather::{
    ///     BlockQuantized, ElementTypes, Encoding, Gather, GatherBuffers, Ranges, Gatherer, IndexKind, wgpu,
    /// };
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // 100 rows of 64 values: 32 bytes, two scales and, in one byte, two zero points.
    /// let plan = Gather::new().plan(&[100, 64], &[8])?;
    /// let quantized = BlockQuantized::new(4, 32)?.with_zero_points();
    /// let (params, scales, zero_points) = (buffer(3200), buffer(800), buffer(100));
    /// let (indices, output) = (buffer(8 * 4), buffer(8 * 256));
    /// let types = ElementTypes::encoded(Encoding::BlockQuantized(quantized), IndexKind::I32);
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = GatherBuffers::new(types, ranges).scales(scales.slice(..)).zero_points(zero_points.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scales(mut self, scales: wgpu::BufferSlice<'a>) -> Self {
        self.qparams[0] = Some(scales);
        self
    }

    /// The range that holds the zero points, if a [`BlockQuantized`](crate::BlockQuantized) keeps them in their own operand.
    #[must_use]
    pub fn zero_points(mut self, zero_points: wgpu::BufferSlice<'a>) -> Self {
        self.qparams[1] = Some(zero_points);
        self
    }

    /// Bad rows hold `fill`, the bytes of one element, instead of zeros. With `Clamp` and `Wrap` only an indexed dim of 0 is filled.
    ///
    /// The gather returns an error if the fill's width is not the element's. The width may be at most 64 bytes if it is
    /// a multiple of 4, at most 32 bytes if it is only a multiple of 2, and at most 16 bytes if it is odd.
    #[must_use]
    pub fn fill(mut self, fill: &[u8]) -> Self {
        self.fill = Some(Fill::new(fill));
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
    /// Params: one range; several for [`GatherBuffers::of_shards`].
    pub params: P,
    /// The indices.
    pub indices: wgpu::BufferSlice<'a>,
    /// The output.
    pub output: wgpu::BufferSlice<'a>,
}

/// Params in one buffer range, or in shards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ParamsRanges<'a> {
    Whole(wgpu::BufferSlice<'a>),
    Shards(&'a [(u64, wgpu::BufferSlice<'a>)]),
}
