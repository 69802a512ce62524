//! The errors of gathers and scatters on a GPU.

use super::bad_index::join;
use super::{PlanError, RunError};
use crate::operand::Operand;
use crate::reduce::Reduce;

/// Why a gather or a scatter cannot be recorded, in which case no part of it has been, or why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum GatherError {
    /// Elements without bytes cannot be gathered on a GPU.
    #[error("an element must have at least 1 byte on the GPU, found 0")]
    ZeroSizedElement,
    /// An operand has more than `i64::MAX` bytes.
    #[error(
        "{operand} must have at most {} bytes, found {elements} elements of {element_bytes} bytes",
        i64::MAX
    )]
    TooManyBytes {
        operand: Operand,
        elements: u64,
        element_bytes: u64,
    },
    /// A call with an [`index_count`](crate::Buffers::index_count) takes too many dispatches. Each batch, and in it each coordinate of
    /// the dims between batch dims and axis, takes its own; in a scatter also one for a report, and two for an assign to rows that
    /// may repeat.
    #[error(
        "a call with an index count must take at most {limit} dispatches, found {found} or more: each block takes its own"
    )]
    TooManyDispatches { found: u64, limit: u64 },
    /// A batch of gather_elements is too large for the shader. Leading dims of equal size before the axis are batches.
    #[error(
        "params and indices of gather_elements must have at most {limit} elements after the leading dims that they share, found {rows}"
    )]
    TooManyElementRows { rows: u64, limit: u64 },
    /// More dims than the shader handles. A dim in which indices is as large as params counts as one with the dim before
    /// it, unless one of the two is the axis. Dims of 1 in the output do not count.
    #[error(
        "gather_elements on a GPU supports at most {limit} dims after equal dims are merged, found {element_dims}"
    )]
    TooManyElementDims { element_dims: usize, limit: usize },
    /// The plan does not serve the call: it cuts blocks of encoded params, or cannot scatter.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The reduced numbers have another width than the elements of the types.
    #[error("{number} must have the width of an element, found elements of {element_bytes} bytes")]
    NumberBytes {
        number: &'static str,
        element_bytes: u64,
    },
    /// No GPU reduces these numbers.
    #[error("a GPU has no {reduce} of {number}: GatherPlan::scatter_reduce has it, on the CPU")]
    UnsupportedReduce {
        reduce: Reduce,
        number: &'static str,
    },
    /// A scatter numbers the rows of the target and the index rows in 32 bits or less, to keep or to sort them. If you promise
    /// unique rows, it does so only to reduce halves.
    #[error(
        "a scatter on a GPU must have at most {limit} {counted}, found {found}, where several indices may select a row or halves are reduced"
    )]
    TooManyToOrder {
        /// The name of the things counted: rows of the target, or index rows.
        counted: &'static str,
        found: u64,
        limit: u64,
    },
    /// A buffer range is shorter than its operand, rounded up to whole words.
    #[error("{operand} range must have at least {expected} bytes, found {found}")]
    RangeTooShort {
        operand: Operand,
        expected: u64,
        found: u64,
    },
    /// A buffer lacks a usage that the gather needs.
    #[error("{operand} buffer must have usage {expected:?}, found {found:?}")]
    MissingUsage {
        operand: Operand,
        expected: wgpu::BufferUsages,
        found: wgpu::BufferUsages,
    },
    /// A range starts at an offset that the device cannot bind.
    #[error("{operand} range must start at a multiple of {alignment} bytes, found {offset}")]
    OffsetMisaligned {
        operand: Operand,
        offset: u64,
        alignment: u32,
    },
    /// An operand that is written shares bytes of its buffer with another operand.
    #[error("{operand} must not share bytes with {with}, found {start}..{end} in both")]
    Overlap {
        operand: Operand,
        with: Operand,
        /// The first byte of the buffer that both have.
        start: u64,
        /// The byte after the last one that both have.
        end: u64,
    },
    /// The shards together have another number of rows than params.
    #[error("{operand} shards must have {expected} rows together, found {found}")]
    ShardRows {
        operand: Operand,
        expected: u64,
        found: u64,
    },
    /// The device was requested with a lower limit than the shaders need.
    #[error("device limit {name} must be at least {expected}, found {found}")]
    DeviceLimit {
        name: &'static str,
        expected: u64,
        found: u64,
    },
    /// [`Buffers`](crate::Buffers) were given no scales or zero points, which the types have.
    #[error("{operand} must have a buffer range, found none")]
    MissingOperand { operand: Operand },
    /// [`Buffers`](crate::Buffers) were given scales or zero points, which the types of the gather do not have.
    #[error("{operand} must not have a buffer range: the types of the gather have no {operand}")]
    UnexpectedOperand { operand: Operand },
    /// [`BadIndices::Error`](crate::BadIndices::Error) needs a report buffer for the bad rows.
    #[error("bad_indices Error must have a report buffer on the GPU, found none")]
    MissingReport,
    /// Broadcasting repeats index rows in the output, so no number of index rows ends it.
    #[error(
        "index_count must not be given if broadcasting repeats index rows: {index_rows} index rows for {output_rows} rows of a block"
    )]
    CountOfRepeatedRows {
        /// Index rows of the plan.
        index_rows: u64,
        /// Output rows that read them.
        output_rows: u64,
    },
    /// The buffers given to `rebind` differ from the prepared ones in a property that must stay the same.
    #[error("what is prepared must keep {property}: {expected}, found {found}")]
    Rebound {
        /// The property that must be as it was when the gather was prepared.
        property: String,
        expected: String,
        found: String,
    },
    /// The fill has another number of bytes than an element.
    #[error("the fill has {found} bytes, an element {expected}")]
    FillBytes {
        /// Bytes of an element.
        expected: u64,
        /// Bytes of the fill.
        found: u64,
    },
    /// The fill is too long for the shader. The limit is 64 bytes for elements of a multiple of 4 bytes, 32 for other
    /// even sizes, and 16 for odd sizes.
    #[error("a fill of elements of {element_bytes} bytes is too long for the GPU")]
    FillTooLong {
        /// Bytes of an element.
        element_bytes: u64,
    },
    /// The device is lost: destroyed by the app, or taken away by the driver.
    #[error("the device is lost")]
    DeviceLost,
    /// The device refused an object: a buffer is destroyed or belongs to another device.
    #[error("rejected by the device: {0}")]
    Rejected(String),
    /// The device has no memory for a buffer or a pipeline.
    #[error("out of memory on the device: {0}")]
    OutOfMemory(String),
    /// The bytes of a report have another length than a report.
    #[error("report must have {expected} bytes, found {found}")]
    ReportLength { expected: u64, found: usize },
    /// The bytes of a report are zeros: no gather has written it yet, for instance because it was read before the gather
    /// was submitted.
    #[error("report must be written by a gather, found zeros")]
    UnwrittenReport,
    /// The report is of a gather of another plan.
    #[error(
        "report must name one of {index_rows} index rows, found {count} bad rows, the first of them {row}"
    )]
    ForeignReport {
        row: u64,
        count: u64,
        index_rows: u64,
    },
}

/// The error of an [`Executor`](crate::Executor).
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum GpuError {
    /// This machine has no GPU, or no driver for it that wgpu can use. Holds the reason; `Display` begins with "no GPU: ".
    #[error("no GPU: {0}")]
    NoAdapter(String),
    /// The adapter gives no device.
    #[error("no device from adapter {adapter}: {reason}")]
    NoDevice { adapter: String, reason: String },
    /// An operation cannot be planned, an operand has the wrong length or shape, or an index is out of range: the error
    /// that the CPU gives too. If you give `upload` more or fewer elements than the shape
    /// has, you get a [`GpuError::Shape`].
    #[error(transparent)]
    Run(#[from] RunError),
    /// The gather or the scatter cannot be recorded.
    #[error(transparent)]
    Gather(GatherError),
    /// An operand is a tensor of another [`Executor`](crate::Executor). Executors of the CPU take each other's tensors.
    #[error("{operand} must be a tensor of this owner, found one of another executor")]
    OtherOwner { operand: Operand },
    /// A tensor has no buffer, since its executor is the CPU.
    #[error("tensor must be on a GPU, found in host memory")]
    InHostMemory,
    /// The shape given to a tensor, or to a slice of indices, has another number of elements.
    #[error("{operand} shape must have {expected} elements, found [{}]", join(.shape, ","))]
    Shape {
        operand: Operand,
        expected: usize,
        shape: Vec<usize>,
    },
    /// An operand is larger than one buffer of the device.
    #[error("{operand} buffer must have at most {limit} bytes on this device, found {bytes}")]
    BufferTooLarge {
        operand: Operand,
        bytes: u64,
        limit: u64,
    },
    /// You passed `GatherNd` in place of a plan, and indices as a slice without a shape. The shape tells how many values an index row
    /// has.
    #[error("indices of gather_nd must have a shape, found a slice")]
    MissingShape,
    /// The result could not be read back: the device is lost.
    #[error("result not read back: {0}")]
    ReadBack(String),
    /// The bytes read back are no values of the element type: an app has written other bytes.
    #[error("result must be of type {element}, found other bit patterns")]
    InvalidElement { element: &'static str },
}

/// A mistake that the CPU knows too is a [`GpuError::Run`].
impl From<GatherError> for GpuError {
    fn from(error: GatherError) -> Self {
        match error {
            GatherError::Plan(error) => error.into(),
            error => Self::Gather(error),
        }
    }
}

impl From<PlanError> for GpuError {
    fn from(error: PlanError) -> Self {
        Self::Run(error.into())
    }
}
