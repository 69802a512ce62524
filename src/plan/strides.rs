//! Plans for shards, and for rows with gaps after them.

use std::ops::Range;

use super::GatherPlan;
use super::checks::MAX_ELEMENTS;
use super::dims::GatherDims;
use crate::error::PlanError;
use crate::operand::Operand;

impl GatherPlan {
    /// The plan for a shard, which holds the params rows `rows` of each block. So several devices or machines can share params.
    ///
    /// A batch and an outer coordinate select a block. The shard's params is
    /// `params.reshape(blocks, row_count, slice_len)[:, rows]`, row-major. Indices and output keep this plan's shapes.
    ///
    /// If an index row selects a row outside the shard, it gives zeros and is not bad. A bad row is bad in every shard, with
    /// the same error. If each row is in exactly one shard, a bitwise OR of all shards' outputs is this plan's output.
    ///
    /// # Errors
    ///
    /// Rows outside `0..row_count`; with a [stride](Self::with_params_stride), rows with more than `i64::MAX` elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// let plan = Gather::new().plan(&[4], &[3])?;
    /// let first = plan.shard(0..2)?.gather(&[10, 20], &[1, 3, 0])?;
    /// let second = plan.shard(2..4)?.gather(&[30, 40], &[1, 3, 0])?;
    /// assert_eq!((&first[..], &second[..]), (&[20, 0, 10][..], &[0, 40, 0][..]));
    /// let whole: Vec<i32> = first.iter().zip(&second).map(|(a, b)| a | b).collect();
    /// assert_eq!(whole, plan.gather(&[10, 20, 30, 40], &[1, 3, 0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shard(&self, rows: Range<usize>) -> Result<Self, PlanError> {
        let row_count = self.dims.row_count;
        let rows = rows.start as u64..rows.end as u64;
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
        // If this plan is for a shard, the new one may hold more rows.
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

    /// The plan for params with a gap after each slice: each row starts `stride` elements after the one before. So you gather
    /// from a table with padded rows, or from some columns of a wider table. Without this call the stride is
    /// [`slice_len`](Self::slice_len), and there is no gap.
    ///
    /// Rows are the slices in row-major order. Params must have `(rows - 1) * stride + slice_len` elements, which
    /// [`params_len`](Self::params_len) returns. It may also end with the gap after the last row. No element in a gap is read.
    ///
    /// A stride counts elements, as shapes do: if a vertex has 32 bytes, the stride is 8 for `f32`. If records
    /// are not whole elements long, gather `u8` elements: the stride then counts bytes.
    ///
    /// An array for `gather_array`, or a tensor, may then have any shape with that many elements, in row-major order.
    ///
    /// # Errors
    ///
    /// A stride below `slice_len`; params with more than `i64::MAX` elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// // Columns 1 and 2 of a table with 3 rows and 4 columns.
    /// let table = [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23];
    /// let plan = Gather::new().plan(&[3, 2], &[2])?.with_params_stride(4)?;
    /// assert_eq!(plan.gather(&table[1..], &[2, 0])?, [21, 22, 1, 2]);
    ///
    /// // Each record has 5 bytes: a flag, and from byte 1 on a 4-byte number.
    /// let records = [0, 10, 0, 0, 0, 1, 20, 0, 0, 0, 0, 30, 0, 0, 0_u8];
    /// let plan = Gather::new().plan(&[3, 4], &[2])?.with_params_stride(5)?;
    /// assert_eq!(plan.gather(&records[1..], &[2, 1])?, [30, 0, 0, 0, 20, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_params_stride(&self, stride: usize) -> Result<Self, PlanError> {
        let (rows, stride) = (self.dims.params_rows(), stride as u64);
        self.check_stride(Operand::Params, rows, stride)?;
        Ok(self.with_dims(GatherDims {
            params_stride: stride,
            ..self.dims.clone()
        }))
    }

    /// The plan for an output with a gap after each slice: each row starts `stride` elements after the one before, as in a
    /// padded table, a texture, or some columns of a wider table. Without this call the stride is
    /// [`slice_len`](Self::slice_len).
    ///
    /// You must bring the output: call [`gather_into`](Self::gather_into), [`gather_bytes_into`](Self::gather_bytes_into), a `Gatherer` or
    /// `Request::into_tensor`. Calls that make their output refuse the plan, with
    /// [`RunError::OutputStride`](crate::RunError::OutputStride). The output must have `(rows - 1) * stride + slice_len` elements,
    /// which [`output_len`](Self::output_len) returns. It may also end with the gap after the last row. Elements in gaps keep
    /// their values.
    ///
    /// # Errors
    ///
    /// A stride below `slice_len`; an output with more than `i64::MAX` elements.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// // Each row has 2 elements and a gap of 1.
    /// let plan = Gather::new().plan(&[3, 2], &[2])?.with_output_stride(3)?;
    /// let mut output = [9; 6];
    /// plan.gather_into(&[0, 1, 10, 11, 20, 21], &[2, 0], &mut output)?;
    /// assert_eq!(output, [20, 21, 9, 0, 1, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_output_stride(&self, stride: usize) -> Result<Self, PlanError> {
        let (rows, stride) = (self.dims.output_rows(), stride as u64);
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
        if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
            return Err(PlanError::StrideTooLong {
                operand,
                rows,
                stride,
                limit: MAX_ELEMENTS,
            });
        }
        Ok(())
    }
}
