//! One table lists the encodings that a gather decodes.

mod block_quantized;
mod decode;
mod decoding;
mod encoded;
mod float;
mod parts;
mod quantized;
mod row;

pub use self::block_quantized::BlockQuantized;
pub(crate) use self::decode::{half, high_half};
pub(crate) use self::decoding::Decoding;
pub use self::encoded::Encoded;
pub(crate) use self::encoded::QPARAMS;
pub(crate) use self::float::Output;
#[cfg(feature = "half")]
pub(crate) use self::float::round_to;
pub(crate) use self::float::store;
pub use self::float::{Float, FloatKind};
pub(crate) use self::parts::Parts;
pub(crate) use self::quantized::QuantizedRow;
pub(crate) use self::row::Decode;
use self::row::{Row, row};
use crate::memory::{Byte, Leveled, of_f16s, run_at_best_level};
use crate::names::names;
use crate::operand::Operand;

/// Makes [`Encoding`] and its properties. Each block encoding is one row here, one function in decode.rs and one file in
/// shaders/decode/. The row ends with the name that function and file share.
macro_rules! encodings {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $len:literal values in $bytes:literal bytes, $function:ident;)*) => {
        /// How params rows are encoded; a gather decodes them to `f32`, or to halves by [`Encoded::to`].
        ///
        /// Whole blocks follow one another along the last dim of params, and may start at any byte. Names and bytes are
        /// GGUF's, except for `F8E4M3` and `F8E5M2` (safetensors), `RowWise8` and `RowWise4` (FBGEMM, PyTorch) and `BlockQuantized` (ONNX
        /// Runtime). `F16` and `Bf16` have the same bytes in GGUF and in safetensors; `F16` is NumPy's
        /// `float16`.
        ///
        /// `Display` prints, and `FromStr` reads, the second name in each row below, such as `Q4_K` for `Q4K`. A [`BlockQuantized`] has no name to read, and prints
        /// as "values of 4 bits in blocks of 32".
        ///
        /// | encoding | values in a block | bytes in a block |
        /// |---|---|---|
        $(#[doc = concat!("| `", stringify!($variant), "`, ", $name, " | ", $len, " | ", $bytes, " |")])*
        /// | `RowWise8`, ROW_WISE_8 | 1, and the row ends with a scale and a bias | 1, and 8 a row |
        /// | `RowWise4`, ROW_WISE_4 | 2, and the row ends with a scale and a bias | 1, and 4 a row |
        /// | [`BlockQuantized`] | those in a byte, with scales in their own operand | 1 |
        ///
        /// GGUF's encodings match gguf-py's `dequantize`. 8-bit floats match ml_dtypes, except that ml_dtypes gives all NaNs of
        /// `F8E5M2` one payload. The CPU and every GPU decode to the same bits, except for these values:
        ///
        /// | encoding | bits that may differ from device to device |
        /// |---|---|
        /// | `F32`, `F16`, `Bf16`, `F8E5M2`, `Mxfp4` | none: values are put together from bits, subnormal ones and NaNs too |
        /// | all others, such as `Q8_0` | a NaN's payload; on Metal, values whose scale is a NaN, an infinity or -0 |
        /// | `RowWise8` and `BlockQuantized`: as the line above, and | values with a subnormal scale, bias or product, which a GPU's driver may turn into 0; on Metal, values that overflow to an infinity |
        ///
        /// ```
        /// use wgpu_gather::Encoding;
        ///
        /// assert_eq!((Encoding::Q4_0.block_len(), Encoding::Q4_0.block_bytes()), (32, 18));
        /// assert_eq!(Encoding::Q4_0.row_bytes(128), Some(72));
        /// assert_eq!(Encoding::Q4_0.row_bytes(100), None);
        /// assert_eq!("BF16".parse(), Ok(Encoding::Bf16));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Encoding {
            $($(#[$doc])* $variant,)*
            /// 8 bits a value; the row ends with its scale and its bias, an `f32` each, as in FBGEMM and in PyTorch's
            /// `embedding_bag_byte_rowwise_offsets`. A value is `q * scale + bias`, rounded after each step. PyTorch may use a
            /// fused multiply-add, which rounds once, and then differs by the product's last bit. If a product overflows, it is
            /// an infinity, and the value too, even where the bias would bring the exact sum back into range.
            RowWise8,
            /// 4 bits a value, the first in a byte's low half; the row ends with its scale and its bias, a half float each, as in
            /// FBGEMM and in PyTorch's `embedding_bag_4bit_rowwise_offsets`.
            RowWise4,
            /// 2, 4 or 8 bits a value, in blocks whose scales and zero points lie in their own operands: ONNX Runtime's
            /// `GatherBlockQuantized`.
            BlockQuantized(BlockQuantized),
        }

        names! {
            /// All encodings but [`BlockQuantized`](Self::BlockQuantized), which has a parameter and no name.
            Encoding, "encoding":
            $($variant = $name,)*
            RowWise8 = "ROW_WISE_8",
            RowWise4 = "ROW_WISE_4";
            BlockQuantized
        }

        impl Encoding {
            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => row!($len, $bytes, 0, $function, Some(|from, _, to| {
                        struct Blocks<'a>(&'a [u8], &'a mut [Byte]);

                        impl Leveled for Blocks<'_> {
                            #[inline(always)]
                            fn run(self) {
                                let to = self.1.as_chunks_mut().0.as_chunks_mut().0;
                                for (block, to) in self.0.as_chunks().0.iter().zip(to) {
                                    decode::$function(block, to);
                                }
                            }
                        }
                        run_at_best_level(Blocks(from, to));
                    })),)*
                    Self::RowWise8 => row!(1, 1, 8, row_wise_8, Some(quantized::row_wise_8)),
                    Self::RowWise4 => row!(2, 1, 4, row_wise_4, Some(quantized::row_wise_4)),
                    Self::BlockQuantized(quantized) => match quantized.bits() {
                        2 => row!(4, 1, 0, block_quantized, None),
                        4 => row!(2, 1, 0, block_quantized, None),
                        _ => row!(1, 1, 0, block_quantized, None),
                    },
                }
            }
        }
    };
}

encodings! {
    /// Plain `f32`s: a gather copies them, or rounds them to halves.
    F32, "F32", 1 values in 4 bytes, f32;
    /// IEEE half floats.
    F16, "F16", 1 values in 2 bytes, f16;
    /// The high halves of `f32`s.
    Bf16, "BF16", 1 values in 2 bytes, bf16;
    /// 8-bit floats: 4 exponent bits, 3 mantissa bits, no infinity.
    #[doc(alias = "F8_E4M3")]
    F8E4M3, "F8_E4M3", 1 values in 1 bytes, f8_e4m3;
    /// 8-bit floats: 5 exponent bits, 2 mantissa bits. The high bytes of half floats.
    #[doc(alias = "F8_E5M2")]
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
    #[doc(alias = "IQ4_NL")]
    Iq4Nl, "IQ4_NL", 32 values in 18 bytes, iq4_nl;
    /// 4 bits a value, which select one of 16 numbers, in 8 parts with a 6-bit scale each.
    #[doc(alias = "IQ4_XS")]
    Iq4Xs, "IQ4_XS", 256 values in 136 bytes, iq4_xs;
    /// 4-bit floats, and a power of two as a scale.
    Mxfp4, "MXFP4", 32 values in 17 bytes, mxfp4;
    /// 2 bits a value, in 16 parts with a 4-bit scale and minimum each.
    #[doc(alias = "Q2_K")]
    Q2K, "Q2_K", 256 values in 84 bytes, q2_k;
    /// 3 bits a value, in 16 parts with a 6-bit scale each.
    #[doc(alias = "Q3_K")]
    Q3K, "Q3_K", 256 values in 110 bytes, q3_k;
    /// 4 bits a value, in 8 parts with a 6-bit scale and minimum each.
    #[doc(alias = "Q4_K")]
    Q4K, "Q4_K", 256 values in 144 bytes, q4_k;
    /// 5 bits a value, in 8 parts with a 6-bit scale and minimum each.
    #[doc(alias = "Q5_K")]
    Q5K, "Q5_K", 256 values in 176 bytes, q5_k;
    /// 6 bits a value, in 16 parts with an 8-bit scale each.
    #[doc(alias = "Q6_K")]
    Q6K, "Q6_K", 256 values in 210 bytes, q6_k;
}

impl Encoding {
    /// The encoding that a tensor of a GGUF file has, by its type number (`ggml_type`). `None` for types that this crate does not
    /// decode.
    ///
    /// ```
    /// use wgpu_gather::Encoding;
    ///
    /// assert_eq!(Encoding::from_gguf_type(12), Some(Encoding::Q4K));
    /// assert_eq!(Encoding::from_gguf_type(24), None); // integers of 8 bits
    /// ```
    #[must_use]
    pub const fn from_gguf_type(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::F32,
            1 => Self::F16,
            2 => Self::Q4_0,
            3 => Self::Q4_1,
            6 => Self::Q5_0,
            7 => Self::Q5_1,
            8 => Self::Q8_0,
            10 => Self::Q2K,
            11 => Self::Q3K,
            12 => Self::Q4K,
            13 => Self::Q5K,
            14 => Self::Q6K,
            20 => Self::Iq4Nl,
            23 => Self::Iq4Xs,
            30 => Self::Bf16,
            39 => Self::Mxfp4,
            _ => return None,
        })
    }

    /// Values in a block; the last dim of params must be a multiple. For a [`BlockQuantized`], the values in a byte:
    /// [`BlockQuantized::block_len`] counts those that share a scale.
    #[must_use]
    pub const fn block_len(self) -> u64 {
        self.row().len
    }

    /// Bytes in a block, without the scale and bias that may end a row.
    #[must_use]
    pub const fn block_bytes(self) -> u64 {
        self.row().bytes
    }

    /// Bytes in a row with `len` values; `None` if these are not whole blocks, or if a `u64` cannot count the bytes.
    #[must_use]
    pub const fn row_bytes(self, len: u64) -> Option<u64> {
        if !len.is_multiple_of(self.block_len()) {
            return None;
        }
        match (len / self.block_len()).checked_mul(self.block_bytes()) {
            Some(bytes) => bytes.checked_add(self.row().end),
            None => None,
        }
    }

    /// Values in a row of so many bytes: the inverse of [`row_bytes`](Self::row_bytes). A row without values may have no bytes.
    #[cfg(feature = "gpu")]
    pub(crate) fn row_len(self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        let blocks = bytes.checked_sub(self.row().end)?;
        let len = blocks / self.block_bytes() * self.block_len();
        (self.row_bytes(len) == Some(bytes)).then_some(len)
    }

    pub(crate) const fn decode(self) -> Option<Decode> {
        match self {
            // The processor decodes the first ones by itself.
            Self::F16 => Some(|from, _, to| {
                let done = of_f16s(from.as_chunks().0, to.as_chunks_mut().0);
                let rest = Self::F16.row().decode.expect("no other operand");
                rest(&from[2 * done..], 0, &mut to[4 * done..]);
            }),
            _ => self.row().decode,
        }
    }

    /// `Some` if scales and zero points lie in their own operands.
    pub(crate) const fn block_quantized(self) -> Option<BlockQuantized> {
        match self {
            Self::BlockQuantized(quantized) => Some(quantized),
            _ => None,
        }
    }

    /// True if rows hold plain numbers of this type: a gather moves their bits.
    pub(crate) const fn is(self, kind: FloatKind) -> bool {
        matches!(
            (self, kind),
            (Self::F32, FloatKind::F32)
                | (Self::F16, FloatKind::F16)
                | (Self::Bf16, FloatKind::Bf16)
        )
    }

    /// True if the encoding needs `operand`: scales or zero points.
    pub(crate) fn has(self, operand: Operand) -> bool {
        let bytes = self.block_quantized().map(|of| of.row_bytes_of(operand, 0));
        bytes.flatten().is_some()
    }

    /// The parameters that a pipeline depends on.
    #[cfg(feature = "gpu")]
    pub(crate) const fn of_pipeline(self) -> Self {
        match self {
            Self::BlockQuantized(quantized) => Self::BlockQuantized(quantized.of_pipeline()),
            other => other,
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) const fn file(self) -> &'static str {
        self.row().file
    }

    /// The text of `file`, if it is a decoder in shaders/decode/.
    #[cfg(feature = "gpu")]
    pub(crate) fn shader(file: &str) -> Option<&'static str> {
        let quantized = BlockQuantized::new(4, 32).ok().map(Self::BlockQuantized);
        let mut all = Self::ALL.iter().copied().chain(quantized);
        all.find_map(|encoding| (encoding.file() == file).then(|| encoding.row().shader))
    }

    /// True if a part is a whole row of the last dim.
    pub(crate) const fn has_whole_rows(self) -> bool {
        self.row().end > 0 || self.block_quantized().is_some()
    }
}

impl FloatKind {
    /// The encoding of plain numbers of this type.
    pub(crate) const fn encoding(self) -> Encoding {
        match self {
            Self::F32 => Encoding::F32,
            Self::F16 => Encoding::F16,
            Self::Bf16 => Encoding::Bf16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::row::VALUE_BYTES;
    use crate::memory::{address, write_into};

    #[test]
    fn encoded_values_have_no_more_bytes_than_decoded_ones() {
        for &encoding in Encoding::ALL {
            assert!(encoding.block_bytes() <= encoding.block_len() * VALUE_BYTES);
        }
    }

    /// Blocks may start at any byte in params, and values at any byte in the output that `gather_bytes_into` writes.
    #[test]
    fn rows_are_decoded_from_and_to_any_byte() {
        for &encoding in Encoding::ALL {
            let len = encoding.block_len() * 3;
            let bytes = encoding.row_bytes(len).expect("whole blocks");
            let bytes: Vec<u8> = (0..=bytes)
                .map(|n| (n * 37).to_le_bytes()[0] & 0xbf)
                .collect();
            let decode = encoding.decode().expect("no other operand");
            let mut values = vec![0.0_f32; address(len)];
            write_into(&mut values, |to| decode(&bytes[1..], 0, to));
            assert!(values.iter().any(|&value| value != 0.0));
            let mut room = vec![7_u8; values.len() * 4 + 2];
            write_into(&mut room, |to| {
                let end = to.len() - 1;
                decode(&bytes[1..], 0, &mut to[1..end]);
            });
            let expected = values.iter().flat_map(|value| value.to_ne_bytes());
            assert!(
                room[1..room.len() - 1].iter().copied().eq(expected),
                "{encoding}"
            );
            assert_eq!([room[0], room[room.len() - 1]], [7; 2]);
        }
    }
}
