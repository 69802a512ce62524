//! A plan with its operands' types, and how many bytes they have. The GPU path depends on nothing else about the types.

use super::update::{Scatter, Update};
use crate::element::ElementTypes;
use crate::encoding::{Parts, QPARAMS};
use crate::error::GatherError;
use crate::operand::Operand;
use crate::plan::GatherPlan;

/// A plan with its operands' types, and what follows from both, worked out once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypedPlan<'a> {
    pub(crate) plan: &'a GatherPlan,
    pub(crate) types: ElementTypes,
    /// The parts of params that no gather cuts: elements, or the encoding's parts.
    pub(crate) parts: Parts,
    /// The parts of scales and zero points, one for each part of params; without bytes if the types have none.
    pub(crate) qparam_parts: [Parts; 2],
    pub(crate) bytes: OperandBytes,
    /// The kind of update, if this is a scatter; `None` for a gather.
    pub(crate) update: Option<Update>,
}

impl<'a> TypedPlan<'a> {
    /// Types the plan of a scatter, made by [`With::of_updates`](crate::With::of_updates). An error if the CPU or a GPU cannot
    /// scatter through it.
    pub(crate) fn of_updates(
        plan: &'a GatherPlan,
        types: ElementTypes,
        scatter: Scatter,
    ) -> Result<Self, GatherError> {
        plan.check_scatter_of(types)?;
        let update = Update::of(plan, scatter)?;
        if let Some((_, kind)) = scatter.reduction
            && types.element_bytes != kind.gpu_bytes()
        {
            return Err(GatherError::NumberBytes {
                number: kind.name(),
                element_bytes: types.element_bytes,
            });
        }
        Self::of_scatter(plan, types, update)
    }

    /// A scatter to elements, with the plan's [`With::of_updates`](crate::With::of_updates).
    pub(crate) fn of_scatter(
        plan: &'a GatherPlan,
        types: ElementTypes,
        update: Update,
    ) -> Result<Self, GatherError> {
        Self::of(plan, types, Some(update))
    }

    /// Checks that the plan cuts no part, and that each operand has at most `i64::MAX` bytes.
    pub(crate) fn new(plan: &'a GatherPlan, types: ElementTypes) -> Result<Self, GatherError> {
        Self::of(plan, types, None)
    }

    fn of(
        plan: &'a GatherPlan,
        types: ElementTypes,
        update: Option<Update>,
    ) -> Result<Self, GatherError> {
        if types.element_bytes == 0 {
            return Err(GatherError::ZeroSizedElement);
        }
        let dims = plan.dims();
        let parts = match types.encoding() {
            Some(encoding) => encoding.parts(plan)?,
            None => Parts::elements(types.element_bytes),
        };
        let qparam_parts = QPARAMS.map(|operand| parts.of_qparam(types.encoding(), operand));
        let bytes = |operand, elements: u64, element_bytes| {
            elements
                .checked_mul(element_bytes)
                .filter(|&bytes| bytes <= i64::MAX.unsigned_abs())
                .ok_or(GatherError::TooManyBytes {
                    operand: named(operand, update.is_some()),
                    elements,
                    element_bytes,
                })
        };
        let index_bytes = types.index_kind.bytes();
        let count = dims.params_len() / parts.len;
        let [scales, zero_points] =
            [0, 1].map(|at| bytes(QPARAMS[at], count, qparam_parts[at].bytes));
        let bytes = OperandBytes {
            params: bytes(Operand::Params, count, parts.bytes)?,
            qparams: [scales?, zero_points?],
            indices: bytes(Operand::Indices, dims.indices_len(), index_bytes)?,
            output: bytes(Operand::Output, dims.output_len(), types.element_bytes)?,
        };
        Ok(Self {
            plan,
            types,
            parts,
            qparam_parts,
            bytes,
            update,
        })
    }

    /// True if neither the target nor the updates of a scatter are empty.
    pub(crate) const fn has_updates(&self) -> bool {
        self.bytes.params > 0 && self.bytes.output > 0
    }

    /// The plan of a scatter's index rows.
    pub(crate) fn index_rows(&self) -> Option<GatherPlan> {
        self.update.map(|_| self.plan.of_index_rows())
    }

    /// The name of an operand: a scatter calls params the target, and the output updates.
    pub(crate) const fn named(&self, operand: Operand) -> Operand {
        named(operand, self.update.is_some())
    }
}

/// The name of an operand in a gather or a scatter.
pub(crate) const fn named(operand: Operand, is_scatter: bool) -> Operand {
    match is_scatter {
        true => operand.of_scatter(),
        false => operand,
    }
}

/// How many bytes each operand has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperandBytes {
    pub(crate) params: u64,
    pub(crate) indices: u64,
    pub(crate) output: u64,
    /// Scales, and zero points; 0 if the types have none.
    pub(crate) qparams: [u64; 2],
}

/// The bytes in a word. Storage bindings are whole words.
pub(crate) const WORD_BYTES: u32 = 4;

/// The bytes in an operand's range: the operand's own, rounded up to whole words.
pub(crate) const fn range_bytes(operand_bytes: u64) -> u64 {
    operand_bytes.next_multiple_of(WORD_BYTES as u64)
}

/// A number's low and high word.
pub(crate) fn low_and_high(number: u64) -> [u32; 2] {
    [number & u64::from(u32::MAX), number >> u32::BITS]
        .map(|word| u32::try_from(word).expect("a word has 32 bits"))
}

/// A size within one dispatch as a word. A binding has fewer than 2^32 bytes, so it fits.
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
            let typed = TypedPlan::new(&plan, types);
            typed.expect_err("too many").to_string()
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
