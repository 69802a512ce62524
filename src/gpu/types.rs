//! The bytes of a gather's operands. The GPU path depends on no other property of their types.

use crate::element::ElementTypes;
use crate::encoding::QPARAMS;
use crate::error::{GatherError, RunError};
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_byte_len;

impl ElementTypes {
    /// The bytes of each operand of a plan, each at most `i64::MAX`.
    pub(crate) fn operand_bytes(self, plan: &GatherPlan) -> Result<OperandBytes, GatherError> {
        if self.element_bytes == 0 {
            return Err(GatherError::ZeroSizedElement);
        }
        let (dims, parts) = (plan.dims(), self.parts(plan)?);
        let bytes = |operand, elements: u64, element_bytes| {
            elements
                .checked_mul(element_bytes)
                .filter(|&bytes| bytes <= i64::MAX.unsigned_abs())
                .ok_or(GatherError::TooManyBytes {
                    operand,
                    elements,
                    element_bytes,
                })
        };
        let index_bytes = self.index_kind.bytes();
        let count = dims.params_len() / parts.len;
        let [scales, zero_points] = QPARAMS.map(|operand| {
            let row_bytes = parts.of_qparam(self.encoding, operand).bytes;
            bytes(operand, count, row_bytes)
        });
        Ok(OperandBytes {
            params: bytes(Operand::Params, count, parts.bytes)?,
            qparams: [scales?, zero_points?],
            indices: bytes(Operand::Indices, dims.indices_len(), index_bytes)?,
            output: bytes(Operand::Output, dims.output_len(), self.element_bytes)?,
            params_with_gap: parts.bytes_of(dims.params_len_with_gap()),
            output_with_gap: dims
                .output_len_with_gap()
                .saturating_mul(self.element_bytes),
        })
    }
}

/// The bytes of each operand of a gather.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperandBytes {
    pub(crate) params: u64,
    pub(crate) indices: u64,
    pub(crate) output: u64,
    /// Of scales and of zero points; 0 if the types have none.
    pub(crate) qparams: [u64; 2],
    /// With the gap after the last row.
    params_with_gap: u64,
    output_with_gap: u64,
}

impl OperandBytes {
    /// Checks the lengths of params and indices in bytes.
    pub(crate) fn check_lengths(&self, params: usize, indices: usize) -> Result<(), RunError> {
        check_byte_len(Operand::Params, self.params..=self.params_with_gap, params)?;
        check_byte_len(Operand::Indices, self.indices..=self.indices, indices)
    }

    /// Checks the length of the output in bytes.
    pub(crate) fn check_output_length(&self, output: usize) -> Result<(), RunError> {
        check_byte_len(Operand::Output, self.output..=self.output_with_gap, output)
    }
}

/// Bytes of a word. Storage bindings are whole words.
pub(crate) const WORD_BYTES: u32 = 4;

/// The bytes of an operand's range: the operand's bytes, rounded up to whole words.
pub(crate) const fn range_bytes(operand_bytes: u64) -> u64 {
    operand_bytes.next_multiple_of(WORD_BYTES as u64)
}

/// The low and the high word of a number.
pub(crate) fn low_and_high(number: u64) -> [u32; 2] {
    [number & u64::from(u32::MAX), number >> u32::BITS]
        .map(|word| u32::try_from(word).expect("a word has 32 bits"))
}

/// A size within one dispatch as a word. The bytes of a binding are fewer than 2^32, so every size within them fits.
pub(crate) fn size(size: u64) -> u32 {
    u32::try_from(size).expect("a size within one dispatch has 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gather, IndexKind};

    #[test]
    fn bytes_that_cannot_be_counted_are_refused() {
        let refused = |params_shape: &[usize], indices_shape: &[usize], element_bytes| {
            let plan = Gather::new().plan(params_shape, indices_shape);
            let plan = plan.expect("a valid shape");
            let types = ElementTypes::new(element_bytes, IndexKind::I32);
            let bytes = types.operand_bytes(&plan);
            bytes.expect_err("too many").to_string()
        };
        let most = "must have at most 9223372036854775807 bytes, found";
        assert_eq!(
            refused(&[1 << 62], &[1], 4),
            format!("params {most} 4611686018427387904 elements of 4 bytes")
        );
        assert_eq!(
            refused(&[2], &[1 << 62], 1),
            format!("indices {most} 4611686018427387904 elements of 4 bytes")
        );
        assert_eq!(
            refused(&[2, 1 << 40], &[1 << 20], 16),
            format!("output {most} 1152921504606846976 elements of 16 bytes")
        );
    }

    #[test]
    fn a_number_is_its_words() {
        assert_eq!(low_and_high(5 * (1 << 30) + 3), [(1 << 30) + 3, 1]);
    }
}
