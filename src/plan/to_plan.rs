//! An operation in place of its plan, where the shapes of the operands are known.

use std::borrow::Cow;

#[cfg(feature = "ndarray")]
use ndarray::{ArrayD, ArrayRef, Dimension};

use super::{Gather, GatherElements, GatherNd, GatherPlan};
use crate::error::PlanError;
#[cfg(feature = "ndarray")]
use crate::error::RunError;
#[cfg(feature = "ndarray")]
use crate::index::GatherIndex;

/// A plan, or an operation that is planned for the shapes of its operands: [`GatherPlan`] by reference or by value,
/// [`Gather`], [`GatherNd`] and [`GatherElements`].
///
/// A request compares the shapes of a plan with those of its tensors.
///
/// No other type can be one.
pub trait ToPlan<'a>: sealed::Sealed<'a> {
    /// Gathers from ndarray's arrays on the CPU, as [`GatherPlan::run`] does from slices. Needs the feature `ndarray`.
    ///
    /// Takes `&` of any array or view. An array in standard layout (row-major, without gaps) is read in place. Any
    /// other array (transposed, reversed, sliced or broadcast) is first copied whole, in each call. The output is in
    /// standard layout.
    ///
    /// # Errors
    ///
    /// The errors of planning and of [`run`](GatherPlan::run); a plan for other shapes; no memory for the copy of a
    /// view.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::array;
    /// use wgpu_gather::{Gather, GatherElements, GatherNd, ToPlan};
    ///
    /// let params = array![["a", "b", "c"], ["d", "e", "f"]];
    /// let columns = Gather::new().axis(-1).gather_array(&params, &array![2, 0])?;
    /// assert_eq!(columns, array![["c", "a"], ["f", "d"]].into_dyn());
    ///
    /// let rows = Gather::new().gather_array(&params.t(), &array![2, 0])?;
    /// assert_eq!(rows, columns.t());
    ///
    /// let single = GatherNd::new().gather_array(&params, &array![[0, 0], [1, 1]])?;
    /// assert_eq!(single, array!["a", "e"].into_dyn());
    ///
    /// // torch.gather. A plan that is used again is taken by reference.
    /// let plan = GatherElements::new().axis(1).plan(&[2, 3], &[2, 2])?;
    /// for _ in 0..2 {
    ///     let along = (&plan).gather_array(&params, &array![[0, 0], [1, 0]])?;
    ///     assert_eq!(along, array![["a", "a"], ["e", "d"]].into_dyn());
    /// }
    /// # Ok::<(), wgpu_gather::RunError>(())
    /// ```
    #[cfg(feature = "ndarray")]
    fn gather_array<T, I, D1, D2>(
        self,
        params: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
    ) -> Result<ArrayD<T>, RunError>
    where
        Self: Sized,
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
    {
        let plan = self.to_plan(params.shape(), indices.shape())?;
        crate::ndarray::run(&plan, params, indices)
    }
}

pub(crate) mod sealed {
    use super::{Cow, GatherPlan, PlanError};

    pub trait Sealed<'a> {
        fn to_plan(
            self,
            params_shape: &[usize],
            indices_shape: &[usize],
        ) -> Result<Cow<'a, GatherPlan>, PlanError>;

        /// True if indices need a shape: one dim could stand for one index row, or for as many as it has values.
        #[cfg(feature = "gpu")]
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

            #[cfg(feature = "gpu")]
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

#[cfg(all(test, feature = "gpu"))]
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
