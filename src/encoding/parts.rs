//! The parts of params that a gather never cuts, and their checks.

use super::Encoding;
use crate::error::PlanError;
use crate::operand::Operand;
use crate::plan::{GatherPlan, Operation};

/// The parts of params, one after another, that a gather never cuts: each is `len` values in `bytes` bytes. A part is an element.
/// If params is encoded, it is a block or, where scales lie outside blocks, a whole row of the last dim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// At least 1.
    pub(crate) len: u64,
    pub(crate) bytes: u64,
}

impl Parts {
    /// Parts that are elements of `bytes` bytes.
    pub(crate) const fn elements(bytes: u64) -> Self {
        Self { len: 1, bytes }
    }

    /// Bytes in the whole parts among `len` values; `u64::MAX` if a `u64` cannot count them.
    pub(crate) const fn bytes_of(self, len: u64) -> u64 {
        (len / self.len).saturating_mul(self.bytes)
    }

    /// The parts of a *qparam*, scales or zero points: one for each part of params.
    pub(crate) fn of_qparam(self, encoding: Option<Encoding>, operand: Operand) -> Self {
        let quantized = encoding.and_then(Encoding::block_quantized);
        let bytes = quantized.and_then(|of| of.row_bytes_of(operand, self.len));
        Self {
            bytes: bytes.unwrap_or(0),
            ..self
        }
    }
}

impl Encoding {
    /// The parts of params for this last dim, which must be whole blocks.
    pub(crate) fn parts_of(self, last_dim: u64) -> Result<Parts, PlanError> {
        let block = Parts {
            len: self.block_len(),
            bytes: self.block_bytes(),
        };
        self.check_whole("the last dim of params", block, last_dim)?;
        Ok(match self.has_whole_rows() && last_dim > 0 {
            true => Parts {
                len: last_dim,
                bytes: self.row_bytes(last_dim).unwrap_or(u64::MAX),
            },
            false => block,
        })
    }

    /// The parts of a plan's params. Checks that the plan cuts none: its slices and its params stride must be whole parts.
    pub(crate) fn parts(self, plan: &GatherPlan) -> Result<Parts, PlanError> {
        let dims = plan.dims();
        if plan.operation == Operation::GatherElements {
            return Err(PlanError::EncodedElements {
                encoding: self.to_string(),
                block_len: self.block_len(),
                found: dims.slice_len,
            });
        }
        let parts = self.parts_of(plan.params_shape.last().map_or(1, |&dim| dim as u64))?;
        self.check_whole("slices", parts, dims.slice_len)?;
        self.check_whole("the params stride", parts, dims.params_stride)?;
        Ok(parts)
    }

    fn check_whole(self, part: &'static str, of: Parts, found: u64) -> Result<(), PlanError> {
        match found.is_multiple_of(of.len) {
            true => Ok(()),
            false => Err(PlanError::CutBlock {
                part,
                encoding: self.to_string(),
                block_len: of.len,
                found,
            }),
        }
    }
}
