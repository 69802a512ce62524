//! Compares operands' lengths and shapes with a plan's.

use std::ops::RangeInclusive;

use super::GatherPlan;
use crate::encoding::{Encoded, Parts, QPARAMS};
use crate::error::RunError;
use crate::operand::Operand;

impl GatherPlan {
    pub(crate) fn check_lengths(&self, params: usize, indices: usize) -> Result<(), RunError> {
        let dims = self.dims();
        let params_len = dims.params_len()..=dims.params_len_with_gap();
        check_len(Operand::Params, params_len, params)?;
        self.check_indices_length(indices)
    }

    pub(crate) fn check_indices_length(&self, indices: usize) -> Result<(), RunError> {
        let indices_len = self.dims().indices_len();
        check_len(Operand::Indices, indices_len..=indices_len, indices)
    }

    /// Checks how many bytes encoded params has. Returns the parts of params.
    pub(crate) fn check_encoded(&self, params: &Encoded<usize>) -> Result<Parts, RunError> {
        let (parts, dims) = (params.encoding.parts(self)?, self.dims());
        params.check(parts, dims.params_len()..=dims.params_len_with_gap())?;
        Ok(parts)
    }

    /// Checks that the plan leaves no gaps in an output that the call makes.
    pub(crate) fn check_new_output(&self) -> Result<(), RunError> {
        let dims = self.dims();
        let (slice_len, stride) = (dims.slice_len, dims.output_stride);
        match dims.output_len() == dims.output_rows() * slice_len {
            true => Ok(()),
            false => Err(RunError::OutputStride { slice_len, stride }),
        }
    }

    pub(crate) fn check_output_length(&self, output: usize) -> Result<(), RunError> {
        let dims = self.dims();
        let output_len = dims.output_len()..=dims.output_len_with_gap();
        check_len(Operand::Output, output_len, output)
    }
}

impl Encoded<usize> {
    /// Checks how many bytes rows with so many values have, and their scales and zero points. If the encoding keeps scales and
    /// zero points in their own operands, the caller must give those that have bytes; else none.
    pub(crate) fn check(&self, parts: Parts, len: RangeInclusive<u64>) -> Result<(), RunError> {
        let check = |operand, parts: Parts, found| {
            let expected = parts.bytes_of(*len.start())..=parts.bytes_of(*len.end());
            check_byte_len(operand, expected, found)
        };
        check(Operand::Params, parts, self.rows)?;
        for (operand, found) in QPARAMS.into_iter().zip(self.qparams) {
            let qparam = parts.of_qparam(Some(self.encoding), operand);
            match found {
                Some(_) if !self.encoding.has(operand) => {
                    return Err(RunError::UnexpectedOperand { operand });
                }
                None if qparam.bytes_of(*len.start()) > 0 => {
                    return Err(RunError::MissingOperand { operand });
                }
                found => check(operand, qparam, found.unwrap_or(0))?,
            }
        }
        Ok(())
    }
}

/// Checks an operand's length. It may end with the gap after its last row.
pub(crate) fn check_len(
    operand: Operand,
    expected: RangeInclusive<u64>,
    found: usize,
) -> Result<(), RunError> {
    match expected.contains(&(found as u64)) {
        true => Ok(()),
        false => Err(RunError::Length {
            operand,
            expected,
            found,
        }),
    }
}

/// As [`check_len`], for lengths in bytes.
pub(crate) fn check_byte_len(
    operand: Operand,
    expected: RangeInclusive<u64>,
    found: usize,
) -> Result<(), RunError> {
    match expected.contains(&(found as u64)) {
        true => Ok(()),
        false => Err(RunError::ByteLength {
            operand,
            expected,
            found,
        }),
    }
}

/// The bytes that `elements` elements have, each `width` bytes; an error above `i64::MAX`.
pub(crate) fn byte_len(operand: Operand, elements: u64, width: u64) -> Result<u64, RunError> {
    let bytes = elements
        .checked_mul(width)
        .filter(|&bytes| bytes <= i64::MAX.unsigned_abs());
    bytes.ok_or_else(|| RunError::OutOfMemory {
        operand,
        elements,
        element_bytes: usize::try_from(width).unwrap_or(usize::MAX),
    })
}

/// Checks that `found` bytes are `len` elements, or up to `len_with_gap`.
pub(crate) fn check_bytes(
    operand: Operand,
    [len, len_with_gap]: [u64; 2],
    width: u64,
    found: usize,
) -> Result<(), RunError> {
    let bytes = byte_len(operand, len, width)?;
    let with_gap = len_with_gap.saturating_mul(width);
    check_byte_len(operand, bytes..=with_gap, found)
}

/// Checks an operand's shape, if it has one.
#[cfg(any(feature = "gpu", feature = "ndarray"))]
pub(crate) fn check_shape(
    operand: Operand,
    expected: &[usize],
    found: &[usize],
) -> Result<(), RunError> {
    match expected == found {
        true => Ok(()),
        false => Err(RunError::PlanShape {
            operand,
            expected: expected.to_vec(),
            found: found.to_vec(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::error::RunError;
    use crate::operand::Operand;
    use crate::{Encoded, Encoding, Gather};

    #[test]
    fn encoded_params_have_the_bytes_of_their_blocks() {
        let plan = Gather::new().plan(&[2, 32], &[3]).expect("valid shapes");
        let checked = |params| {
            let checked = plan.check_encoded(&Encoded::new(Encoding::Q4_0, params));
            checked.map(|parts| (parts.len, parts.bytes))
        };
        assert_eq!(checked(36), Ok((32, 18)));
        let (operand, expected, found) = (Operand::Params, 36..=36, 35);
        let bytes = RunError::ByteLength {
            operand,
            expected,
            found,
        };
        assert_eq!(checked(35), Err(bytes));
    }
}
