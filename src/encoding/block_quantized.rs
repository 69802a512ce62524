//! Values in blocks, with scales and zero points that lie in operands of their own.

use std::fmt;

#[cfg(doc)]
use super::Encoding;
use super::error::BlockError;
use super::row::{Row, row};
use crate::operand::Operand;

/// The numbers of a table of ONNX Runtime's `com.microsoft.GatherBlockQuantized`, quantised along the last dim: the width of
/// its values, the length of its blocks, and the types of what each block has of its own.
///
/// ```text
/// value[row][k] = (quantised[row][k] - zero_point[row][k / block_len]) * scale[row][k / block_len]
/// ```
///
/// Quantised values are packed, the first of a byte in its low bits. A row of the last dim is whole bytes: a table whose row
/// ends within a byte is refused, with an odd length at 4 bits, and one that 4 does not divide at 2 bits. A row of
/// `n` values has `ceil(n / block_len)` scales, and as many zero points if these are an operand, packed like the values from a
/// byte on. A zero point, or a scale, is at the place in its operand that the row has in params, so gaps after rows of params
/// are followed by gaps of as many rows there. The product is of `f32`s, and rounds once.
///
/// | ONNX's `data` | here |
/// |---|---|
/// | `uint8`, 2, 4 or 8 bits | `new(bits, block_len)`: without `zero_points`, the zero point is the middle of the range |
/// | `uint4` | `new(4, block_len)` and [`with_zero_point_0`](Self::with_zero_point_0) |
/// | `int4` | `new(4, block_len)` and [`signed`](Self::signed): the zero point is 0 |
/// | each of these with `zero_points` | and [`with_zero_points`](Self::with_zero_points) |
///
/// ONNX packs `int4` and `uint4` zero points of all rows without a gap; here those of a row start at a byte. `gather_axis` is
/// the axis of the plan, `block_size` is `block_len` (128 if ONNX's attribute is not given), and `quantize_axis` is the last dim.
///
/// ```
/// use wgpu_gather::{BlockQuantized, Encoded, Encoding, Gather};
///
/// // Two rows of 32 values of 4 bits; in each, two blocks with a scale. The zero point is 8.
/// let table = [[0x98; 16], [0x07; 16]].concat();
/// let scales = [1.0_f32, 2.0, 0.5, 4.0].map(f32::to_le_bytes).concat();
/// let encoding = Encoding::BlockQuantized(BlockQuantized::new(4, 16)?);
/// let table = Encoded::new(encoding, table).scales(scales);
/// let row = Gather::new().plan(&[2, 32], &[1])?.run_decoded(&table, &[1])?;
/// assert_eq!(row[..2], [-0.5, -4.0]);
/// assert_eq!(row[16..18], [-4.0, -32.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockQuantized {
    bits: u8,
    block_len: u16,
    scales: ScaleKind,
    has_zero_points: bool,
    is_signed: bool,
    /// True if blocks without zero points have 0.
    is_zero_point_0: bool,
}

/// The element type of the scales of quantised values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ScaleKind {
    /// `f32`.
    #[default]
    F32,
    /// IEEE half floats.
    F16,
    /// The high halves of `f32`s.
    Bf16,
}

impl ScaleKind {
    /// All types of scales.
    pub const ALL: &[Self] = &[Self::F32, Self::F16, Self::Bf16];

    /// Bytes of a scale.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }
}

impl BlockQuantized {
    /// Values of `bits` bits, without a sign, in blocks of `block_len` values, with scales of `f32`. The zero point of all
    /// blocks is the middle of the range, `1 << (bits - 1)`.
    ///
    /// # Errors
    ///
    /// [`BlockError::Bits`] for other bits than 2, 4 or 8; [`BlockError::BlockLen`] for another length than 16, 32, 64, 128 or
    /// 256.
    pub const fn new(bits: u32, block_len: u64) -> Result<Self, BlockError> {
        let bits = match bits {
            2 => 2,
            4 => 4,
            8 => 8,
            found => return Err(BlockError::Bits { found }),
        };
        let block_len = match block_len {
            16 => 16,
            32 => 32,
            64 => 64,
            128 => 128,
            256 => 256,
            found => return Err(BlockError::BlockLen { found }),
        };
        Ok(Self {
            bits,
            block_len,
            scales: ScaleKind::F32,
            has_zero_points: false,
            is_signed: false,
            is_zero_point_0: false,
        })
    }

    /// Scales of this type.
    #[must_use]
    pub const fn with_scales(mut self, scales: ScaleKind) -> Self {
        self.scales = scales;
        self
    }

    /// Zero points are an operand: one for each scale, of as many bits as a value and with a sign if values have one.
    #[must_use]
    pub const fn with_zero_points(mut self) -> Self {
        self.has_zero_points = true;
        self
    }

    /// The zero point of all blocks is 0, unless zero points are an operand.
    #[must_use]
    pub const fn with_zero_point_0(mut self) -> Self {
        self.is_zero_point_0 = true;
        self
    }

    /// Values, and zero points, have a sign: they are in two's complement. The zero point of all blocks is 0, unless zero
    /// points are an operand.
    #[must_use]
    pub const fn signed(mut self) -> Self {
        self.is_signed = true;
        self
    }

    /// Bits of a value, and of a zero point.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// Values of a block with a scale of its own.
    #[must_use]
    pub const fn block_len(self) -> u64 {
        self.block_len as u64
    }

    /// The type of scales.
    #[must_use]
    pub const fn scale_kind(self) -> ScaleKind {
        self.scales
    }

    /// Bytes of the scales of a row of `len` values.
    #[must_use]
    pub const fn scale_bytes(self, len: u64) -> u64 {
        len.div_ceil(self.block_len()) * self.scales.bytes()
    }

    /// Bytes of the zero points of a row of `len` values; `None` if zero points are no operand.
    #[must_use]
    pub const fn zero_point_bytes(self, len: u64) -> Option<u64> {
        match self.has_zero_points {
            true => Some((len.div_ceil(self.block_len()) * self.bits() as u64).div_ceil(8)),
            false => None,
        }
    }

    /// Bytes of scales, or of zero points, for a row of `len` values; `None` if there is no such operand.
    pub(crate) const fn row_bytes_of(self, operand: Operand, len: u64) -> Option<u64> {
        match operand {
            Operand::Scales => Some(self.scale_bytes(len)),
            Operand::ZeroPoints => self.zero_point_bytes(len),
            _ => None,
        }
    }

    /// The bit that is flipped in values and zero points to count them from the least: the sign, or none.
    pub(crate) const fn flipped(self) -> u8 {
        match self.is_signed {
            true => 1 << (self.bits - 1),
            false => 0,
        }
    }

    /// The zero point of all blocks, counted from the least value; `None` if zero points are an operand.
    pub(crate) const fn zero_point(self) -> Option<u8> {
        match (self.has_zero_points, self.is_signed, self.is_zero_point_0) {
            (true, ..) => None,
            (false, false, true) => Some(0),
            // The middle of the range; with a sign, that is 0.
            (false, ..) => Some(1 << (self.bits - 1)),
        }
    }

    /// The parts that a pipeline depends on: the bits and the length of a block.
    #[cfg(feature = "gpu")]
    pub(crate) const fn of_pipeline(self) -> Self {
        Self {
            scales: ScaleKind::F32,
            has_zero_points: false,
            is_signed: false,
            is_zero_point_0: false,
            ..self
        }
    }

    pub(super) const fn row(self) -> &'static Row {
        match self.bits {
            2 => row!(4, 1, 0, block_quantized, None),
            4 => row!(2, 1, 0, block_quantized, None),
            _ => row!(1, 1, 0, block_quantized, None),
        }
    }
}

/// For instance "values of 4 bits in blocks of 32".
impl fmt::Display for BlockQuantized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            bits, block_len, ..
        } = self;
        write!(f, "values of {bits} bits in blocks of {block_len}")
    }
}
