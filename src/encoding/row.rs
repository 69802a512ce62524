//! A row of the table of encodings.

use crate::memory::Byte;

/// Writes the values of some whole blocks, or of one row with a scale at its end, as `f32`.
pub(crate) type Decode = fn(&[u8], &mut [Byte]);

/// Bytes of a decoded value, an `f32`.
pub(crate) const VALUE_BYTES: u64 = 4;

/// Room for a decoded value, at any byte.
pub(super) type Value = [Byte; 4];

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

/// A row of the table: values and bytes of a block, bytes at the end of a row, the file of shaders/decode/, and the decoder.
macro_rules! row {
    ($len:literal, $bytes:literal, $end:literal, $file:ident, $decode:expr) => {
        &$crate::encoding::row::Row {
            len: $len,
            bytes: $bytes,
            end: $end,
            decode: $decode,
            #[cfg(feature = "gpu")]
            file: concat!("decode/", stringify!($file)),
            #[cfg(feature = "gpu")]
            shader: $crate::gpu::wgsl::wgsl!(concat!(
                "../../shaders/decode/",
                stringify!($file),
                ".wgsl"
            )),
        }
    };
}
pub(super) use row;
