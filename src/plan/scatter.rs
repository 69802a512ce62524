//! The rules of a scatter, and checks that a scatter through a plan has a meaning.

use super::{GatherPlan, Operation};
use crate::element::ElementTypes;
use crate::error::{PlanError, RunError};
use crate::operand::Operand;
use crate::plan::lengths::check_len;

/// Promises and options of a scatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ScatterRules {
    /// No two index rows of a batch select one row.
    pub(crate) unique: bool,
    /// One slice of updates serves all index rows.
    pub(crate) one_update: bool,
}

impl GatherPlan {
    /// The plan whose output rows are the index rows, and whose params are one element for each row of each batch.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_index_rows(&self) -> Self {
        let mut plan = self.clone();
        (plan.dims.outer_size, plan.dims.slice_len) = (1, 1);
        (plan.dims.params_stride, plan.dims.output_stride) = (1, 0);
        plan
    }

    /// True if no two index rows of a batch select one row, so that the order of updates does not matter.
    #[cfg(feature = "gpu")]
    pub(crate) fn has_unique_rows(&self, rules: ScatterRules) -> bool {
        rules.unique || self.dims().batch_index_rows <= 1
    }

    /// Elements of the updates of a scatter: those of the output, or of one slice.
    pub(crate) fn updates_len(&self, rules: ScatterRules) -> [u64; 2] {
        let dims = self.dims();
        match rules.one_update {
            true => [dims.slice_len; 2],
            false => [dims.output_len(), dims.output_len_with_gap()],
        }
    }

    /// The shape that an array of updates must have: the output's, or one slice's if that serves all index rows.
    #[cfg(feature = "ndarray")]
    pub(crate) fn updates_shape(&self, rules: ScatterRules) -> &[usize] {
        if !rules.one_update {
            return &self.output_shape;
        }
        let (params, rank) = (&self.params_shape[..], self.params_shape.len());
        let first = match self.operation {
            Operation::Gather | Operation::GatherNd => self.axis + self.dims().index_depth(),
            Operation::GatherElements => {
                let is_of_slice = |&dim: &usize| {
                    self.indices_shape[dim] == 1 && self.output_shape[dim] == params[dim]
                };
                rank - (self.axis + 1..rank).rev().take_while(is_of_slice).count()
            }
        };
        &params[first..]
    }

    /// Checks that a scatter through the plan has a meaning: each element of the target has a place of its own in params.
    pub(crate) fn check_scatter(&self) -> Result<(), PlanError> {
        if self.operation != Operation::GatherElements {
            return Ok(());
        }
        let (params, output) = (&self.params_shape[..], &self.output_shape[..]);
        let is_stretched = |&dim: &usize| dim != self.axis && params[dim] == 1 && output[dim] > 1;
        match (0..params.len()).find(is_stretched) {
            None => Ok(()),
            Some(dim) => Err(PlanError::StretchedTarget {
                dim,
                size: output[dim],
            }),
        }
    }

    /// As [`check_scatter`](Self::check_scatter), and checks that the target holds elements.
    pub(crate) fn check_scatter_of(&self, types: ElementTypes) -> Result<(), PlanError> {
        self.check_scatter()?;
        match types.encoding() {
            None => Ok(()),
            Some(encoding) => Err(PlanError::EncodedTarget {
                encoding: encoding.to_string(),
            }),
        }
    }

    /// Checks the lengths of a scatter's operands, in elements.
    pub(crate) fn check_scatter_lengths(
        &self,
        rules: ScatterRules,
        [updates, indices, target]: [usize; 3],
    ) -> Result<(), RunError> {
        let [len, len_with_gap] = self.updates_len(rules);
        check_len(Operand::Updates, len..=len_with_gap, updates)?;
        self.check_indices_length(indices)?;
        let dims = self.dims();
        let target_len = dims.params_len()..=dims.params_len_with_gap();
        check_len(Operand::Target, target_len, target)
    }
}
