//! The buffers that a caller gives a gather, each by its name.

use super::fill::Fill;
use crate::element::ElementTypes;

/// The buffer ranges of one gather, and the types of their elements.
///
/// Each range holds at least the bytes of its operand, row-major and little-endian, and the bytes after them up to a
/// multiple of 4, since wgpu binds whole words. Bytes of these words that do not belong to the output or to the mask keep
/// their values. An operand without elements may have an empty range. The buffers have the usage `STORAGE`.
///
/// | a range of | starts at a multiple of |
/// |---|---|
/// | params, indices, output | 1, 2 or 4 bytes: the largest of these that divides the size of its elements |
/// | params with an encoding, zero points | any byte |
/// | scales | a multiple of the bytes of a scale |
/// | mask | 4 bytes |
/// | report, index count | `min_storage_buffer_offset_alignment` of the device |
///
/// Slices that all start at multiples of 16 bytes are copied in units of 16 bytes, other slices in smaller units.
///
/// Operands may share a buffer, for instance a memory pool. Output, report and mask are written, so each of them
/// must not overlap another operand, gaps between rows included.
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
    /// The ranges of buffers that hold the operands of a gather, and the element types of params and indices.
    #[must_use]
    pub fn new(types: ElementTypes, ranges: Ranges<'a>) -> Self {
        let params = ParamsRanges::Whole(ranges.params);
        Self::of(types, params, ranges.indices, ranges.output)
    }

    /// As [`new`](Self::new), but with params in several buffers instead of one, for a table larger than a buffer of the
    /// device. Each shard is a number of params rows and the range that holds them.
    ///
    /// The params rows are the slices of params in row-major order. The first shard holds the first rows, the second
    /// shard the next ones, and so on; together the shards hold all rows. Shards may share buffers.
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

    /// Reports bad rows in `report`, of [`BadRows::REPORT_BYTES`](crate::BadRows::REPORT_BYTES) bytes. The policy
    /// [`BadIndices::Error`](crate::BadIndices::Error) requires a report; every other policy allows one.
    ///
    /// The buffer needs the usage `STORAGE`, and a usage by which the caller reads it. The gather overwrites all bytes
    /// of the report.
    #[must_use]
    pub fn report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.report = Some(report);
        self
    }

    /// Writes the mask of bad rows into `mask`: one byte for each index row, 1 if a value of the row is out of range,
    /// else 0. [`GatherPlan::out_of_range`](crate::GatherPlan::out_of_range) is the same mask on the CPU, and describes
    /// it. The range has [`index_row_count`](crate::GatherPlan::index_row_count) bytes, rounded up to a multiple of 4.
    ///
    /// The mask takes a dispatch of its own, or several if the device's limits cut it. The dispatch reads only the
    /// indices, and it runs also if the output is empty. With an [`index_count`](Self::index_count) the mask still covers
    /// all index rows of the plan: the bytes of rows from the count on are about whatever the buffer of indices holds.
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

    /// Reads the number of index rows to gather of each batch from `index_count` when the commands run: one `u32`,
    /// which an earlier pass may write. The plan's number of index rows is the maximum. Output rows from the count on
    /// keep their values, and their indices are not read. A plan in which broadcasting repeats index rows is refused.
    ///
    /// A large gather is an indirect dispatch, so a small count costs little. Each batch, and each outer coordinate of
    /// gather, takes dispatches of its own, of which there may be 65,536, and slices of 1, 2 or 4 bytes are not packed. A large
    /// gather of single words with a count near the maximum therefore takes longer than without a count.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, GatherBuffers, Gatherer, Ranges, wgpu};
    ///
    #[doc = noop_buffers!()]
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // At most 8 rows of 16 elements.
    /// let plan = Gather::new().plan(&[100, 16], &[8])?;
    /// let (params, indices, output) = (buffer(100 * 64), buffer(8 * 4), buffer(8 * 64));
    /// let visible = buffer(4);
    /// let ranges = Ranges { params: params.slice(..), indices: indices.slice(..), output: output.slice(..) };
    /// let buffers = GatherBuffers::new(ElementTypes::of::<f32, u32>(), ranges).index_count(visible.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn index_count(mut self, index_count: wgpu::BufferSlice<'a>) -> Self {
        self.index_count = Some(index_count);
        self
    }

    /// The range that holds the scales of a [`BlockQuantized`](crate::BlockQuantized), row after row. Where params is in
    /// shards, it holds those of all shards.
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

    /// The range that holds the zero points of a [`BlockQuantized`](crate::BlockQuantized) that has them as an operand.
    #[must_use]
    pub fn zero_points(mut self, zero_points: wgpu::BufferSlice<'a>) -> Self {
        self.qparams[1] = Some(zero_points);
        self
    }

    /// Bad rows hold `fill` instead of zeros. `fill` is the bytes of one element.
    ///
    /// The gather returns an error if the fill's width is not the element's. The width may be at most 64 bytes if it is
    /// a multiple of 4, at most 32 bytes if it is only a multiple of 2, and at most 16 bytes if it is odd.
    #[must_use]
    pub fn fill(mut self, fill: &[u8]) -> Self {
        self.fill = Some(Fill::new(fill));
        self
    }
}

/// The ranges that each gather has. Params and indices are read, and the output is written.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "apps give each range by its name"
)]
pub struct Ranges<'a, P = wgpu::BufferSlice<'a>> {
    /// Params: one range, or for [`GatherBuffers::of_shards`] several.
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
