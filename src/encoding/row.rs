//! A row in the table of encodings.

use crate::memory::Byte;

/// Decodes to `f32`s that fill the room: the first blocks, or in a row that ends with a scale the values from this number on.
pub(crate) type Decode = fn(&[u8], usize, &mut [Byte]);

/// Bytes in a decoded value, an `f32`.
pub(crate) const VALUE_BYTES: u64 = 4;

/// Room for a decoded value, at any byte.
pub(super) type Value = [Byte; 4];

/// An encoding's properties.
pub(super) struct Row {
    /// Values in a block, and its bytes.
    pub(super) len: u64,
    pub(super) bytes: u64,
    /// Bytes after a row's blocks, with the scale and bias that they share.
    pub(super) end: u64,
    /// `None` if the decoder reads other operands too.
    pub(super) decode: Option<Decode>,
    /// The decoder's file in shaders/, and its text.
    #[cfg(feature = "gpu")]
    pub(super) file: &'static str,
    #[cfg(feature = "gpu")]
    pub(super) shader: &'static str,
}

/// Makes a [`Row`]: values and bytes in a block, bytes at a row's end, the file in shaders/decode/, and the decoder.
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
