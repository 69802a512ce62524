//! Strides of a plan: rows of params and of the output that do not follow each other without gaps.

use std::borrow::Cow;

use super::GatherPlan;
use super::dims::GatherDims;
use crate::error::{Operand, PlanError};

impl GatherPlan {
    /// The plan for params whose rows start `stride` elements after each other, with a gap after each slice: a table with
    /// padded rows, or a block of columns of a wider table. Without this call the stride is
    /// [`slice_len`](Self::slice_len), and there is no gap.
    ///
    /// The rows are the slices of params in row-major order. Params then has
    /// `(rows - 1) * stride + slice_len` elements: [`params_len`](Self::params_len). The gap after the last row may be
    /// there too. The elements in gaps are not read.
    ///
    /// The layout of arrays of ndarray is their own: `gather_array` takes no plan with a stride of params.
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
    /// The stride holds for an output that the caller gives: of [`run_into`](Self::run_into), of a `Gatherer` and of
    /// `GatherRequest::into_tensor`. That output has `(rows - 1) * stride + slice_len` elements,
    /// [`output_len`](Self::output_len), and may have the gap after the last row too. Elements in gaps keep their
    /// values. Calls that make their output make it without gaps.
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

    pub(super) fn check_stride(
        &self,
        operand: Operand,
        rows: u64,
        stride: u64,
    ) -> Result<(), PlanError> {
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

    /// This plan without gaps in the output.
    pub(crate) fn with_packed_output(&self) -> Cow<'_, Self> {
        let output_stride = self.dims.slice_len;
        if self.dims.output_stride == output_stride {
            return Cow::Borrowed(self);
        }
        Cow::Owned(self.with_dims(GatherDims {
            output_stride,
            ..self.dims.clone()
        }))
    }
}
