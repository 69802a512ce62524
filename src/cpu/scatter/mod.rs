//! Scatters on the CPU, through the plan of a gather. The public functions here check lengths.

mod halves;
mod often;
mod rows;
mod run;
#[cfg(test)]
mod tests;
mod update;

use crate::element::ElementTypes;
use crate::error::RunError;
use crate::index::{Index, IndexValues};
use crate::memory;
use crate::operand::Operand;
use crate::plan::lengths::check_bytes;
use crate::plan::{GatherPlan, With};
use crate::reduce::{Number, Reduce};

use super::bytes::with_values;
use run::scatter;
use update::{Assign, Reduced};

impl GatherPlan {
    /// Scatters on the CPU: the inverse of [`gather`](Self::gather). It writes each slice of `updates` to the row of `target` that
    /// its index row selects; all other rows keep their values.
    ///
    /// ```text
    /// gather    output[b][o][n][s] = params[b][o][ row(b, n) ][s]
    /// scatter   target[b][o][ row(b, n) ][s] = updates[b][o][n][s]        for each n in order
    /// ```
    ///
    /// `target` has the shape of the plan's params, and `updates` has the output's; both may have a stride, as in a gather. If
    /// several index rows select one row, the last one wins, for any number of threads. Elements may be of any `Copy` type and
    /// keep their bits, even those of a NaN.
    ///
    /// Under the policies [`DeviceDefault`](crate::BadIndices::DeviceDefault) and [`Error`](crate::BadIndices::Error), a bad
    /// row is an error and nothing is written. [`Fill`](crate::BadIndices::Fill) drops the update;
    /// [`Clamp`](crate::BadIndices::Clamp) and [`Wrap`](crate::BadIndices::Wrap) select a row as in a gather.
    ///
    /// It covers TensorFlow's `tensor_scatter_nd_update`, PyTorch's `scatter` and `index_copy`, NumPy's `put_along_axis` and
    /// `a[i] = v`, and ONNX's `ScatterND` and `ScatterElements`.
    ///
    /// # Errors
    ///
    /// An operand whose length is not the plan's; a bad row; a plan that cannot scatter, because broadcasting
    /// stretches the target ([`PlanError::StretchedTarget`](crate::PlanError::StretchedTarget)). A failed call writes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather, GatherNd};
    ///
    /// // Rows 2 and 0 of a table of 3 rows of 2.
    /// let plan = Gather::new().plan(&[3, 2], &[2])?;
    /// let mut table = [0, 1, 10, 11, 20, 21];
    /// plan.scatter(&[7, 8, 9, 9], &[2, 0], &mut table)?;
    /// assert_eq!(table, [9, 9, 10, 11, 7, 8]);
    ///
    /// let plan = GatherNd::new().plan(&[2, 2], &[1, 2])?;
    /// let mut names = ["a", "b", "c", "d"];
    /// let bad = plan.scatter(&["e"], &[1, 2], &mut names).unwrap_err();
    /// assert_eq!(bad.to_string(), "indices[0] = [1, 2] does not index into shape [2,2]");
    /// assert_eq!(names, ["a", "b", "c", "d"]);
    ///
    /// // A slot of -1 is dropped.
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[2], &[3])?;
    /// let mut slots = [0, 0];
    /// plan.scatter(&[1, 2, 3], &[1, -1, 0], &mut slots)?;
    /// assert_eq!(slots, [3, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scatter<T: Copy + Send + Sync, I: Index>(
        &self,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Result<(), RunError> {
        With::from(self).scatter(updates, indices, target)
    }

    /// As [`scatter`](Self::scatter), but each target element becomes the sum, product, minimum or maximum of itself and its
    /// updates.
    ///
    /// A row's updates apply in index-row order, so the result has the same bits for any number of threads; see [`Reduce`] for
    /// float sums. Every NaN that a reduction returns has the same payload.
    ///
    /// It covers TensorFlow's `scatter_nd` and `tensor_scatter_nd_add`, PyTorch's `scatter_add`, `scatter_reduce` and
    /// `index_add`, and NumPy's `add.at`.
    ///
    /// # Errors
    ///
    /// The errors of [`scatter`](Self::scatter); too little memory for counts and sums, which a float sum needs if more than
    /// 1,024 index rows of a batch may select one row, and sums and products of halves always: 32 bytes an index row of a block.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Gather, Reduce};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[3])?;
    /// let mut sums = [0.0, 0.0, 10.0, 10.0, 20.0, 20.0];
    /// plan.scatter_reduce(Reduce::Add, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 0, 2], &mut sums)?;
    /// assert_eq!(sums, [3.0, 4.0, 10.0, 10.0, 26.0, 28.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scatter_reduce<T: Number, I: Index>(
        &self,
        reduce: Reduce,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Result<(), RunError> {
        With::from(self).scatter_reduce(reduce, updates, indices, target)
    }

    /// As [`scatter`](Self::scatter), but on bytes: each element takes `types.element_bytes()` bytes, and indices are
    /// little-endian `types.index_kind()`.
    ///
    /// # Errors
    ///
    /// The errors of [`scatter`](Self::scatter), with lengths in bytes, and [`PlanError::EncodedTarget`](crate::PlanError::EncodedTarget) if `types` has an
    /// encoding.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[2])?;
    /// let mut target = *b"abcdef";
    /// plan.scatter_bytes(ElementTypes::new(1, IndexKind::U8), b"XYZW", &[2, 0], &mut target)?;
    /// assert_eq!(&target, b"ZWcdXY");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scatter_bytes(
        &self,
        types: ElementTypes,
        updates: &[u8],
        indices: &[u8],
        target: &mut [u8],
    ) -> Result<(), RunError> {
        With::from(self).scatter_bytes(types, updates, indices, target)
    }
}

impl With<'_, Reduce> {
    /// As [`GatherPlan::scatter`], with these options.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::scatter`].
    pub fn scatter<T: Copy + Send + Sync, I: Index>(
        self,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.scatter_values(updates, I::values(indices), target)
    }

    /// As [`scatter`](Self::scatter), if the index type is known only at run time.
    pub(crate) fn scatter_values<T: Copy + Send + Sync>(
        self,
        updates: &[T],
        indices: IndexValues<'_>,
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.check([updates.len(), indices.len(), target.len()])?;
        self.assign(memory::bytes(updates), indices, target, size_of::<T>())
    }

    /// As [`GatherPlan::scatter_reduce`], with these options.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::scatter_reduce`].
    pub fn scatter_reduce<T: Number, I: Index>(
        self,
        reduce: Reduce,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.scatter_reduce_values(reduce, updates, I::values(indices), target)
    }

    /// As [`scatter_reduce`](Self::scatter_reduce), if the index type is known only at run time.
    pub(crate) fn scatter_reduce_values<T: Number>(
        self,
        reduce: Reduce,
        updates: &[T],
        indices: IndexValues<'_>,
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.check([updates.len(), indices.len(), target.len()])?;
        let update = Reduced(reduce);
        scatter(self, indices, updates, (target, 1), &update, None)
    }

    /// As [`GatherPlan::scatter_bytes`], with these options.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::scatter_bytes`].
    pub fn scatter_bytes(
        self,
        types: ElementTypes,
        updates: &[u8],
        indices: &[u8],
        target: &mut [u8],
    ) -> Result<(), RunError> {
        self.plan.check_scatter_of(types)?;
        let (dims, width) = (self.plan.dims(), types.element_bytes);
        let updates_len = self.plan.updates_len(self.rules);
        check_bytes(Operand::Updates, updates_len, width, updates.len())?;
        let (indices_len, index_bytes) = ([dims.indices_len(); 2], types.index_kind.bytes());
        check_bytes(Operand::Indices, indices_len, index_bytes, indices.len())?;
        let target_len = [dims.params_len(), dims.params_len_with_gap()];
        check_bytes(Operand::Target, target_len, width, target.len())?;
        let width = usize::try_from(width).unwrap_or(usize::MAX);
        with_values(types.index_kind, indices, |indices| {
            self.assign(memory::bytes(updates), indices, target, width)
        })
    }

    /// Checks that the scatter has a meaning, and how long updates, indices and target are.
    fn check(self, lengths: [usize; 3]) -> Result<(), RunError> {
        self.plan.check_scatter()?;
        self.plan.check_scatter_lengths(self.rules, lengths)
    }

    /// Assigns elements of `element_bytes` bytes. The caller has checked all lengths.
    fn assign<T: Copy>(
        self,
        updates: &[memory::Byte],
        indices: IndexValues<'_>,
        target: &mut [T],
        element_bytes: usize,
    ) -> Result<(), RunError> {
        memory::write_into(target, |target| {
            let target = (target, element_bytes);
            scatter(self, indices, updates, target, &Assign, None)
        })
    }
}
