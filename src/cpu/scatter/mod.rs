//! Scatters on the CPU: the plan of a gather, written through. The public functions here check lengths.

mod often;
mod rows;
mod run;
#[cfg(test)]
mod tests;

use crate::element::ElementTypes;
use crate::error::RunError;
use crate::index::{GatherIndex, IndexValues};
use crate::memory;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_bytes;
use crate::reduce::{Reduce, ScatterNumber};

use super::run_bytes::with_values;
use run::{Assign, Reduced, scatter};

impl GatherPlan {
    /// Scatters on the CPU: the inverse of [`run`](Self::run). Each slice of `updates` is written to the row of `target` that
    /// its index row selects; all other rows keep their values.
    ///
    /// ```text
    /// run       output[b][o][n][s] = params[b][o][ row(b, n) ][s]
    /// scatter   target[b][o][ row(b, n) ][s] = updates[b][o][n][s]        for each n in order
    /// ```
    ///
    /// `target` has the shape of the plan's params, and `updates` that of its output; both may have a stride, as they may in a
    /// gather. If several index rows select one row, the last one is written, whatever the number of threads. Elements are
    /// copied, so they may be of any type, and bits such as those of a NaN stay.
    ///
    /// A bad row is an error by the policies [`DeviceDefault`](crate::BadIndices::DeviceDefault) and
    /// [`Error`](crate::BadIndices::Error), and nothing has been written then. [`Fill`](crate::BadIndices::Fill) drops the
    /// update, and [`Clamp`](crate::BadIndices::Clamp) and [`Wrap`](crate::BadIndices::Wrap) select a row as in a gather.
    ///
    /// It does what TensorFlow's `tensor_scatter_nd_update`, PyTorch's `scatter` and `index_copy`, NumPy's `put_along_axis` and
    /// `a[i] = v`, and ONNX's `ScatterND` and `ScatterElements` do.
    ///
    /// # Errors
    ///
    /// An operand of another length than the plan's; bad rows; a plan that has no scatter, because broadcasting repeats index
    /// rows in a block or stretches the target ([`RunError::RepeatedInScatter`]). After an error nothing has been written.
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
    pub fn scatter<T: Copy + Send + Sync, I: GatherIndex>(
        &self,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.scatter_values(updates, I::values(indices), target)
    }

    /// As [`scatter`](Self::scatter), by indices of a type that is known only at run time.
    pub(crate) fn scatter_values<T: Copy + Send + Sync>(
        &self,
        updates: &[T],
        indices: IndexValues<'_>,
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.check_scatter()?;
        self.check_scatter_lengths(updates.len(), indices.len(), target.len())?;
        self.assign(memory::bytes(updates), indices, target, size_of::<T>())
    }

    /// As [`scatter`](Self::scatter), but each element of the target becomes the sum, the product, the minimum or the maximum
    /// of itself and its updates.
    ///
    /// Updates of a row apply in the order of the index rows, so the result has the same bits for any number of threads; see
    /// [`Reduce`] for sums of floats. A NaN that a reduction gives has one payload.
    ///
    /// It does what TensorFlow's `scatter_nd` and `tensor_scatter_nd_add`, PyTorch's `scatter_add`, `scatter_reduce` and
    /// `index_add`, and NumPy's `add.at` do.
    ///
    /// # Errors
    ///
    /// The errors of [`scatter`](Self::scatter); no memory for the counts and sums of rows, which a sum of floats takes where
    /// more than 1,024 index rows of a batch may meet in one row.
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
    pub fn scatter_reduce<T: ScatterNumber, I: GatherIndex>(
        &self,
        reduce: Reduce,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.scatter_reduce_values(reduce, updates, I::values(indices), target)
    }

    /// As [`scatter_reduce`](Self::scatter_reduce), by indices of a type that is known only at run time.
    pub(crate) fn scatter_reduce_values<T: ScatterNumber>(
        &self,
        reduce: Reduce,
        updates: &[T],
        indices: IndexValues<'_>,
        target: &mut [T],
    ) -> Result<(), RunError> {
        self.check_scatter()?;
        self.check_scatter_lengths(updates.len(), indices.len(), target.len())?;
        let update = Reduced(reduce);
        scatter(self, indices, updates, (target, 1), &update, None)
    }

    /// As [`scatter`](Self::scatter), but on bytes: elements of `types.element_bytes()` bytes, and little-endian indices of
    /// `types.index_kind()`.
    ///
    /// # Errors
    ///
    /// The errors of [`scatter`](Self::scatter), with lengths in bytes, and [`RunError::EncodedTarget`] for types with an
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
        self.check_scatter()?;
        if let Some(encoding) = types.encoding {
            return Err(RunError::EncodedTarget { encoding });
        }
        let (dims, width) = (self.dims(), types.element_bytes);
        check_bytes(Operand::Updates, self.updates_len(), width, updates.len())?;
        let (indices_len, index_bytes) = ([dims.indices_len(); 2], types.index_kind.bytes());
        check_bytes(Operand::Indices, indices_len, index_bytes, indices.len())?;
        let target_len = [dims.params_len(), dims.params_len_with_gap()];
        check_bytes(Operand::Target, target_len, width, target.len())?;
        let width = usize::try_from(width).unwrap_or(usize::MAX);
        with_values(types.index_kind, indices, |indices| {
            self.assign(memory::bytes(updates), indices, target, width)
        })
    }

    /// Assigns elements of `element_bytes` bytes, of operands whose lengths are checked.
    fn assign<T: Copy>(
        &self,
        updates: &[memory::Byte],
        indices: IndexValues<'_>,
        target: &mut [T],
        element_bytes: usize,
    ) -> Result<(), RunError> {
        memory::write_into(target, |target| {
            scatter(
                self,
                indices,
                updates,
                (target, element_bytes),
                &Assign,
                None,
            )
        })
    }
}
