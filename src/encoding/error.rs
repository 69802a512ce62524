//! The error for encoded params.

use super::Encoding;

/// A gather would cut encoded params within a block, or no decoder exists for a
/// [`BlockQuantized`](crate::BlockQuantized).
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum BlockError {
    /// `part` is not whole blocks: the last dim of params, along which blocks lie, the slices, or the params stride. For `RowWise8`,
    /// `RowWise4` and `BlockQuantized`, slices and stride must be whole rows of the last dim.
    #[error("{part} must be whole blocks of {encoding}, of {block_len} values each, found {found}")]
    Cut {
        part: &'static str,
        encoding: Encoding,
        block_len: u64,
        found: u64,
    },
    /// gather_elements takes no encoded params, not even with blocks of one value.
    #[error(
        "gather_elements must not have params of {encoding}, in blocks of {block_len}: its slices have {found}"
    )]
    GatherElements {
        encoding: Encoding,
        block_len: u64,
        found: u64,
    },
    /// Quantised values cannot have `found` bits.
    #[error("quantised values must have 2, 4 or 8 bits, found {found}")]
    Bits { found: u32 },
    /// Quantised blocks cannot have `found` values.
    #[error("quantised blocks must have 16, 32, 64, 128 or 256 values, found {found}")]
    BlockLen { found: u64 },
}
