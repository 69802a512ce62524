//! Gathers from and scatters to ndarray's arrays, on the CPU. An operation has `gather_array`; a plan has `run_array`,
//! `scatter_array` and `scatter_reduce_array`. Views that are not in standard layout are copied first.

use std::borrow::Cow;

use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn};

use crate::error::{PlanError, RunError};
use crate::index::GatherIndex;
use crate::operand::Operand;
use crate::plan::lengths::check_shape;
use crate::plan::{Gather, GatherElements, GatherNd, GatherPlan};
use crate::reduce::{Reduce, ScatterNumber};

impl GatherPlan {
    /// As [`run`](Self::run), but from ndarray's arrays, which must have the plan's shapes. Needs the feature
    /// `ndarray`.
    ///
    /// Pass `&` and any array or view. An array in standard layout (row-major, without gaps) is read in place. Any
    /// other array (transposed, reversed, sliced or broadcast) is first copied whole, in each call. The output is in
    /// standard layout.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), [`RunError::PlanShape`] if an array has another shape, and [`RunError::OutOfMemory`] if there is
    /// no memory to copy an array.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::array;
    /// use wgpu_gather::GatherElements;
    ///
    /// // torch.gather
    /// let plan = GatherElements::new().axis(1).plan(&[2, 3], &[2, 2])?;
    /// let params = array![["a", "b", "c"], ["d", "e", "f"]];
    /// let along = plan.run_array(&params, &array![[0, 0], [1, 0]])?;
    /// assert_eq!(along, array![["a", "a"], ["e", "d"]].into_dyn());
    ///
    /// let error = plan.run_array(&params.t(), &array![[0, 0], [1, 0]]).unwrap_err();
    /// assert_eq!(error.to_string(), "params must have the plan's shape [2,3], found [3,2]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_array<T, I, D1, D2>(
        &self,
        params: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
    ) -> Result<ArrayD<T>, RunError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
    {
        check_shape(Operand::Params, &self.params_shape, params.shape())?;
        check_shape(Operand::Indices, &self.indices_shape, indices.shape())?;
        let params = standard_layout(Operand::Params, params)?;
        let indices = standard_layout(Operand::Indices, indices)?;
        let output = self.run(&params, &indices)?;
        let shape = self.output_shape();
        // With addresses of 32 bits, ndarray's limit is below that of plans.
        Array::from_shape_vec(IxDyn(shape), output).map_err(|_| {
            let too_many = PlanError::TooManyElements {
                operand: Operand::Output,
                shape: shape.to_vec(),
                limit: isize::MAX.unsigned_abs() as u64,
            };
            too_many.into()
        })
    }
}

impl GatherPlan {
    /// As [`scatter`](Self::scatter), but with ndarray's arrays, which must have the plan's shapes. Needs the feature
    /// `ndarray`.
    ///
    /// Updates and indices may have any layout, as in [`run_array`](Self::run_array). The target is written in place, so it must
    /// be in standard layout (row-major, without gaps).
    ///
    /// # Errors
    ///
    /// As [`scatter`](Self::scatter), [`RunError::PlanShape`] if an array has another shape, and [`RunError::TargetLayout`] if the
    /// target has another layout.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::array;
    /// use wgpu_gather::Gather;
    ///
    /// let plan = Gather::new().axis(1).plan(&[2, 3], &[1])?;
    /// let mut target = array![[1, 2, 3], [4, 5, 6]];
    /// plan.scatter_array(&array![[0], [9]], &array![2], &mut target)?;
    /// assert_eq!(target, array![[1, 2, 0], [4, 5, 9]]);
    ///
    /// let mut columns = target.reversed_axes();
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// let error = plan.scatter_array(&array![[0, 0]], &array![2], &mut columns).unwrap_err();
    /// assert_eq!(error.to_string(), "target must be in standard layout, found strides [1,3] for shape [3,2]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scatter_array<T, I, D1, D2, D3>(
        &self,
        updates: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
        target: &mut ArrayRef<T, D3>,
    ) -> Result<(), RunError>
    where
        T: Copy + Send + Sync,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
        D3: Dimension,
    {
        self.scatter_arrays(updates, indices, target, |updates, indices, target| {
            self.scatter(updates, indices, target)
        })
    }

    /// As [`scatter_reduce`](Self::scatter_reduce), but with ndarray's arrays, as [`scatter_array`](Self::scatter_array) takes
    /// them. Needs the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// As [`scatter_array`](Self::scatter_array) and [`scatter_reduce`](Self::scatter_reduce).
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::array;
    /// use wgpu_gather::{GatherElements, Reduce};
    ///
    /// // torch.scatter_add
    /// let plan = GatherElements::new().plan(&[2, 2], &[2, 2])?;
    /// let mut target = array![[1.0, 2.0], [3.0, 4.0]];
    /// let (updates, indices) = (array![[10.0, 20.0], [30.0, 40.0]], array![[0, 1], [0, 0]]);
    /// plan.scatter_reduce_array(Reduce::Add, &updates, &indices, &mut target)?;
    /// assert_eq!(target, array![[41.0, 42.0], [3.0, 24.0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scatter_reduce_array<T, I, D1, D2, D3>(
        &self,
        reduce: Reduce,
        updates: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
        target: &mut ArrayRef<T, D3>,
    ) -> Result<(), RunError>
    where
        T: ScatterNumber,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
        D3: Dimension,
    {
        self.scatter_arrays(updates, indices, target, |updates, indices, target| {
            self.scatter_reduce(reduce, updates, indices, target)
        })
    }

    /// Scatters arrays that have the plan's shapes.
    fn scatter_arrays<T: Copy, I: GatherIndex>(
        &self,
        updates: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
        target: &mut ArrayRef<T, impl Dimension>,
        scatter: impl FnOnce(&[T], &[I], &mut [T]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        self.check_scatter()?;
        // One slice for all index rows may have its dims of 1, or leave them out.
        let longer = |shape: &[usize]| -> Vec<usize> {
            shape.iter().copied().filter(|&dim| dim != 1).collect()
        };
        let shape = self.updates_shape();
        if !self.scatter.one_update || longer(shape) != longer(updates.shape()) {
            check_shape(Operand::Updates, shape, updates.shape())?;
        }
        check_shape(Operand::Indices, &self.indices_shape, indices.shape())?;
        check_shape(Operand::Target, &self.params_shape, target.shape())?;
        if !target.is_standard_layout() {
            return Err(RunError::TargetLayout {
                shape: target.shape().to_vec(),
                strides: target.strides().to_vec(),
            });
        }
        let updates = standard_layout(Operand::Updates, updates)?;
        let indices = standard_layout(Operand::Indices, indices)?;
        scatter(
            &updates,
            &indices,
            target.as_slice_mut().expect("standard layout"),
        )
    }
}

macro_rules! gather_array {
    ($($operation:ty)*) => {$(
        impl $operation {
            /// Plans for the arrays' shapes, and gathers on the CPU, as [`GatherPlan::run_array`] does. Needs the feature `ndarray`.
            ///
            /// # Errors
            ///
            /// [`RunError::Plan`], and as [`GatherPlan::run_array`].
            ///
            /// # Examples
            ///
            /// ```
            /// use ndarray::array;
            /// use wgpu_gather::{Gather, GatherElements, GatherNd};
            ///
            /// let params = array![["a", "b", "c"], ["d", "e", "f"]];
            /// let columns = Gather::new().axis(-1).gather_array(&params, &array![2, 0])?;
            /// assert_eq!(columns, array![["c", "a"], ["f", "d"]].into_dyn());
            /// let single = GatherNd::new().gather_array(&params, &array![[0, 0], [1, 1]])?;
            /// assert_eq!(single, array!["a", "e"].into_dyn());
            /// let along = GatherElements::new().axis(1).gather_array(&params, &array![[0, 0], [1, 0]])?;
            /// assert_eq!(along, array![["a", "a"], ["e", "d"]].into_dyn());
            /// # Ok::<(), wgpu_gather::RunError>(())
            /// ```
            pub fn gather_array<T, I, D1, D2>(
                &self,
                params: &ArrayRef<T, D1>,
                indices: &ArrayRef<I, D2>,
            ) -> Result<ArrayD<T>, RunError>
            where
                T: Copy + Default + Send + Sync,
                I: GatherIndex,
                D1: Dimension,
                D2: Dimension,
            {
                self.plan(params.shape(), indices.shape())?.run_array(params, indices)
            }
        }
    )*};
}

gather_array! { Gather GatherNd GatherElements }

/// The elements in row-major order, copied if need be. A broadcast view may have more elements than fit in memory.
fn standard_layout<T: Copy, D: Dimension>(
    operand: Operand,
    array: &ArrayRef<T, D>,
) -> Result<Cow<'_, [T]>, RunError> {
    if let Some(elements) = array.as_slice() {
        return Ok(Cow::Borrowed(elements));
    }
    let mut elements = operand.vector(array.len() as u64)?;
    elements.extend(array.iter().copied());
    Ok(Cow::Owned(elements))
}
