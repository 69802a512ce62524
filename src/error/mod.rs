//! One error enum for each kind of call. Each text names the operand, the expected value and the one found.

mod bad_index;
#[cfg(feature = "gpu")]
mod gpu;
mod plan;

use std::ops::RangeInclusive;

pub use self::bad_index::BadIndexError;
pub(crate) use self::bad_index::{Problem, join};
#[cfg(feature = "gpu")]
pub use self::gpu::{GatherError, GpuError};
pub use self::plan::PlanError;
use crate::encoding::{BlockError, Encoding};
use crate::operand::Operand;

/// "35", or "35 to 40".
fn either(numbers: &RangeInclusive<u64>) -> String {
    match (numbers.start(), numbers.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    }
}

/// The error of a gather on the CPU, and of a mistake that a gather on a GPU reports in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum RunError {
    /// An operation cannot be planned for the shapes of its operands.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An array, a tensor, or a slice of indices with a shape, has another shape than in the plan.
    #[error("{operand} must have the plan's shape [{}], found [{}]", join(.expected, ","), join(.found, ","))]
    PlanShape {
        operand: Operand,
        expected: Vec<usize>,
        found: Vec<usize>,
    },
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
    /// The plan has a stride of the output, and the call makes its output.
    #[error(
        "output must be given, to run_into, into_tensor or a Gatherer: the plan has a stride of {stride} elements for slices of {slice_len}"
    )]
    OutputStride { slice_len: u64, stride: u64 },
    /// The plan has several output elements for one element of an operand, so that a scatter through it has no meaning:
    /// broadcasting repeats index rows among the rows of a block, or stretches a dim of 1 of the target.
    #[error(
        "{operand} must not be repeated by broadcasting in a scatter: dim {dim} of 1 is stretched to {size}"
    )]
    RepeatedInScatter {
        operand: Operand,
        dim: usize,
        size: usize,
    },
    /// A scatter to encoded rows.
    #[error("target must hold elements, found rows of {encoding}: a scatter encodes nothing")]
    EncodedTarget { encoding: Encoding },
    /// A scatter to an array that is not in standard layout (row-major, without gaps).
    #[error("target must be in standard layout, found strides [{}] for shape [{}]", join(.strides, ","), join(.shape, ","))]
    TargetLayout {
        shape: Vec<usize>,
        strides: Vec<isize>,
    },
    /// The gather would cut a block of encoded params.
    #[error(transparent)]
    Block(#[from] BlockError),
    /// The encoding has scales or zero points in an operand of their own, and the call got none, or takes none.
    #[error(
        "{operand} must be given, in an Encoded: the encoding has them in an operand of their own"
    )]
    MissingOperand { operand: Operand },
    /// Scales or zero points were given for an encoding that does not have them.
    #[error("{operand} must not be given: the encoding has none")]
    UnexpectedOperand { operand: Operand },
    /// An index is out of range, and the policy makes it an error.
    #[error(transparent)]
    BadIndex(#[from] BadIndexError),
    /// There is no memory for the elements of an operand: of the output, the mask or a tensor that a call makes, of
    /// indices that it converts, of an array that it copies because it is not in standard layout, or of what a scatter that
    /// sums floats keeps while it runs: counts of rows, and the sums of rows that meet more than 1,024 updates.
    #[error("{operand} of {elements} elements of {element_bytes} bytes cannot be allocated")]
    OutOfMemory {
        operand: Operand,
        elements: u64,
        element_bytes: usize,
    },
}
