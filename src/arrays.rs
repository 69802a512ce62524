//! Gathers from and scatters to ndarray's arrays, on the CPU. Views that are not in standard layout are copied first.

use std::borrow::Cow;

use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn};

use crate::error::{PlanError, RunError};
use crate::index::Index;
use crate::operand::Operand;
use crate::plan::lengths::check_shape;
use crate::plan::{GatherPlan, With};
use crate::reduce::{Number, Reduce};

impl GatherPlan {
    /// As [`gather`](Self::gather), but from ndarray's arrays, which must have the plan's shapes. If the plan is a shard or has a
    /// params stride, only the length of params is compared. Needs the feature `ndarray`.
    ///
    /// Pass `&` and any array or view. An array in standard layout (row-major, without gaps) is read in place. Any
    /// other array (transposed, reversed, sliced or broadcast) is first copied whole, in each call. The output is in
    /// standard layout. For an `Executor`, upload the slice of an array in standard layout, with its shape.
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather), [`RunError::PlanShape`] if an array has another shape, and [`RunError::OutOfMemory`] if there is
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
    /// let along = plan.gather_array(&params, &array![[0, 0], [1, 0]])?;
    /// assert_eq!(along, array![["a", "a"], ["e", "d"]].into_dyn());
    ///
    /// let error = plan.gather_array(&params.t(), &array![[0, 0], [1, 0]]).unwrap_err();
    /// assert_eq!(error.to_string(), "params must have the plan's shape [2,3], found [3,2]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_array<T: Copy + Default + Send + Sync, I: Index>(
        &self,
        params: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
    ) -> Result<ArrayD<T>, RunError> {
        self.fill(T::default()).gather_array(params, indices)
    }

    /// As [`scatter`](Self::scatter), but with ndarray's arrays, which must have the plan's shapes. If the plan is a shard or has a
    /// params stride, only the length of the target is compared. Needs the feature `ndarray`.
    ///
    /// Updates and indices may have any layout, as in [`gather_array`](Self::gather_array). The target is written in place, so it must
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
    pub fn scatter_array<T: Copy + Send + Sync, I: Index>(
        &self,
        updates: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
        target: &mut ArrayRef<T, impl Dimension>,
    ) -> Result<(), RunError> {
        With::from(self).scatter_array(updates, indices, target)
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
    pub fn scatter_reduce_array<T: Number, I: Index>(
        &self,
        reduce: Reduce,
        updates: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
        target: &mut ArrayRef<T, impl Dimension>,
    ) -> Result<(), RunError> {
        With::from(self).scatter_reduce_array(reduce, updates, indices, target)
    }
}

impl<T: Copy + Default + Send + Sync> With<'_, T> {
    /// As [`GatherPlan::gather_array`], with the fill in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::gather_array`].
    pub fn gather_array<I: Index>(
        &self,
        params: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
    ) -> Result<ArrayD<T>, RunError> {
        check_table(Operand::Params, self.plan, params.shape())?;
        check_shape(Operand::Indices, &self.plan.indices_shape, indices.shape())?;
        let params = standard_layout(Operand::Params, params)?;
        let indices = standard_layout(Operand::Indices, indices)?;
        let output = self.gather(&params, &indices)?;
        let shape = self.plan.output_shape();
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

impl With<'_, Reduce> {
    /// As [`GatherPlan::scatter_array`], with these options. One slice of updates for all index rows may have its dims of 1, or
    /// leave them out.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::scatter_array`].
    pub fn scatter_array<T: Copy + Send + Sync, I: Index>(
        self,
        updates: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
        target: &mut ArrayRef<T, impl Dimension>,
    ) -> Result<(), RunError> {
        self.scatter_arrays(updates, indices, target, |updates, indices, target| {
            self.scatter(updates, indices, target)
        })
    }

    /// As [`GatherPlan::scatter_reduce_array`], with these options.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::scatter_reduce_array`].
    pub fn scatter_reduce_array<T: Number, I: Index>(
        self,
        reduce: Reduce,
        updates: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
        target: &mut ArrayRef<T, impl Dimension>,
    ) -> Result<(), RunError> {
        self.scatter_arrays(updates, indices, target, |updates, indices, target| {
            self.scatter_reduce(reduce, updates, indices, target)
        })
    }

    /// Scatters arrays that have the plan's shapes.
    fn scatter_arrays<T: Copy, I: Index>(
        self,
        updates: &ArrayRef<T, impl Dimension>,
        indices: &ArrayRef<I, impl Dimension>,
        target: &mut ArrayRef<T, impl Dimension>,
        scatter: impl FnOnce(&[T], &[I], &mut [T]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let (plan, rules) = (self.plan, self.rules);
        plan.check_scatter()?;
        // One slice for all index rows may have its dims of 1, or leave them out.
        let longer = |shape: &[usize]| -> Vec<usize> {
            shape.iter().copied().filter(|&dim| dim != 1).collect()
        };
        let shape = plan.updates_shape(rules);
        if !rules.one_update || longer(shape) != longer(updates.shape()) {
            check_shape(Operand::Updates, shape, updates.shape())?;
        }
        check_shape(Operand::Indices, &plan.indices_shape, indices.shape())?;
        check_table(Operand::Target, plan, target.shape())?;
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

/// Checks the shape of params or a target, unless it is a shard or has gaps between rows: then only its length is checked.
fn check_table(operand: Operand, plan: &GatherPlan, found: &[usize]) -> Result<(), RunError> {
    match plan.dims().params_are_whole() {
        true => check_shape(operand, &plan.params_shape, found),
        false => Ok(()),
    }
}

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
