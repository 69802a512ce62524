//! One error enum for each kind of call. Each text names the operand, the expected value and the one found.

mod bad_index;
#[cfg(feature = "gpu")]
mod gpu;
mod plan;

use std::fmt;
use std::ops::RangeInclusive;

pub use self::bad_index::BadIndexError;
pub(crate) use self::bad_index::{Problem, join};
#[cfg(feature = "gpu")]
pub use self::gpu::{GatherError, GpuError};
pub use self::plan::PlanError;
use crate::encoding::Encoding;

/// The tensor, or the buffer, that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// The tensor that is gathered from.
    Params,
    /// One of the buffers that hold the shards of params, counted from 0.
    ParamsShard(usize),
    /// The tensor of index rows.
    Indices,
    /// The tensor that the gather writes.
    Output,
    /// The buffer in which the GPU reports bad rows.
    Report,
    /// The mask of bad rows.
    Mask,
    /// The buffer that holds the number of index rows, if only the GPU knows it.
    IndexCount,
    /// The scales of quantised params.
    Scales,
    /// The zero points of quantised params.
    ZeroPoints,
    /// A tensor of an owner, as `Gpu::upload` makes it, in no particular role of a gather.
    Tensor,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params => f.write_str("params"),
            Self::ParamsShard(number) => write!(f, "params shard {number}"),
            Self::Indices => f.write_str("indices"),
            Self::Output => f.write_str("output"),
            Self::Report => f.write_str("report"),
            Self::Mask => f.write_str("mask"),
            Self::IndexCount => f.write_str("index count"),
            Self::Scales => f.write_str("scales"),
            Self::ZeroPoints => f.write_str("zero points"),
            Self::Tensor => f.write_str("tensor"),
        }
    }
}

/// "35", or "35 to 40".
fn either(numbers: &RangeInclusive<u64>) -> String {
    match (numbers.start(), numbers.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    }
}

/// The error of a [`BlockQuantized`](crate::BlockQuantized).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum BlockQuantizedError {
    /// No values of so many bits are decoded.
    #[error("quantised values must have 2, 4 or 8 bits, found {found}")]
    Bits { found: u32 },
    /// No blocks of so many values are decoded.
    #[error("quantised blocks must have 16, 32, 64, 128 or 256 values, found {found}")]
    BlockLen { found: u64 },
}

/// The error of a gather that would cut blocks of encoded params.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockError {
    /// The encoding of params.
    pub encoding: Encoding,
    /// The part of the plan that is not of whole blocks.
    pub part: BlockPart,
    /// Values of a block; those of a row of the last dim, where the encoding has scales for a whole row or in an operand of
    /// their own.
    pub block_len: u64,
    /// The values that the part has.
    pub found: u64,
}

/// The part of a plan that a [`BlockError`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockPart {
    /// The last dim of params, along which blocks lie.
    LastDim,
    /// The slices.
    Slice,
    /// The stride of params.
    Stride,
    /// The slices of gather_elements, which takes no encoded params, not even of blocks of one value.
    Element,
}

impl std::error::Error for BlockError {}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            encoding,
            block_len,
            found,
            ..
        } = self;
        let part = match self.part {
            BlockPart::LastDim => "the last dim of params",
            BlockPart::Slice => "slices",
            BlockPart::Stride => "the params stride",
            BlockPart::Element => {
                return write!(
                    f,
                    "gather_elements must not have params of {encoding}, in blocks of {block_len}: its slices have {found}"
                );
            }
        };
        write!(
            f,
            "{part} must be whole blocks of {encoding}, of {block_len} values each, found {found}"
        )
    }
}

/// The error of a gather on the CPU.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum RunError {
    /// An operand has another number of elements than in the plan. There are several right numbers if the plan has
    /// strides: with the gap after the last row, with a part of it, or without.
    #[error("{operand} must have {} elements, found {found}", either(.expected))]
    Length {
        operand: Operand,
        expected: RangeInclusive<u64>,
        found: usize,
    },
    /// An operand of bytes has another number of bytes than the elements that the plan gives it.
    #[error("{operand} must have {} bytes, found {found}", either(.expected))]
    ByteLength {
        operand: Operand,
        expected: RangeInclusive<u64>,
        found: usize,
    },
    /// The gather would cut a block of encoded params.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The encoding has scales or zero points in an operand of their own, and the call got none, or takes none.
    #[error("{operand} must be given: run_decoded and gather_decoded take them in an Encoded")]
    MissingOperand { operand: Operand },
    /// Scales or zero points were given for an encoding that does not have them.
    #[error("{operand} must not be given: the encoding has none")]
    UnexpectedOperand { operand: Operand },
    /// An index is out of range, and the policy makes it an error.
    #[error(transparent)]
    BadIndex(#[from] BadIndexError),
    /// There is no memory for the elements of an operand: of the output, the mask or a tensor that a call makes, or of
    /// indices that it converts.
    #[error("{operand} of {elements} elements of {element_bytes} bytes cannot be allocated")]
    OutOfMemory {
        operand: Operand,
        elements: u64,
        element_bytes: usize,
    },
}

/// The error of a gather of ndarray's arrays.
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
    /// An array has another shape than in the plan.
    #[error("{operand} must have the plan's shape [{}], found [{}]", join(.expected, ","), join(.found, ","))]
    PlanShape {
        operand: Operand,
        expected: Vec<usize>,
        found: Vec<usize>,
    },
    /// There is no memory for the copy of a view that is not in standard layout.
    #[error(
        "copy of {operand} in standard layout, {elements} elements of {element_bytes} bytes, cannot be allocated"
    )]
    OutOfMemory {
        operand: Operand,
        elements: usize,
        element_bytes: usize,
    },
    /// ndarray takes no output of this shape: its non-zero dims multiply to more than `isize::MAX`.
    #[error("output shape: {0}")]
    Shape(ndarray::ShapeError),
}
