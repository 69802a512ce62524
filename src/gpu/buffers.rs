//! The buffers that a caller gives a gather.

use std::fmt;

use super::fill::Fill;
use super::types::ElementTypes;
use crate::element::{GatherElement, GatherIndex, IndexKind};

/// The buffer ranges of one gather, and the types of their elements.
///
/// Each range holds at least the bytes of its operand, row-major and little-endian, rounded up to a multiple of 4,
/// since wgpu binds whole words. Bytes after these are neither read nor written. The bytes that pad the output's
/// last word keep their values. An operand without elements may have an empty range.
///
/// A range starts at a multiple of `min_storage_buffer_offset_alignment`, and its buffer has the usage `STORAGE`.
/// Operands may share a buffer, for instance a memory pool. Output and report are written, so each of them must
/// not overlap another operand.
///
/// ```
/// use wgpu_gather::{GatherBuffers, IndexKind, wgpu};
///
/// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
/// # let buffer = |size| device.create_buffer(&wgpu::BufferDescriptor {
/// #     label: None, size, usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false,
/// # });
/// let (params, indices, output) = (buffer(400), buffer(16), buffer(64));
/// let typed = GatherBuffers::new::<f32, i32>(params.slice(..), indices.slice(..), output.slice(..));
/// let same = GatherBuffers::with_bytes(4, IndexKind::I32, params.slice(..), indices.slice(..), output.slice(..));
/// assert_eq!(typed, same);
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct GatherBuffers<'a> {
    pub(crate) types: ElementTypes,
    pub(crate) params: ParamsRanges<'a>,
    pub(crate) indices: wgpu::BufferSlice<'a>,
    pub(crate) output: wgpu::BufferSlice<'a>,
    pub(crate) report: Option<wgpu::BufferSlice<'a>>,
    pub(crate) index_count: Option<wgpu::BufferSlice<'a>>,
    pub(crate) fill: Option<Fill>,
}

impl<'a> GatherBuffers<'a> {
    /// Buffers of elements `T` and indices `I`.
    #[must_use]
    pub fn new<T: GatherElement, I: GatherIndex>(
        params: wgpu::BufferSlice<'a>,
        indices: wgpu::BufferSlice<'a>,
        output: wgpu::BufferSlice<'a>,
    ) -> Self {
        Self::with_bytes(size_of::<T>() as u64, I::KIND, params, indices, output)
    }

    /// Buffers of elements of `element_bytes` bytes each, for a width that is known only at run time.
    #[must_use]
    pub fn with_bytes(
        element_bytes: u64,
        index_kind: IndexKind,
        params: wgpu::BufferSlice<'a>,
        indices: wgpu::BufferSlice<'a>,
        output: wgpu::BufferSlice<'a>,
    ) -> Self {
        Self {
            types: ElementTypes {
                element_bytes,
                index_kind,
            },
            params: ParamsRanges::Whole(params),
            indices,
            output,
            report: None,
            index_count: None,
            fill: None,
        }
    }

    /// Takes params from several buffers instead of one, for a table larger than a buffer of the device.
    ///
    /// The params rows are the slices of params in row-major order. The first shard holds the first rows, the second
    /// shard the next ones, and so on; together the shards hold all rows. Shards may share buffers.
    ///
    /// ```
    /// use wgpu_gather::{GatherBuffers, GatherNd, Gatherer, ParamsShard, wgpu};
    ///
    /// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let buffer = |size| device.create_buffer(&wgpu::BufferDescriptor {
    /// #     label: None, size, usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false,
    /// # });
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let plan = GatherNd::new().plan(&[100, 16], &[8, 1])?;
    /// let (first, second) = (buffer(60 * 64), buffer(40 * 64));
    /// let shards = [
    ///     ParamsShard { rows: 60, range: first.slice(..) },
    ///     ParamsShard { rows: 40, range: second.slice(..) },
    /// ];
    /// let (indices, output) = (buffer(8 * 4), buffer(8 * 64));
    /// let buffers = GatherBuffers::new::<f32, u32>(first.slice(..), indices.slice(..), output.slice(..));
    /// let buffers = buffers.with_params_shards(&shards);
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn with_params_shards(mut self, shards: &'a [ParamsShard<'a>]) -> Self {
        self.params = ParamsRanges::Shards(shards);
        self
    }

    /// Reports bad rows in `report`, of [`BadRows::REPORT_BYTES`](crate::BadRows::REPORT_BYTES) bytes. The policy
    /// [`BadIndices::Error`](crate::BadIndices::Error) requires a report; every other policy allows one.
    ///
    /// The buffer needs the usage `STORAGE`, and a usage by which the caller reads it. The gather overwrites all bytes
    /// of the report.
    #[must_use]
    pub fn with_report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.report = Some(report);
        self
    }

    /// Reads the number of index rows to gather of each batch from `index_count` when the commands run: one `u32`,
    /// which an earlier pass may write. The plan's number of index rows is the maximum. Output rows from the count on
    /// keep their values, and their indices are not read.
    ///
    /// A large gather is an indirect dispatch, so a small count costs little. Each batch, and each outer coordinate of
    /// gather, takes dispatches of its own, and slices of 1, 2 or 4 bytes are not packed. A large gather of single
    /// words with a count near the maximum therefore takes longer than without a count.
    ///
    /// ```
    /// use wgpu_gather::{Gather, GatherBuffers, Gatherer, wgpu};
    ///
    /// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let buffer = |size| device.create_buffer(&wgpu::BufferDescriptor {
    /// #     label: None, size, usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false,
    /// # });
    /// # let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// // At most 8 rows of 16 elements.
    /// let plan = Gather::new().plan(&[100, 16], &[8])?;
    /// let (params, indices, output) = (buffer(100 * 64), buffer(8 * 4), buffer(8 * 64));
    /// let visible = buffer(4);
    /// let buffers = GatherBuffers::new::<f32, u32>(params.slice(..), indices.slice(..), output.slice(..));
    /// let buffers = buffers.with_index_count(visible.slice(..));
    /// assert!(Gatherer::new(&device).encode(&mut encoder, &plan, &buffers).is_ok());
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn with_index_count(mut self, index_count: wgpu::BufferSlice<'a>) -> Self {
        self.index_count = Some(index_count);
        self
    }

    /// Bad rows hold `fill` instead of zeros: JAX's mode `"fill"`.
    ///
    /// The gather returns an error if the fill's width is not the element's. The width may be at most 64 bytes if it is
    /// a multiple of 4, at most 32 bytes if it is only a multiple of 2, and at most 16 bytes if it is odd.
    #[must_use]
    pub fn with_fill<T: GatherElement>(self, fill: T) -> Self {
        self.with_fill_bytes(bytemuck::bytes_of(&fill))
    }

    /// As [`with_fill`](Self::with_fill), but takes the bytes of the fill.
    #[must_use]
    pub fn with_fill_bytes(mut self, fill: &[u8]) -> Self {
        self.fill = Some(Fill::new(fill));
        self
    }
}

/// Some rows of params, in a buffer of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParamsShard<'a> {
    /// The number of params rows that the shard holds.
    pub rows: u64,
    /// The range that holds the rows, as for any operand of [`GatherBuffers`].
    pub range: wgpu::BufferSlice<'a>,
}

/// Params in one buffer range, or in shards.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ParamsRanges<'a> {
    Whole(wgpu::BufferSlice<'a>),
    Shards(&'a [ParamsShard<'a>]),
}

impl fmt::Debug for GatherBuffers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |range: wgpu::BufferSlice<'_>| range.offset()..range.offset() + range.size();
        let params: Vec<_> = match self.params {
            ParamsRanges::Whole(params) => vec![range(params)],
            ParamsRanges::Shards(shards) => shards.iter().map(|shard| range(shard.range)).collect(),
        };
        f.debug_struct("GatherBuffers")
            .field("element_bytes", &self.types.element_bytes)
            .field("index_kind", &self.types.index_kind)
            .field("params", &params)
            .field("indices", &range(self.indices))
            .field("output", &range(self.output))
            .field("report", &self.report.map(range))
            .field("index_count", &self.index_count.map(range))
            .finish()
    }
}
