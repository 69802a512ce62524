//! An operation in place of a plan, where the operands' shapes are known.

use std::borrow::Cow;

use super::{Gather, GatherElements, GatherNd, GatherPlan, ScatterRules, With};
use crate::error::PlanError;
use crate::reduce::Reduce;

/// What a request gathers or scatters by: a [`GatherPlan`], by reference or by value; a scatter's [`With`]; or [`Gather`],
/// [`GatherNd`] or [`GatherElements`], which the request plans for its tensors' shapes.
///
/// A request compares the plan's shapes with its tensors' shapes. If the plan is a shard or has a params stride, it compares
/// only how long params is.
///
/// You cannot implement this trait.
pub trait ToPlan<'a>: sealed::Sealed<'a> {}

pub(crate) mod sealed {
    use super::{Cow, GatherPlan, PlanError, ScatterRules};

    pub trait Sealed<'a> {
        fn to_plan(
            self,
            params_shape: &[usize],
            indices_shape: &[usize],
        ) -> Result<Cow<'a, GatherPlan>, PlanError>;

        /// A scatter's promises and options.
        fn rules(&self) -> ScatterRules {
            ScatterRules::default()
        }

        /// True if indices need a shape: one dim could stand for one index row, or for as many as it has values.
        fn needs_index_shape(&self) -> bool {
            false
        }
    }
}

impl<'a> ToPlan<'a> for &'a GatherPlan {}

impl<'a> sealed::Sealed<'a> for &'a GatherPlan {
    fn to_plan(self, _: &[usize], _: &[usize]) -> Result<Cow<'a, GatherPlan>, PlanError> {
        Ok(Cow::Borrowed(self))
    }
}

impl<'a> ToPlan<'a> for GatherPlan {}

impl<'a> sealed::Sealed<'a> for GatherPlan {
    fn to_plan(self, _: &[usize], _: &[usize]) -> Result<Cow<'a, GatherPlan>, PlanError> {
        Ok(Cow::Owned(self))
    }
}

impl<'a> ToPlan<'a> for With<'a, Reduce> {}

impl<'a> sealed::Sealed<'a> for With<'a, Reduce> {
    fn to_plan(self, _: &[usize], _: &[usize]) -> Result<Cow<'a, GatherPlan>, PlanError> {
        Ok(Cow::Borrowed(self.plan))
    }

    fn rules(&self) -> ScatterRules {
        self.rules
    }
}

macro_rules! operation {
    ($($operation:ty, $needs_index_shape:literal;)*) => {$(
        impl<'a> ToPlan<'a> for $operation {}

        impl<'a> sealed::Sealed<'a> for $operation {
            fn to_plan(
                self,
                params_shape: &[usize],
                indices_shape: &[usize],
            ) -> Result<Cow<'a, GatherPlan>, PlanError> {
                self.plan(params_shape, indices_shape).map(Cow::Owned)
            }

            fn needs_index_shape(&self) -> bool {
                $needs_index_shape
            }
        }
    )*};
}

operation! {
    Gather, false;
    GatherNd, true;
    GatherElements, false;
}

#[cfg(test)]
mod tests {
    use super::sealed::Sealed;
    use crate::{Gather, GatherElements, GatherNd};

    #[test]
    fn only_gather_nd_needs_a_shape_of_indices() {
        let plan = GatherNd::new().plan(&[3], &[2, 1]).expect("valid shapes");
        assert!(!plan.needs_index_shape());
        assert!(!Gather::new().needs_index_shape() && !GatherElements::new().needs_index_shape());
        assert!(GatherNd::new().needs_index_shape());
    }
}
