//! A row of the table of encodings.

use crate::memory::Byte;

/// Writes the values of some whole blocks, or of one row with a scale at its end, as `f32`.
pub(crate) type Decode = fn(&[u8], &mut [Byte]);

/// Bytes of a decoded value, an `f32`.
pub(crate) const VALUE_BYTES: u64 = 4;

/// The properties of an encoding.
pub(super) struct Row {
    /// Numbers of values and of bytes in a block.
    pub(super) len: u64,
    pub(super) bytes: u64,
    /// Bytes after the blocks of a row, with what all of them share.
    pub(super) end: u64,
    /// `None` if bytes of other operands are decoded too.
    pub(super) decode: Option<Decode>,
    /// The file of shaders/ that decodes, and its text.
    #[cfg(feature = "gpu")]
    pub(super) file: &'static str,
    #[cfg(feature = "gpu")]
    pub(super) shader: &'static str,
}
