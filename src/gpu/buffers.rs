//! The buffers that a caller gives a gather.

use std::fmt;

use super::fill::Fill;
use super::types::ElementTypes;
use crate::element::{GatherElement, GatherIndex, IndexKind};

/// The buffer ranges of one gather, and what they hold.
///
/// Each range holds at least the bytes of its operand, row-major and little-endian, rounded up to 4 (wgpu
/// binds whole words); what lies behind them is neither read nor written, and the bytes that fill up the
/// output's last word are kept. An operand without elements may have an empty range.
///
/// A range starts at a multiple of `min_storage_buffer_offset_alignment` and its buffer has the usage
/// `STORAGE`. Operands may live in one buffer, an app's arena or a memory pool; then those that are written,
/// output and report, must have their bytes to themselves.
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

    /// Buffers of elements of `element_bytes` bytes each, for those who know them only at run time.
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
    /// The params rows, the slices of params in row-major order, are those of the first shard, then those of
    /// the second, and so on; together they are all of params. Shards may share buffers.
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

    /// Has bad rows reported in `report`, of [`BadRows::REPORT_BYTES`](crate::BadRows::REPORT_BYTES) bytes, whatever
    /// the plan's policy; [`BadIndices::Error`](crate::BadIndices::Error) requires it.
    ///
    /// The buffer needs the usage `STORAGE` and whatever reading it takes. The gather writes all of those bytes,
    /// whatever they held.
    #[must_use]
    pub fn with_report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.report = Some(report);
        self
    }

    /// Gathers as many index rows of each batch as `index_count` says when the commands run: one `u32`, which an
    /// earlier pass may have written. The plan's number of them is what there are at most; output rows from the
    /// count on are left as they are, and their indices are not looked at.
    ///
    /// The workgroups of a large gather are dispatched indirectly, so few rows cost little. Each batch, and each outer
    /// coordinate of gather, takes dispatches of its own, and rows of 1, 2 or 4 bytes are not packed: where most rows of a
    /// large gather of single words are counted, that takes longer than all of them without a count.
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

    /// Has bad rows hold `fill` where they would hold zeros: JAX's mode `"fill"`.
    ///
    /// A fill of another size than an element is an error of the gather, and so is one of elements of more than
    /// 64 bytes, or of more than 16 that are no whole words (32, if they are whole half words).
    #[must_use]
    pub fn with_fill<T: GatherElement>(self, fill: T) -> Self {
        self.with_fill_bytes(bytemuck::bytes_of(&fill))
    }

    /// [`with_fill`](Self::with_fill) of an element's bytes.
    #[must_use]
    pub fn with_fill_bytes(mut self, fill: &[u8]) -> Self {
        self.fill = Some(Fill::new(fill));
        self
    }
}

/// Some rows of params, in a buffer of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParamsShard<'a> {
    /// How many params rows, slices of params, the shard holds.
    pub rows: u64,
    /// Where they are, as any operand of [`GatherBuffers`].
    pub range: wgpu::BufferSlice<'a>,
}

/// Where params is.
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
