//! The encodings of params rows that a gather decodes: the one table of them.

use std::fmt;

use crate::cpu::decode;
use crate::error::{BlockError, BlockPart};
use crate::memory::Byte;
use crate::plan::{GatherPlan, Operation};

/// Writes the values of some whole blocks, as `f32`.
pub(crate) type Decode = fn(&[u8], &mut [Byte]);

/// Makes [`Encoding`] and its properties. Each encoding is one row here, one function of src/cpu/decode.rs, and one file of
/// shaders/decode/, both of the name that the row ends with.
macro_rules! encodings {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $len:literal values in $bytes:literal bytes, $function:ident;)*) => {
        /// How the rows of params are encoded, for a gather that decodes them to `f32`.
        ///
        /// A row is whole blocks, one after another, along the last dim of params. Blocks may start at any byte. The
        /// names and the bytes are those of GGUF; `F16` and `Bf16` are also those of safetensors and of
        /// NumPy's `float16`, and `F8E4M3` and `F8E5M2` are those of safetensors.
        ///
        /// | encoding | values of a block | bytes of a block |
        /// |---|---|---|
        $(#[doc = concat!("| ", $name, " | ", $len, " | ", $bytes, " |")])*
        ///
        /// The decoded values are the same on each device, bit for bit, and those of gguf-py's `dequantize`, or of
        /// ml_dtypes for floats of 8 bits. `F16`, `Bf16` and `F8E5M2` keep subnormals and the payloads of NaNs; ml_dtypes
        /// gives NaNs of `F8E5M2` one payload. Values of `MXFP4` with small scales are subnormal `f32`s, and are put
        /// together as bits. All products of the other encodings are exact in `f32` and not subnormal, so no driver
        /// flushes them, and a minimum that is added or subtracted rounds once. Two things depend on a GPU's driver: a NaN
        /// that a product gives may have any payload, and Metal's fast math may change the products of a scale that is
        /// a NaN, an infinity or -0.
        ///
        /// ```
        /// use wgpu_gather::Encoding;
        ///
        /// assert_eq!((Encoding::Q4_0.block_len(), Encoding::Q4_0.block_bytes()), (32, 18));
        /// assert_eq!(Encoding::Q4_0.row_bytes(128), Some(72));
        /// assert_eq!(Encoding::Q4_0.row_bytes(100), None);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Encoding {
            $($(#[$doc])* $variant,)*
        }

        impl Encoding {
            /// All encodings.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => &Row {
                        name: $name,
                        len: $len,
                        bytes: $bytes,
                        decode: |from, to| {
                            const GROUP: usize = if $len < 32 { 32 / $len } else { 1 };
                            decode::blocks::<$bytes, $len, GROUP>(from, to, decode::$function);
                        },
                        #[cfg(feature = "gpu")]
                        file: concat!("decode/", stringify!($function)),
                        #[cfg(feature = "gpu")]
                        shader: include_str!(concat!("../shaders/decode/", stringify!($function), ".wgsl")),
                    },)*
                }
            }
        }
    };
}

encodings! {
    /// IEEE half floats.
    F16, "F16", 1 values in 2 bytes, f16;
    /// The high halves of `f32`s.
    Bf16, "BF16", 1 values in 2 bytes, bf16;
    /// Floats of 8 bits: 4 of exponent, 3 of mantissa, no infinity.
    F8E4M3, "F8_E4M3", 1 values in 1 bytes, f8_e4m3;
    /// Floats of 8 bits: 5 of exponent, 2 of mantissa. The high halves of half floats.
    F8E5M2, "F8_E5M2", 1 values in 1 bytes, f8_e5m2;
    /// 8 bits a value, and a scale.
    Q8_0, "Q8_0", 32 values in 34 bytes, q8_0;
    /// 4 bits a value, and a scale.
    Q4_0, "Q4_0", 32 values in 18 bytes, q4_0;
    /// 4 bits a value, a scale and a minimum.
    Q4_1, "Q4_1", 32 values in 20 bytes, q4_1;
    /// 5 bits a value, and a scale.
    Q5_0, "Q5_0", 32 values in 22 bytes, q5_0;
    /// 5 bits a value, a scale and a minimum.
    Q5_1, "Q5_1", 32 values in 24 bytes, q5_1;
    /// 4 bits a value, which select one of 16 numbers, and a scale.
    Iq4Nl, "IQ4_NL", 32 values in 18 bytes, iq4_nl;
    /// Floats of 4 bits, and a power of two as a scale.
    Mxfp4, "MXFP4", 32 values in 17 bytes, mxfp4;
    /// 2 bits a value, in 16 parts with a scale and a minimum of 4 bits each.
    Q2K, "Q2_K", 256 values in 84 bytes, q2_k;
    /// 3 bits a value, in 16 parts with a scale of 6 bits each.
    Q3K, "Q3_K", 256 values in 110 bytes, q3_k;
    /// 4 bits a value, in 8 parts with a scale and a minimum of 6 bits each.
    Q4K, "Q4_K", 256 values in 144 bytes, q4_k;
    /// 5 bits a value, in 8 parts with a scale and a minimum of 6 bits each.
    Q5K, "Q5_K", 256 values in 176 bytes, q5_k;
    /// 6 bits a value, in 16 parts with a scale of 8 bits each.
    Q6K, "Q6_K", 256 values in 210 bytes, q6_k;
}

/// The properties of an encoding.
struct Row {
    name: &'static str,
    /// Values of a block, and its bytes.
    len: u64,
    bytes: u64,
    decode: Decode,
    /// The file of shaders/ that decodes, and its text.
    #[cfg(feature = "gpu")]
    file: &'static str,
    #[cfg(feature = "gpu")]
    shader: &'static str,
}

/// Bytes of a decoded value, an `f32`.
pub(crate) const VALUE_BYTES: u64 = 4;

impl Encoding {
    /// Values of a block.
    #[must_use]
    pub const fn block_len(self) -> u64 {
        self.row().len
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(self) -> u64 {
        self.row().bytes
    }

    /// Bytes of a row of `len` values; `None` if `len` values are no whole blocks, or have more bytes than a `u64` counts.
    #[must_use]
    pub const fn row_bytes(self, len: u64) -> Option<u64> {
        match len.is_multiple_of(self.block_len()) {
            true => (len / self.block_len()).checked_mul(self.block_bytes()),
            false => None,
        }
    }

    /// Bytes of the whole blocks of `len` values; `u64::MAX` if a `u64` does not count them.
    pub(crate) const fn bytes_of(self, len: u64) -> u64 {
        (len / self.block_len()).saturating_mul(self.block_bytes())
    }

    pub(crate) const fn decode(self) -> Decode {
        self.row().decode
    }

    #[cfg(feature = "gpu")]
    pub(crate) const fn file(self) -> &'static str {
        self.row().file
    }

    #[cfg(feature = "gpu")]
    pub(crate) const fn shader(self) -> &'static str {
        self.row().shader
    }

    /// Checks that a plan cuts no block: that its slices, and the strides of params, are whole blocks along the last dim.
    pub(crate) fn check(self, plan: &GatherPlan) -> Result<(), BlockError> {
        let dims = plan.dims();
        let last_dim = plan.params_shape.last().map_or(1, |&dim| dim as u64);
        let parts = [
            (BlockPart::LastDim, last_dim),
            (BlockPart::Slice, dims.slice_len),
            (BlockPart::Stride, dims.params_stride),
        ];
        let is_cut = |&(_, len): &(_, u64)| !len.is_multiple_of(self.block_len());
        let part = match plan.operation {
            Operation::GatherElements => Some((BlockPart::Element, dims.slice_len)),
            _ => parts.into_iter().find(is_cut),
        };
        match part {
            None => Ok(()),
            Some((part, found)) => Err(BlockError {
                encoding: self,
                part,
                block_len: self.block_len(),
                found,
            }),
        }
    }
}

/// The name in GGUF.
impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_values_have_no_more_bytes_than_decoded_ones() {
        for &encoding in Encoding::ALL {
            assert!(encoding.block_bytes() <= encoding.block_len() * VALUE_BYTES);
        }
    }
}
