//! One error enum for each kind of call. Each text names the operand, what was expected and what came.

use std::fmt;

use crate::bad_indices::{BadIndexError, join};

/// The tensor, or the buffer, that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// The table that is gathered from.
    Params,
    /// One of the buffers that params is made of, counted from 0.
    ParamsShard(usize),
    /// The rows to gather.
    Indices,
    /// What the gather writes.
    Output,
    /// Where the GPU reports bad rows.
    Report,
    /// How many index rows there are, where only the GPU knows.
    IndexCount,
    /// Elements on the GPU, whatever they are to a gather: what `Gpu::upload` makes.
    Table,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params => f.write_str("params"),
            Self::ParamsShard(number) => write!(f, "params shard {number}"),
            Self::Indices => f.write_str("indices"),
            Self::Output => f.write_str("output"),
            Self::Report => f.write_str("report"),
            Self::IndexCount => f.write_str("index count"),
            Self::Table => f.write_str("table"),
        }
    }
}

/// Why shapes and attributes make no plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum PlanError {
    /// gather_nd counts batch dims from the front only.
    #[error("gather_nd does not allow negative batch_dims, found {batch_dims}")]
    BatchDimsNegative { batch_dims: i64 },
    /// gather's batch_dims lies outside `-rank(indices)..=rank(indices)`.
    #[error(
        "batch_dims must be in [-{indices_rank}, {indices_rank}] for indices of rank {indices_rank}, found {batch_dims}"
    )]
    BatchDimsOutOfRange {
        batch_dims: i64,
        indices_rank: usize,
    },
    /// gather_nd keeps the last dim of indices for the index rows.
    #[error("batch_dims must be less than rank(indices) = {indices_rank}, found {batch_dims}")]
    BatchDimsNotBelowIndicesRank {
        batch_dims: u64,
        indices_rank: usize,
    },
    /// Params needs a dim behind its batch dims.
    #[error("batch_dims must be less than rank(params) = {params_rank}, found {batch_dims}")]
    BatchDimsNotBelowParamsRank { batch_dims: u64, params_rank: usize },
    /// gather's axis lies in front of the end of the batch dims.
    #[error("batch_dims must be less than or equal to axis = {axis}, found {batch_dims}")]
    BatchDimsAboveAxis { batch_dims: usize, axis: usize },
    /// The batch dims of the two operands differ.
    #[error(
        "batch dims must be equal: params.shape[{dim}] = {params_dim}, indices.shape[{dim}] = {indices_dim}"
    )]
    BatchDimsUnequal {
        dim: usize,
        params_dim: usize,
        indices_dim: usize,
    },
    /// Params has no dim to index.
    #[error("params must be at least a vector")]
    ParamsScalar,
    /// gather_nd's indices has no last dim.
    #[error("indices must be at least a vector")]
    IndicesScalar,
    /// An index row has more values than params has dims behind its batch dims.
    #[error(
        "index depth (the last dim of indices) must be at most {max}, the rank of params less batch_dims, found {index_depth}"
    )]
    IndexDepthAboveRank { index_depth: usize, max: usize },
    /// An index row has more values than this crate handles.
    #[error("index depth (the last dim of indices) must be at most 8, found {index_depth}")]
    IndexDepthAboveLimit { index_depth: usize },
    /// gather's axis is not a dim of params.
    #[error("axis{} must be in [-{params_rank}, {params_rank}) for params of rank {params_rank}, found {axis}",
        if *.given { "" } else { " (not given, so batch_dims)" })]
    AxisOutOfRange {
        axis: i64,
        given: bool,
        params_rank: usize,
    },
    /// gather_elements has an index for each place, so indices has the rank of params.
    #[error("indices must have the rank of params = {params_rank}, found {indices_rank}")]
    RanksUnequal {
        params_rank: usize,
        indices_rank: usize,
    },
    /// Indices of gather_elements has places that params has not.
    #[error(
        "indices.shape[{dim}] must be at most params.shape[{dim}] = {params_dim}, found {indices_dim}"
    )]
    IndicesDimAboveParams {
        dim: usize,
        params_dim: usize,
        indices_dim: usize,
    },
    /// Index rows cannot be looked up in params without elements; TensorFlow's text.
    #[error("Requested more than 0 entries, but params is empty.  Params shape: [{}]", join(.params_shape, ","))]
    EmptyParams { params_shape: Vec<usize> },
    /// A shard holds rows that params does not have.
    #[error("shard must lie within rows 0..{row_count}, found {start}..{end}")]
    ShardOutOfRange {
        start: u64,
        end: u64,
        row_count: u64,
    },
    /// The non-zero dims of a tensor multiply to more than `i64::MAX`.
    #[error("{operand} must have at most {} elements, found shape [{}]", i64::MAX, join(.shape, ","))]
    TooManyElements { operand: Operand, shape: Vec<usize> },
}

/// Why a gather on the CPU gives no output.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum RunError {
    /// A slice does not hold just the elements of its operand.
    #[error("{operand} must have {expected} elements, found {found}")]
    Length {
        operand: Operand,
        expected: u64,
        found: usize,
    },
    /// Bytes are not just those of their operand's elements.
    #[error("{operand} must have {expected} bytes, found {found}")]
    ByteLength {
        operand: Operand,
        expected: u64,
        found: usize,
    },
    /// An index is out of range, and the policy makes that an error.
    #[error(transparent)]
    BadIndex(#[from] BadIndexError),
    /// The output that `run` returns cannot be allocated.
    #[error("output of {elements} elements of {element_bytes} bytes cannot be allocated")]
    OutOfMemory { elements: u64, element_bytes: usize },
}

/// Why a gather of ndarray's arrays gives no output.
#[cfg(feature = "ndarray")]
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum ArrayError {
    /// The shapes and attributes make no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An index is out of range, or there is no memory for the output.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A view that is not in standard layout cannot be copied.
    #[error(
        "copy of {operand} in standard layout, {elements} elements of {element_bytes} bytes, cannot be allocated"
    )]
    OutOfMemory {
        operand: Operand,
        elements: usize,
        element_bytes: usize,
    },
    /// ndarray takes no output of this shape: its dims but zeros multiply to more than `isize::MAX`.
    #[error("output shape: {0}")]
    Shape(ndarray::ShapeError),
}

/// Why a gather cannot be recorded. Nothing has been recorded then.
#[cfg(feature = "gpu")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum GatherError {
    /// There is nothing to move on a GPU.
    #[error("an element must have at least 1 byte on the GPU, found 0")]
    ZeroSizedElement,
    /// The bytes of an operand cannot be counted.
    #[error(
        "{operand} must have at most {} bytes, found {elements} elements of {element_bytes} bytes",
        i64::MAX
    )]
    TooManyBytes {
        operand: Operand,
        elements: u64,
        element_bytes: u64,
    },
    /// A batch of gather_elements, as many leading dims as params and indices share, is too large for the shader.
    #[error(
        "params and indices of gather_elements must have at most {limit} elements behind the leading dims that they share, found {rows}"
    )]
    TooManyPlaces { rows: u64, limit: u64 },
    /// The places of gather_elements have more dims than the shader handles: dims of indices that are smaller than
    /// those of params, neighbours of them apart.
    #[error(
        "indices of gather_elements must have at most {limit} dims that are not as good as one with their neighbour on the GPU, found {place_dims}"
    )]
    TooManyPlaceDims { place_dims: usize, limit: usize },
    /// A buffer range is shorter than its operand, rounded up to words.
    #[error("{operand} range must have at least {expected} bytes, found {found}")]
    RangeTooShort {
        operand: Operand,
        expected: u64,
        found: u64,
    },
    /// A buffer was made without a usage that the gather needs.
    #[error("{operand} buffer must have usage {expected:?}, found {found:?}")]
    MissingUsage {
        operand: Operand,
        expected: wgpu::BufferUsages,
        found: wgpu::BufferUsages,
    },
    /// A range starts where the device cannot bind it.
    #[error("{operand} range must start at a multiple of {alignment} bytes, found {offset}")]
    OffsetMisaligned {
        operand: Operand,
        offset: u64,
        alignment: u32,
    },
    /// An operand that is written shares bytes of its buffer with another one.
    #[error("{operand} must not share bytes with {with}, found {start}..{end} in both")]
    Overlap {
        operand: Operand,
        with: Operand,
        /// The first byte of the buffer that both have.
        start: u64,
        /// The one behind the last.
        end: u64,
    },
    /// A table cannot have this shape.
    #[error("table shape must have {expected} elements, found [{}]", join(.shape, ","))]
    Shape { expected: usize, shape: Vec<usize> },
    /// The shards do not make up params.
    #[error("params shards must have {expected} rows together, found {found}")]
    ShardRows { expected: u64, found: u64 },
    /// The device was requested with less than the shaders need.
    #[error("device limit {name} must be at least {expected}, found {found}")]
    DeviceLimit {
        name: &'static str,
        expected: u64,
        found: u64,
    },
    /// [`BadIndices::Error`](crate::BadIndices::Error) has nowhere to note bad rows.
    #[error("bad_indices Error must have a report buffer on the GPU, found none")]
    MissingReport,
    /// A fill of other bytes than an element has.
    #[error("the fill has {found} bytes, an element {expected}")]
    FillBytes {
        /// Bytes of an element.
        expected: u64,
        /// Bytes of the fill.
        found: u64,
    },
    /// A fill that the shader cannot hold: of elements of more than 64 bytes, or of more than 32 bytes that are
    /// no whole words, or of more than 16 that are no whole half words.
    #[error("a fill of elements of {element_bytes} bytes is too long for the GPU")]
    FillTooLong {
        /// Bytes of an element.
        element_bytes: u64,
    },
    /// The device refused an object: a buffer is destroyed or another device's, or the device is lost.
    #[error("rejected by the device: {0}")]
    Rejected(String),
    /// The device has no memory for a pipeline or for the few bytes of sizes that a gather reads.
    #[error("out of memory on the device: {0}")]
    OutOfMemory(String),
}

/// Why a report of bad rows cannot be read.
#[cfg(feature = "gpu")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum ReportError {
    /// The bytes are not a report.
    #[error("report must have {expected} bytes, found {found}")]
    Length { expected: u64, found: usize },
    /// The report is not one of this plan: of another gather, or bytes that no gather wrote.
    #[error(
        "report must name one of {index_rows} index rows, found {count} bad rows, the first of them {row}"
    )]
    Foreign {
        row: u64,
        count: u64,
        index_rows: u64,
    },
}

/// Why a gather on a [`Gpu`](crate::Gpu), or an [`Executor`](crate::Executor), gives no output.
#[cfg(feature = "gpu")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum GpuError {
    /// This machine has no GPU, or no driver for it that wgpu can use.
    #[error("no adapter found: {0}")]
    NoAdapter(String),
    /// The adapter gives no device.
    #[error("no device from adapter {adapter}: {reason}")]
    NoDevice { adapter: String, reason: String },
    /// An operand has the wrong length, or an index is out of range: the error of the CPU.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The gather cannot be recorded.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// The report of bad rows cannot be read.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// An operand is larger than one buffer of the device.
    #[error("{operand} buffer must have at most {limit} bytes on this device, found {bytes}")]
    BufferTooLarge {
        operand: Operand,
        bytes: u64,
        limit: u64,
    },
    /// A stream may take too little of the device for any piece of a slice.
    #[error("device_bytes must be at least {expected} for this gather, found {found}")]
    DeviceBytes { expected: u64, found: u64 },
    /// The result could not be read back: the device is lost.
    #[error("result not read back: {0}")]
    ReadBack(String),
    /// What was read back is not the elements that were asked for: an app has written other bytes.
    #[error("result must be of type {element}, found other bit patterns")]
    InvalidElement { element: &'static str },
    /// An executor runs only plans that mean the same on both devices.
    #[error(
        "bad_indices must be Error, Zero or Clamp for an executor, found DeviceDefault, which differs by device"
    )]
    PolicyNotNamed,
}
