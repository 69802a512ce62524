//! Gathers of ndarray's arrays on the CPU: makes a plan for the shapes of two arrays and runs it. Views that are not in
//! standard layout are copied first.

use std::borrow::Cow;

use ndarray::{Array, ArrayD, ArrayRef, Dimension, IxDyn};

use crate::element::GatherIndex;
use crate::error::{ArrayError, Operand};
use crate::plan::Gather;
use crate::plan::GatherElements;
use crate::plan::GatherNd;
use crate::plan::GatherPlan;

impl Gather {
    /// Gathers along an axis of an array, on the CPU: [`plan`](Self::plan) for the arrays' shapes, then
    /// [`run`](GatherPlan::run). Needs the feature `ndarray`.
    ///
    /// Takes `&` of any array or view. An array in standard layout (row-major, without gaps) is read in place. Any
    /// other array (transposed, reversed, sliced or broadcast) is first copied whole, in each call. The output is in
    /// standard layout.
    ///
    /// # Errors
    ///
    /// The errors of [`plan`](Self::plan) and [`run`](GatherPlan::run); no memory for the copy of a view.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::array;
    /// use wgpu_gather::Gather;
    ///
    /// let params = array![["a", "b", "c"], ["d", "e", "f"]];
    /// let columns = Gather::new().axis(-1).gather_array(&params, &array![2, 0])?;
    /// assert_eq!(columns, array![["c", "a"], ["f", "d"]].into_dyn());
    ///
    /// let rows = Gather::new().gather_array(&params.t(), &array![2, 0])?;
    /// assert_eq!(rows, columns.t());
    /// # Ok::<(), wgpu_gather::ArrayError>(())
    /// ```
    pub fn gather_array<T, I, D1, D2>(
        &self,
        params: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
    ) -> Result<ArrayD<T>, ArrayError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
    {
        run(
            &self.plan(params.shape(), indices.shape())?,
            params,
            indices,
        )
    }
}

impl GatherNd {
    /// Gathers slices of an array, on the CPU: [`plan`](Self::plan) for the arrays' shapes, then
    /// [`run`](GatherPlan::run). Needs the feature `ndarray`.
    ///
    /// [`Gather::gather_array`] says which arrays are copied.
    ///
    /// # Errors
    ///
    /// The errors of [`plan`](Self::plan) and [`run`](GatherPlan::run); no memory for the copy of a view.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::{Ix1, array};
    /// use wgpu_gather::GatherNd;
    ///
    /// let params = array![["a", "b"], ["c", "d"]];
    /// let output = GatherNd::new().gather_array(&params, &array![[0, 0], [1, 1]])?;
    /// assert_eq!(output.into_dimensionality::<Ix1>()?, array!["a", "d"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_array<T, I, D1, D2>(
        &self,
        params: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
    ) -> Result<ArrayD<T>, ArrayError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
    {
        run(
            &self.plan(params.shape(), indices.shape())?,
            params,
            indices,
        )
    }
}

impl GatherElements {
    /// Gathers single elements along an axis of an array, on the CPU, as NumPy's `take_along_axis`:
    /// [`plan`](Self::plan) for the arrays' shapes, then [`run`](GatherPlan::run). Needs the feature `ndarray`.
    ///
    /// [`Gather::gather_array`] says which arrays are copied.
    ///
    /// # Errors
    ///
    /// The errors of [`plan`](Self::plan) and [`run`](GatherPlan::run); no memory for the copy of a view.
    ///
    /// # Examples
    ///
    /// ```
    /// use ndarray::array;
    /// use wgpu_gather::GatherElements;
    ///
    /// let params = array![["a", "b"], ["c", "d"]];
    /// let output = GatherElements::new().axis(1).gather_array(&params, &array![[0, 0], [1, 0]])?;
    /// assert_eq!(output, array![["a", "a"], ["d", "c"]].into_dyn());
    /// # Ok::<(), wgpu_gather::ArrayError>(())
    /// ```
    pub fn gather_array<T, I, D1, D2>(
        &self,
        params: &ArrayRef<T, D1>,
        indices: &ArrayRef<I, D2>,
    ) -> Result<ArrayD<T>, ArrayError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
        D1: Dimension,
        D2: Dimension,
    {
        run(
            &self.plan(params.shape(), indices.shape())?,
            params,
            indices,
        )
    }
}

/// Runs `plan` on arrays, which must have its shapes.
fn run<T, I, D1, D2>(
    plan: &GatherPlan,
    params: &ArrayRef<T, D1>,
    indices: &ArrayRef<I, D2>,
) -> Result<ArrayD<T>, ArrayError>
where
    T: Copy + Default + Send + Sync,
    I: GatherIndex,
    D1: Dimension,
    D2: Dimension,
{
    let params = standard_layout(Operand::Params, params)?;
    let indices = standard_layout(Operand::Indices, indices)?;
    let output = plan.run(&params, &indices)?;
    Array::from_shape_vec(IxDyn(plan.output_shape()), output).map_err(ArrayError::Shape)
}

/// The elements in row-major order, copied if need be. A broadcast view may have more elements than fit in memory.
fn standard_layout<T: Copy, D: Dimension>(
    operand: Operand,
    array: &ArrayRef<T, D>,
) -> Result<Cow<'_, [T]>, ArrayError> {
    if let Some(elements) = array.as_slice() {
        return Ok(Cow::Borrowed(elements));
    }
    let mut elements = Vec::new();
    elements
        .try_reserve_exact(array.len())
        .map_err(|_| ArrayError::OutOfMemory {
            operand,
            elements: array.len(),
            element_bytes: size_of::<T>(),
        })?;
    elements.extend(array.iter().copied());
    Ok(Cow::Owned(elements))
}
