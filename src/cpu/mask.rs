//! The mask of bad rows on the CPU. It depends on the indices only, and so composes with every gather.

use super::index_rows::IndexRows;
use crate::error::RunError;
use crate::index::{Index, IndexValues, by_index_type};
use crate::operand::Operand;
use crate::plan::GatherPlan;

impl GatherPlan {
    /// The mask of bad rows: for each index row, `true` if one of its values is out of range. The mask has
    /// [`index_row_count`](Self::index_row_count) elements, in the row-major order of the index rows.
    ///
    /// [`NegativeIndices`](crate::NegativeIndices) decides which negative values are in range. The policy for bad
    /// indices changes nothing: with `Clamp` and `Wrap` the mask tells which rows were clamped or wrapped. An index row
    /// has one element, however many slices it selects. Index rows without values are in range. In a dim of 0 every
    /// value is out of range, also if the output is empty. The mask of a [`shard`](Self::shard) is that of the whole
    /// plan.
    ///
    /// The function reads only the indices, on the calling thread.
    ///
    /// # Errors
    ///
    /// `indices` of another length than the plan's; no memory for the mask.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[3], &[4])?;
    /// let indices = [2, -1, 0, 3];
    /// assert_eq!(plan.gather(&[10, 20, 30], &indices)?, [30, 0, 10, 0]);
    /// let bad_rows = plan.out_of_range(&indices)?;
    /// assert_eq!(bad_rows, [false, true, false, true]);
    ///
    /// // The validity bitmap of Arrow: a bit for each row, 1 for a valid one, the first row in the lowest bit.
    /// let byte = |rows: &[bool]| rows.iter().rev().fold(0, |bits, is_bad| bits << 1 | u8::from(!is_bad));
    /// let validity: Vec<u8> = bad_rows.chunks(8).map(byte).collect();
    /// assert_eq!(validity, [0b0101]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn out_of_range<I: Index>(&self, indices: &[I]) -> Result<Vec<bool>, RunError> {
        self.bad_rows_of(I::values(indices))
    }

    /// As [`out_of_range`](Self::out_of_range), for indices of a type that is known only at run time.
    pub(crate) fn bad_rows_of(&self, indices: IndexValues<'_>) -> Result<Vec<bool>, RunError> {
        self.check_indices_length(indices.len())?;
        let elements = self.index_row_count();
        let mut bad_rows = Operand::Mask.vector(elements as u64)?;
        bad_rows.resize(elements, false);
        by_index_type!(indices, |indices| {
            IndexRows::new(self, indices).note_bad_rows(&mut bad_rows);
        });
        Ok(bad_rows)
    }
}
