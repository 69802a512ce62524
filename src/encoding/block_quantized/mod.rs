//! Values in blocks, with scales and zero points in their own operands.

mod builder;

use std::fmt;

use super::float::FloatKind;
use crate::operand::Operand;

/// Describes a table for ONNX Runtime's `com.microsoft.GatherBlockQuantized`, quantised along the last dim: the bits in a
/// value, the values in a block, and how each block stores its scale and zero point.
///
/// ```text
/// value[row][k] = (quantised[row][k] - zero_point[row][k / block_len]) * scale[row][k / block_len]
/// ```
///
/// Values are packed, the first in a byte's low bits. Rows of the last dim must be whole bytes: their length must be even at
/// 4 bits, and a multiple of 4 at 2 bits. A row with `n` values has `ceil(n / block_len)` scales and, if these are an operand,
/// as many zero points, packed like values; each row's start at a byte. A row has the same number in all operands: a
/// gap between params rows is a gap with as many rows in scales and zero points. The `f32` product rounds once.
///
/// | ONNX's `data` | here |
/// |---|---|
/// | `uint8`, 2, 4 or 8 bits | `new(bits, block_len)`: without `zero_points`, the zero point is the middle of the range |
/// | `uint4` | `new(4, block_len)` and [`with_zero_point_0`](Self::with_zero_point_0) |
/// | `int4` | `new(4, block_len)` and [`signed`](Self::signed): the zero point is 0 |
/// | any with `zero_points` | and [`with_zero_points`](Self::with_zero_points) |
///
/// ONNX packs `int4` and `uint4` zero points without gaps between rows; here each row's start at a byte. `gather_axis` is the
/// plan's axis, `block_size` is `block_len` (128 if ONNX's attribute is not given), and `quantize_axis` is the last dim.
///
/// ```
/// use wgpu_gather::{BlockQuantized, Encoded, Encoding, Gather};
///
/// // Two rows of 32 values of 4 bits; in each, two blocks with a scale. The zero point is 8.
/// let table = [[0x98; 16], [0x07; 16]].concat();
/// let scales = [1.0_f32, 2.0, 0.5, 4.0].map(f32::to_le_bytes).concat();
/// let encoding = Encoding::BlockQuantized(BlockQuantized::new(4, 16)?);
/// let table = Encoded::new(encoding, table).scales(scales);
/// let row = Gather::new().plan(&[2, 32], &[1])?.gather_encoded(&table, &[1])?;
/// assert_eq!(row[..2], [-0.5, -4.0]);
/// assert_eq!(row[16..18], [-4.0, -32.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockQuantized {
    bits: u8,
    block_len: u16,
    scales: FloatKind,
    has_zero_points: bool,
    is_signed: bool,
    /// True for zero point 0 if zero points are no operand.
    is_zero_point_0: bool,
}

impl BlockQuantized {
    /// Bits in a value, and in a zero point.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }

    /// Values that share a scale.
    #[must_use]
    pub const fn block_len(self) -> u64 {
        self.block_len as u64
    }

    /// The scales' type.
    #[must_use]
    pub const fn scale_kind(self) -> FloatKind {
        self.scales
    }

    /// Bytes that scales take for a row with `len` values.
    #[must_use]
    pub const fn scale_bytes(self, len: u64) -> u64 {
        len.div_ceil(self.block_len()) * self.scales.bytes()
    }

    /// Bytes that zero points take for a row with `len` values; `None` if they are no operand.
    #[must_use]
    pub const fn zero_point_bytes(self, len: u64) -> Option<u64> {
        match self.has_zero_points {
            true => Some((len.div_ceil(self.block_len()) * self.bits() as u64).div_ceil(8)),
            false => None,
        }
    }

    /// Bytes that scales or zero points take for a row with `len` values; `None` if there is no such operand.
    pub(crate) const fn row_bytes_of(self, operand: Operand, len: u64) -> Option<u64> {
        match operand {
            Operand::Scales => Some(self.scale_bytes(len)),
            Operand::ZeroPoints => self.zero_point_bytes(len),
            _ => None,
        }
    }

    /// The bit to flip so that values and zero points count from the least value: the sign, or none.
    pub(crate) const fn flipped(self) -> u8 {
        match self.is_signed {
            true => 1 << (self.bits - 1),
            false => 0,
        }
    }

    /// The zero point that all blocks share, counted from the least value; `None` if zero points are an operand.
    pub(crate) const fn zero_point(self) -> Option<u8> {
        match (self.has_zero_points, self.is_signed, self.is_zero_point_0) {
            (true, ..) => None,
            (false, false, true) => Some(0),
            // The middle of the range; with a sign, that is 0.
            (false, ..) => Some(1 << (self.bits - 1)),
        }
    }

    /// Only what a pipeline depends on: `bits` and `block_len`.
    #[cfg(feature = "gpu")]
    pub(crate) const fn of_pipeline(self) -> Self {
        Self {
            scales: FloatKind::F32,
            has_zero_points: false,
            is_signed: false,
            is_zero_point_0: false,
            ..self
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
