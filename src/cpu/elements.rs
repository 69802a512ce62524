//! Gathers from the caller's slices.

use super::gather::{check, gather};
use super::operands::{Operands, Params};
use crate::encoding::Parts;
use crate::error::RunError;
use crate::index::Index;
use crate::memory;
use crate::operand::Operand;
use crate::plan::{GatherPlan, With};

impl GatherPlan {
    /// Gathers on the CPU and returns the output, row-major, in the shape [`output_shape`](Self::output_shape).
    ///
    /// `params` and `indices` are row-major too. Elements are copied, so they may have any type: numbers, `&str`, structs. [`BadIndices::Fill`](crate::BadIndices::Fill) puts `T::default()` in the whole slice of a bad row.
    ///
    /// With the feature `rayon`, threads share a large gather: those of the pool in which you call, or else rayon's global
    /// pool. If rayon cannot make its global pool, it panics. This call catches the panic, and the calling thread gathers by
    /// itself; but a program built with `panic = "abort"` ends there, unless it makes its own pool.
    ///
    /// # Errors
    ///
    /// `params` or `indices` whose length is not the plan's; a bad row, if the policy is `DeviceDefault` or `Error`; no memory for
    /// the output. If several rows are bad, the error names the first one.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Gather, GatherNd};
    ///
    /// let plan = GatherNd::new().plan(&[2, 2], &[2, 2])?;
    /// assert_eq!(plan.gather(&["a", "b", "c", "d"], &[0, 0, 1, 1])?, ["a", "d"]);
    ///
    /// let plan = Gather::new().plan(&[3], &[2])?;
    /// let bad = plan.gather(&[10, 20, 30], &[2, 3]).unwrap_err();
    /// assert_eq!(bad.to_string(), "indices[1] = 3 is not in [0, 3)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather<T: Copy + Default + Send + Sync, I: Index>(
        &self,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        self.fill(T::default()).gather(params, indices)
    }

    /// Gathers operands whose lengths are checked. The plan must have no gaps in the output.
    pub(crate) fn gather_operands<T: Copy>(
        &self,
        operands: &Operands<'_, T>,
    ) -> Result<Vec<T>, RunError> {
        self.check_new_output()?;
        let width = operands.element_bytes.checked_div(size_of::<T>());
        let len = self.dims().output_len();
        let len = len.saturating_mul(width.unwrap_or(1) as u64);
        let operands = &operands.bytes();
        if self.dims().row_count == 0 {
            // Every index row is bad, and no operand bounds the output: an error comes before memory is asked for.
            check(self, operands)?;
        }
        let mut output = Vec::new();
        let room = usize::try_from(len).ok();
        let Some(len) = room.filter(|&len| output.try_reserve_exact(len).is_ok()) else {
            // A bad row is named first.
            check(self, operands)?;
            return Err(RunError::OutOfMemory {
                operand: Operand::Output,
                elements: self.dims().output_len(),
                element_bytes: operands.element_bytes,
            });
        };
        memory::extend(&mut output, len, |output| gather(self, operands, output))?;
        Ok(output)
    }

    /// As [`gather`](Self::gather), but into `output` instead of a new vector. `output` must have
    /// [`output_len`](Self::output_len) elements; with an output stride, it may also have the gap after the last row.
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather), and an `output` whose length is not the plan's. After an error about bad rows, what `output`
    /// holds is unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[3, 2], &[2])?;
    /// let mut output = [9; 4];
    /// plan.gather_into(&[1, 2, 3, 4, 5, 6], &[2, -1], &mut output)?;
    /// assert_eq!(output, [5, 6, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_into<T: Copy + Default + Send + Sync, I: Index>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), RunError> {
        self.fill(T::default()).gather_into(params, indices, output)
    }

    /// As [`gather_operands`](Self::gather_operands), but into `output`, whose length is checked too.
    pub(crate) fn gather_operands_into<T: Copy>(
        &self,
        operands: &Operands<'_, T>,
        output: &mut [T],
    ) -> Result<(), RunError> {
        let operands = operands.bytes();
        memory::write_into(output, |output| gather(self, &operands, output))
    }
}

impl<T: Copy + Default + Send + Sync> With<'_, T> {
    /// As [`GatherPlan::gather`], with the fill in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::gather`].
    pub fn gather<I: Index>(&self, params: &[T], indices: &[I]) -> Result<Vec<T>, RunError> {
        self.plan.check_lengths(params.len(), indices.len())?;
        let (zero, fill) = ([T::default()], self.fills());
        self.plan
            .gather_operands(&elements(params, indices, &zero, &fill))
    }

    /// As [`GatherPlan::gather_into`], with the fill in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::gather_into`].
    pub fn gather_into<I: Index>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), RunError> {
        self.plan.check_lengths(params.len(), indices.len())?;
        self.plan.check_output_length(output.len())?;
        let (zero, fill) = ([T::default()], self.fills());
        self.plan
            .gather_operands_into(&elements(params, indices, &zero, &fill), output)
    }

    pub(super) fn fills(&self) -> [T; 1] {
        [self.fill.unwrap_or_default()]
    }
}

fn elements<'a, T, I: Index>(
    params: &'a [T],
    indices: &'a [I],
    zero: &'a [T],
    fill: &'a [T],
) -> Operands<'a, T> {
    Operands {
        element_bytes: size_of::<T>(),
        parts: Parts::elements(size_of::<T>() as u64),
        params: Params::Elements(params),
        indices: I::values(indices),
        zero,
        fill,
    }
}
