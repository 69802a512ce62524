//! The CPU executor: slices in, slice out. Checks lengths, shares the output among threads, and turns the
//! smallest bad row into an error. It does not look at shapes; the plan has.

mod block;
mod bytes;
mod fresh;
mod memory;
mod places;
mod slices;
mod whole;

use std::ops::Range;

use crate::bad_indices::BadIndices;
use crate::element::GatherIndex;
use crate::error::{Operand, RunError};
use crate::index_rows::IndexRows;
use crate::plan::GatherPlan;
#[cfg(feature = "rayon")]
use block::FirstBadRow;
use block::Source;

#[cfg(feature = "gpu")]
pub(crate) use memory::pieces;
pub(crate) use whole::WholeRows;

/// What one slice costs beside its bytes, as so many more of them.
const BYTES_PER_SLICE: usize = 128;

/// Less than this does not pay for waking another thread: 20 to 50 us, where these were measured.
const MIN_BYTES_TO_SHARE: u64 = 1 << 20;

/// What a task has at least, so that there are several for each thread and none is lost among its costs.
#[cfg(feature = "rayon")]
const MIN_BYTES_PER_TASK: usize = 1 << 18;

impl GatherPlan {
    /// Gathers on the CPU and returns the output, row-major, of [`output_shape`](Self::output_shape).
    ///
    /// `params` and `indices` are row-major too. Elements are copied, so they may be of any type: numbers,
    /// `&str`, structs. On a bad row, [`BadIndices::Zero`] puts `T::default()` in the whole slice.
    ///
    /// # Errors
    ///
    /// A slice whose length is not that of its operand; unless the policy is [`BadIndices::Zero`] or [`BadIndices::Clamp`], an
    /// index out of range, and then the smallest bad row is the one named; no memory for the output.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Gather, GatherNd};
    ///
    /// let plan = GatherNd::new().plan(&[2, 2], &[2, 2])?;
    /// assert_eq!(plan.run(&["a", "b", "c", "d"], &[0, 0, 1, 1])?, ["a", "d"]);
    ///
    /// let plan = Gather::new().plan(&[3], &[2])?;
    /// let bad = plan.run(&[10, 20, 30], &[2, 3]).unwrap_err();
    /// assert_eq!(bad.to_string(), "indices[1] = 3 is not in [0, 3)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run<T, I>(&self, params: &[T], indices: &[I]) -> Result<Vec<T>, RunError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
    {
        self.run_with(params, indices, T::default(), T::default())
    }

    /// [`run`](Self::run), with `fill` in the slices of bad rows where [`BadIndices::Zero`] puts zeros.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Zero).plan(&[3], &[2])?;
    /// assert_eq!(plan.run_filled(&[10, 20, 30], &[2, 3], -1)?, [30, -1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_filled<T, I>(&self, params: &[T], indices: &[I], fill: T) -> Result<Vec<T>, RunError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
    {
        self.run_with(params, indices, T::default(), fill)
    }

    /// [`run`](Self::run), with `zero` where params is a shard that does not hold a row, and `fill` in the slices
    /// of bad rows.
    pub(crate) fn run_with<T, I>(
        &self,
        params: &[T],
        indices: &[I],
        zero: T,
        fill: T,
    ) -> Result<Vec<T>, RunError>
    where
        T: Copy + Send + Sync,
        I: GatherIndex,
    {
        self.check_lengths(params.len(), indices.len())?;
        let elements = self.dims().output_len();
        if elements == 0 {
            return Ok(Vec::new());
        }
        let out_of_memory = RunError::OutOfMemory {
            elements,
            element_bytes: size_of::<T>(),
        };
        let output_len = usize::try_from(elements).map_err(|_| out_of_memory.clone())?;
        // Of params without rows every index is bad, and no operand in memory bounds the output.
        self.check_index_rows(&IndexRows::new(self, indices), 0..1)?;
        let mut output = if size_of::<T>() == 0 {
            // To resize would count to output_len, which may be anything; this doubles.
            [fill].repeat(output_len)
        } else {
            let mut output = Vec::new();
            output
                .try_reserve_exact(output_len)
                .map_err(|_| out_of_memory)?;
            fresh::fill(&mut output, zero, output_len);
            output
        };
        if let Err(copied) = self.copy_whole(params, indices, &mut output) {
            self.gather_into(params, indices, zero, fill, &mut output, copied)?;
        }
        Ok(output)
    }

    /// Gathers on the CPU into `output`, which [`run`](Self::run) would allocate.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run), and an `output` of another length than the plan's. When an index is
    /// out of range, what `output` then holds is unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Zero).plan(&[3, 2], &[2])?;
    /// let mut output = [9; 4];
    /// plan.run_into(&[1, 2, 3, 4, 5, 6], &[2, -1], &mut output)?;
    /// assert_eq!(output, [5, 6, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn run_into<T, I>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), RunError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
    {
        self.run_filled_into(params, indices, T::default(), output)
    }

    /// [`run_filled`](Self::run_filled) into `output`, as [`run_into`](Self::run_into).
    ///
    /// # Errors
    ///
    /// Those of [`run_into`](Self::run_into).
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Zero).plan(&[2], &[2])?;
    /// let mut output = ["", ""];
    /// plan.run_filled_into(&["a", "b"], &[7, 0], "?", &mut output)?;
    /// assert_eq!(output, ["?", "a"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn run_filled_into<T, I>(
        &self,
        params: &[T],
        indices: &[I],
        fill: T,
        output: &mut [T],
    ) -> Result<(), RunError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
    {
        self.copy_whole(params, indices, output)
            .or_else(|copied| self.run_rest_into(params, indices, fill, output, copied))
    }

    /// What is left of a gather, from output row `copied` on.
    #[inline(never)]
    fn run_rest_into<T, I>(
        &self,
        params: &[T],
        indices: &[I],
        fill: T,
        output: &mut [T],
        copied: usize,
    ) -> Result<(), RunError>
    where
        T: Copy + Default + Send + Sync,
        I: GatherIndex,
    {
        self.check_lengths(params.len(), indices.len())?;
        check_len(Operand::Output, self.dims().output_len(), output.len())?;
        if output.is_empty() {
            return Ok(());
        }
        self.gather_into(params, indices, T::default(), fill, output, copied)
    }

    /// Does what [`WholeRows::copy`] does, if the gather is such a one. If that is not all, the error is how many rows it
    /// copied.
    #[inline]
    fn copy_whole<T, I>(&self, params: &[T], indices: &[I], output: &mut [T]) -> Result<(), usize>
    where
        T: Copy,
        I: GatherIndex,
    {
        let whole = self.whole_rows.as_ref().ok_or(0_usize)?;
        whole.copy(params, indices, output)
    }

    pub(crate) fn check_lengths(&self, params: usize, indices: usize) -> Result<(), RunError> {
        check_len(Operand::Params, self.dims().params_len(), params)?;
        check_len(Operand::Indices, self.dims().indices_len(), indices)
    }

    /// Gathers from output row `copied` on. The operands have the plan's lengths, and the output is not empty.
    fn gather_into<T, I>(
        &self,
        params: &[T],
        indices: &[I],
        zero: T,
        fill: T,
        output: &mut [T],
        copied: usize,
    ) -> Result<(), RunError>
    where
        T: Copy + Send + Sync,
        I: GatherIndex,
    {
        if size_of::<T>() == 0 {
            // Nothing to copy, however many slices there are.
            let index_rows = IndexRows::new(self, indices);
            return self.check_index_rows(&index_rows, 0..index_rows.len());
        }
        let source = Source::new(self, params, indices, zero, fill);
        let bad_row = match copied {
            #[cfg(feature = "rayon")]
            0 if pays_to_share(size_of_val(output), self.dims().output_rows()) => {
                share_among_threads(&source, output)
            }
            _ => source.gather_rows(copied, &mut output[copied * source.slice_len..], None),
        };
        match bad_row {
            None => Ok(()),
            Some(row) => Err(source.index_rows.bad_index(row).into()),
        }
    }

    /// Names the first bad one of these index rows, unless the policy lets them be.
    fn check_index_rows<I>(
        &self,
        index_rows: &IndexRows<'_, I>,
        rows: Range<usize>,
    ) -> Result<(), RunError>
    where
        I: GatherIndex,
    {
        match self.bad_indices() {
            BadIndices::Zero | BadIndices::Clamp => Ok(()),
            BadIndices::DeviceDefault | BadIndices::Error => Ok(index_rows.check(rows)?),
        }
    }
}

fn check_len(operand: Operand, expected: u64, found: usize) -> Result<(), RunError> {
    if found as u64 == expected {
        Ok(())
    } else {
        Err(RunError::Length {
            operand,
            expected,
            found,
        })
    }
}

/// Whether several threads gather so many bytes, in so many slices, sooner than one does.
#[inline]
fn pays_to_share(output_bytes: usize, slices: u64) -> bool {
    let bytes = output_bytes as u64 + slices * BYTES_PER_SLICE as u64;
    cfg!(feature = "rayon") && bytes >= MIN_BYTES_TO_SHARE
}

/// Gathers the output on several threads. Returns the first bad row, unless such are filled.
#[cfg(feature = "rayon")]
#[inline(never)]
fn share_among_threads<T, I>(source: &Source<'_, T, I>, output: &mut [T]) -> Option<usize>
where
    T: Copy + Send + Sync,
    I: GatherIndex,
{
    use rayon::prelude::*;

    let bytes_per_row = source.slice_len * size_of::<T>() + BYTES_PER_SLICE;
    let rows_per_task = MIN_BYTES_PER_TASK.div_ceil(bytes_per_row);
    let first_bad_row = FirstBadRow::none();
    output
        .par_chunks_mut(rows_per_task * source.slice_len)
        .enumerate()
        .for_each(|(task, output)| {
            let bad_row = source.gather_rows(task * rows_per_task, output, Some(&first_bad_row));
            if let Some(row) = bad_row {
                first_bad_row.note(row);
            }
        });
    first_bad_row.into_row()
}
