//! The error of encoded params.

use super::Encoding;

/// The error of an encoding: of a gather that would cut blocks of encoded params, or of a
/// [`BlockQuantized`](crate::BlockQuantized) that is not decoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum BlockError {
    /// A part of the plan is not whole blocks: the last dim of params, along which blocks lie, the slices, or the params
    /// stride. If the values of a row share scales, or have them in an operand of their own, the row is the block of the
    /// last two.
    #[error("{part} must be whole blocks of {encoding}, of {block_len} values each, found {found}")]
    Cut {
        part: &'static str,
        encoding: Encoding,
        block_len: u64,
        found: u64,
    },
    /// gather_elements takes no encoded params, not even of blocks of one value.
    #[error(
        "gather_elements must not have params of {encoding}, in blocks of {block_len}: its slices have {found}"
    )]
    GatherElements {
        encoding: Encoding,
        block_len: u64,
        found: u64,
    },
    /// No quantised values of so many bits are decoded.
    #[error("quantised values must have 2, 4 or 8 bits, found {found}")]
    Bits { found: u32 },
    /// No quantised blocks of so many values are decoded.
    #[error("quantised blocks must have 16, 32, 64, 128 or 256 values, found {found}")]
    BlockLen { found: u64 },
}
