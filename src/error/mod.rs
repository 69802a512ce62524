//! One error enum for each kind of call. Each text names the operand, what was expected and what was found.

mod bad_index;
#[cfg(feature = "gpu")]
mod gpu;
mod plan;
#[cfg(all(test, target_pointer_width = "64"))]
mod tests;

use std::ops::RangeInclusive;

pub use self::bad_index::BadIndexError;
pub(crate) use self::bad_index::{Problem, join};
#[cfg(feature = "gpu")]
pub use self::gpu::{GatherError, GpuError};
pub use self::plan::PlanError;
use crate::operand::Operand;

/// "35", "35 to 40", or "at least 35" if a `u64` does not count the last number.
fn either(numbers: &RangeInclusive<u64>) -> String {
    match (numbers.start(), numbers.end()) {
        (first, &u64::MAX) => format!("at least {first}"),
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    }
}

/// The error of a gather or a scatter on the CPU. Every `Executor`, on a GPU or on the CPU, returns these errors in a `GpuError::Run`. If the length of
/// a `&[T]` does not fit its shape, `upload` returns `GpuError::Shape` before you gather.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum RunError {
    /// An operation cannot be planned for these shapes, or the plan does not serve the call: it cuts blocks of encoded params, or
    /// cannot scatter.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// An array, a tensor, or a slice that you passed with its shape, does not have the plan's shape.
    #[error("{operand} must have the plan's shape [{}], found [{}]", join(.expected, ","), join(.found, ","))]
    PlanShape {
        operand: Operand,
        expected: Vec<usize>,
        found: Vec<usize>,
    },
    /// An operand does not have as many elements as the plan says. If the plan has a stride, several numbers are right: with
    /// the gap after the last row, with a part of it, or without.
    #[error("{operand} must have {} elements, found {found}", either(.expected))]
    Length {
        operand: Operand,
        expected: RangeInclusive<u64>,
        found: usize,
    },
    /// An operand given as bytes does not have as many as the plan's elements take.
    #[error("{operand} must have {} bytes, found {found}", either(.expected))]
    ByteLength {
        operand: Operand,
        expected: RangeInclusive<u64>,
        found: usize,
    },
    /// The plan has an output stride, but the call makes its output.
    #[error(
        "output must be given, to gather_into, into_tensor or a Gatherer: the plan has a stride of {stride} elements for slices of {slice_len}"
    )]
    OutputStride { slice_len: u64, stride: u64 },
    /// A scatter to an array that is not in standard layout (row-major, without gaps).
    #[error("target must be in standard layout, found strides [{}] for shape [{}]", join(.strides, ","), join(.shape, ","))]
    TargetLayout {
        shape: Vec<usize>,
        strides: Vec<isize>,
    },
    /// The encoding keeps scales or zero points in their own operand, and the call got none, or takes none.
    #[error(
        "{operand} must be given, in an Encoded: the encoding has them in an operand of their own"
    )]
    MissingOperand { operand: Operand },
    /// Scales or zero points were given for an encoding that does not have them.
    #[error("{operand} must not be given: the encoding has none")]
    UnexpectedOperand { operand: Operand },
    /// The offset at a place is less than the one before it, or more than the number of indices; or the first is not 0.
    #[error("offsets[{place}] must be {}, found {found}", either(.expected))]
    Offset {
        place: usize,
        expected: RangeInclusive<u64>,
        found: i128,
    },
    /// An index is out of range, and the policy makes it an error.
    #[error(transparent)]
    BadIndex(#[from] BadIndexError),
    /// There is no memory for what a call makes: the output, the mask or a tensor; indices that it converts; an array that it
    /// copies because it is not in standard layout; or what a scatter keeps while it sums floats, which is a count for each row
    /// and sums where a row meets more than 1,024 updates.
    #[error("{operand} of {elements} elements of {element_bytes} bytes cannot be allocated")]
    OutOfMemory {
        operand: Operand,
        elements: u64,
        element_bytes: usize,
    },
}
