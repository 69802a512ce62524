//! Makes a [`BlockQuantized`]: checks its numbers, and sets its options.

use super::super::float::FloatKind;
use super::BlockQuantized;
use crate::error::PlanError;

impl BlockQuantized {
    /// Unsigned values with `bits` bits, in blocks of `block_len` values, with `f32` scales. Each zero point is the middle of
    /// the range, `1 << (bits - 1)`.
    ///
    /// # Errors
    ///
    /// [`PlanError::QuantizedBits`] if `bits` is not 2, 4 or 8; [`PlanError::QuantizedBlockLen`] if `block_len` is not 16, 32, 64, 128 or 256.
    pub const fn new(bits: u32, block_len: u64) -> Result<Self, PlanError> {
        let bits = match bits {
            2 => 2,
            4 => 4,
            8 => 8,
            found => return Err(PlanError::QuantizedBits { found }),
        };
        let block_len = match block_len {
            16 => 16,
            32 => 32,
            64 => 64,
            128 => 128,
            256 => 256,
            found => return Err(PlanError::QuantizedBlockLen { found }),
        };
        Ok(Self {
            bits,
            block_len,
            scales: FloatKind::F32,
            has_zero_points: false,
            is_signed: false,
            is_zero_point_0: false,
        })
    }

    /// Sets the scales' type.
    #[must_use]
    pub const fn with_scales(mut self, scales: FloatKind) -> Self {
        self.scales = scales;
        self
    }

    /// Makes zero points an operand: one for each scale, with as many bits as a value, and signed if values are.
    #[must_use]
    pub const fn with_zero_points(mut self) -> Self {
        self.has_zero_points = true;
        self
    }

    /// Makes each zero point 0, unless zero points are an operand.
    #[must_use]
    pub const fn with_zero_point_0(mut self) -> Self {
        self.is_zero_point_0 = true;
        self
    }

    /// Makes values and zero points signed, in two's complement. Each zero point is 0, unless zero points are an operand.
    #[must_use]
    pub const fn signed(mut self) -> Self {
        self.is_signed = true;
        self
    }
}
