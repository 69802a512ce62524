//! Which params rows a gather copies, for an app that reads them itself.

use super::index_rows::{IndexRows, NOT_HELD};
use crate::error::RunError;
use crate::index::{Index, by_index_type};
use crate::memory::address;
use crate::operand::Operand;
use crate::plan::GatherPlan;

impl GatherPlan {
    /// For each output row, the row of params that [`gather`](Self::gather) copies into it: `None` if `gather` fills the output
    /// row, or a [`shard`](Self::shard) leaves it to another one.
    ///
    /// Rows are numbered through all batches and all dims before the axis, so row `r` begins at element `r * slice_len`, or at `r` times the
    /// [stride](Self::with_params_stride). With them you gather from a table that you do not hold: you read the rows from
    /// a file, or ask a server for them. You can fetch a row once that several output rows copy.
    ///
    /// The function reads only the indices, on the calling thread.
    ///
    /// # Errors
    ///
    /// `indices` whose length is not the plan's; a bad row, if the policy is `DeviceDefault` or `Error`; no memory for the rows,
    /// 16 bytes each.
    ///
    /// # Examples
    ///
    /// Reads two rows from a table that has 1,000, each with 4 bytes:
    ///
    /// ```
    /// use std::io::{Cursor, Read, Seek, SeekFrom};
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// # let bytes: Vec<u8> = (0..1000_u32).flat_map(u32::to_le_bytes).collect();
    /// # let mut file = Cursor::new(bytes);
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[1000, 4], &[3])?;
    /// let rows = plan.params_rows(&[7, -1, 999])?;
    /// assert_eq!(rows, [Some(7), None, Some(999)]);
    ///
    /// let mut output = vec![0; 12];
    /// for (row, bytes) in rows.iter().zip(output.chunks_mut(4)) {
    ///     if let Some(row) = row {
    ///         file.seek(SeekFrom::Start(*row as u64 * 4))?;
    ///         file.read_exact(bytes)?;
    ///     }
    /// }
    /// assert_eq!(output, [7, 0, 0, 0, 0, 0, 0, 0, 0xe7, 3, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn params_rows<I: Index>(&self, indices: &[I]) -> Result<Vec<Option<usize>>, RunError> {
        self.check_indices_length(indices.len())?;
        by_index_type!(I::values(indices), |indices| self.located(indices))
    }

    fn located<I: Index>(&self, indices: &[I]) -> Result<Vec<Option<usize>>, RunError> {
        /// Rows that are located in one step.
        const STEP: usize = 256;

        let index_rows = IndexRows::new(self, indices);
        let dims = self.dims();
        if !self.bad_indices().fills_on_cpu() && dims.output_len() > 0 {
            index_rows.check()?;
        }
        let output_rows = dims.output_rows();
        let mut rows = Operand::Output.vector(output_rows)?;
        let mut located = [0; STEP];
        while rows.len() < address(output_rows) {
            let step = STEP.min(address(output_rows) - rows.len());
            index_rows.locate(rows.len() as u64, &mut located[..step]);
            // A bad row is larger than any other.
            rows.extend(
                located[..step]
                    .iter()
                    .map(|&row| (row < NOT_HELD).then(|| address(row))),
            );
        }
        Ok(rows)
    }
}
