//! Plans for other params or another output than whole ones: shards, and rows with gaps after them.

use std::ops::Range;

use super::GatherPlan;
use super::dims::GatherDims;
use crate::error::PlanError;
use crate::operand::Operand;

impl GatherPlan {
    /// The plan for a shard: the params rows `rows` of each block, on one of several devices or machines that share
    /// params.
    ///
    /// A batch and an outer coordinate select a block. The params of the shard are
    /// `params.reshape(blocks, row_count, slice_len)[:, rows]`, row-major; its indices and output have the shapes of
    /// this plan. An index row that selects a row outside the shard gives zeros, and is no bad row. A bad row is bad
    /// for every shard, with one text. If each row is in exactly one shard, a bitwise OR of the outputs of all shards
    /// is the output of this plan.
    ///
    /// # Errors
    ///
    /// Rows that are not within `0..row_count`; with a [stride](Self::with_params_stride), rows of more than `i64::MAX`
    /// elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// let plan = Gather::new().plan(&[4], &[3])?;
    /// let first = plan.shard(0..2)?.run(&[10, 20], &[1, 3, 0])?;
    /// let second = plan.shard(2..4)?.run(&[30, 40], &[1, 3, 0])?;
    /// assert_eq!((&first[..], &second[..]), (&[20, 0, 10][..], &[0, 40, 0][..]));
    /// let whole: Vec<i32> = first.iter().zip(&second).map(|(a, b)| a | b).collect();
    /// assert_eq!(whole, plan.run(&[10, 20, 30, 40], &[1, 3, 0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shard(&self, rows: Range<u64>) -> Result<Self, PlanError> {
        let row_count = self.dims.row_count;
        if rows.start > rows.end || rows.end > row_count {
            let Range { start, end } = rows;
            return Err(PlanError::ShardOutOfRange {
                start,
                end,
                row_count,
            });
        }
        let shard = self.with_dims(GatherDims {
            first_row: rows.start,
            held_rows: rows.end - rows.start,
            ..self.dims.clone()
        });
        // The rows may be more than those of this plan, if it is for a shard itself.
        shard.check_stride(
            Operand::Params,
            shard.dims.params_rows(),
            shard.dims.params_stride,
        )?;
        Ok(shard)
    }

    /// This plan with other sizes.
    pub(crate) fn with_dims(&self, dims: GatherDims) -> Self {
        Self {
            dims,
            ..self.clone()
        }
    }

    /// The plan for params whose rows start `stride` elements after each other, with a gap after each slice: a table with
    /// padded rows, or a block of columns of a wider table. Without this call the stride is
    /// [`slice_len`](Self::slice_len), and there is no gap.
    ///
    /// The rows are the slices of params in row-major order. Params then has
    /// `(rows - 1) * stride + slice_len` elements: [`params_len`](Self::params_len). The gap after the last row may be
    /// there too. The elements in gaps are not read.
    ///
    /// A stride counts elements, as shapes do: vertices of 32 bytes are 8 elements of `f32` apart. Elements of one byte give a
    /// stride in bytes, for records that are no whole number of wider elements.
    ///
    /// The layout of arrays of ndarray is their own: `run_array` takes no plan with a stride of params.
    ///
    /// # Errors
    ///
    /// A stride below `slice_len`; params of more than `i64::MAX` elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// // Columns 1 and 2 of a table of 3 rows and 4 columns.
    /// let table = [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23];
    /// let plan = Gather::new().plan(&[3, 2], &[2])?.with_params_stride(4)?;
    /// assert_eq!(plan.run(&table[1..], &[2, 0])?, [21, 22, 1, 2]);
    ///
    /// // Records of 5 bytes: a flag, and from byte 1 on a number of 4 bytes.
    /// let records = [0, 10, 0, 0, 0, 1, 20, 0, 0, 0, 0, 30, 0, 0, 0_u8];
    /// let plan = Gather::new().plan(&[3, 4], &[2])?.with_params_stride(5)?;
    /// assert_eq!(plan.run(&records[1..], &[2, 1])?, [30, 0, 0, 0, 20, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_params_stride(&self, stride: u64) -> Result<Self, PlanError> {
        let rows = self.dims.params_rows();
        self.check_stride(Operand::Params, rows, stride)?;
        Ok(self.with_dims(GatherDims {
            params_stride: stride,
            ..self.dims.clone()
        }))
    }

    /// The plan for an output whose rows start `stride` elements after each other: rows of a padded table or of a texture,
    /// or a block of columns of a wider table. Without this call the stride is [`slice_len`](Self::slice_len).
    ///
    /// The plan is for an output that the caller gives: of [`run_into`](Self::run_into) and
    /// [`run_bytes_into`](Self::run_bytes_into), of a `Gatherer` and of `Request::into_tensor`. That output has
    /// `(rows - 1) * stride + slice_len` elements, [`output_len`](Self::output_len), and may have the gap after the last row
    /// too. Elements in gaps keep their values. Calls that make their output refuse the plan, with [`RunError::OutputStride`](crate::RunError::OutputStride).
    ///
    /// # Errors
    ///
    /// A stride below `slice_len`; an output of more than `i64::MAX` elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// // Rows of 2 elements in rows of 3.
    /// let plan = Gather::new().plan(&[3, 2], &[2])?.with_output_stride(3)?;
    /// let mut output = [9; 6];
    /// plan.run_into(&[0, 1, 10, 11, 20, 21], &[2, 0], &mut output)?;
    /// assert_eq!(output, [20, 21, 9, 0, 1, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_output_stride(&self, stride: u64) -> Result<Self, PlanError> {
        let rows = self.dims.output_rows();
        self.check_stride(Operand::Output, rows, stride)?;
        Ok(self.with_dims(GatherDims {
            output_stride: stride,
            ..self.dims.clone()
        }))
    }

    fn check_stride(&self, operand: Operand, rows: u64, stride: u64) -> Result<(), PlanError> {
        let slice_len = self.dims.slice_len;
        if stride < slice_len {
            return Err(PlanError::StrideBelowSlice {
                operand,
                slice_len,
                stride,
            });
        }
        // The gap after the last row counts too, since the caller may give it.
        let elements = rows.checked_mul(stride);
        if elements.is_none_or(|elements| elements > i64::MAX.unsigned_abs()) {
            return Err(PlanError::StrideTooLong {
                operand,
                rows,
                stride,
            });
        }
        Ok(())
    }
}
