//! The error of [`Encoding::parts`].

use std::fmt;

use super::Encoding;

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
