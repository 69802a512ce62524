//! Plans for scatters, and checks that a scatter through a plan has a meaning.

use super::{GatherPlan, Operation};
use crate::error::RunError;
use crate::operand::Operand;
use crate::plan::lengths::check_len;

impl GatherPlan {
    /// The plan with the promise that no two index rows of a batch select the same row: JAX's `unique_indices=True`. A scatter
    /// need not keep the order of updates then. Gathers ignore the promise.
    ///
    /// The promise is about the rows that indices select, after they are counted from the end, clamped or wrapped. Bad rows,
    /// and rows of another shard, do not count. If the promise is broken, a row that several index rows select gets a part
    /// of its updates or a mix of their bits; no other row changes.
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// let plan = Gather::new().plan(&[4], &[2])?.with_unique_indices();
    /// let mut target = [0; 4];
    /// plan.scatter(&[7, 8], &[3, 1], &mut target)?;
    /// assert_eq!(target, [0, 8, 0, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_unique_indices(&self) -> Self {
        let mut plan = self.clone();
        plan.scatter.unique_indices = true;
        plan
    }

    /// The plan whose scatters take one slice of updates, of [`slice_len`](Self::slice_len) elements, for all index rows:
    /// to count, to clear slots, to make one-hot rows. Gathers ignore it.
    ///
    /// ```
    /// use wgpu_gather::{Gather, Reduce};
    ///
    /// let plan = Gather::new().plan(&[3], &[4])?.with_one_update();
    /// let mut counts = [0; 3];
    /// plan.scatter_reduce(Reduce::Add, &[1], &[2, 0, 2, 2], &mut counts)?;
    /// assert_eq!(counts, [1, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_one_update(&self) -> Self {
        let mut plan = self.clone();
        plan.scatter.one_update = true;
        plan
    }

    /// The plan by which a GPU scatters: one slice of updates for all index rows is a stride of 0.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_updates(&self) -> Self {
        let mut plan = self.clone();
        if self.scatter.one_update {
            plan.dims.output_stride = 0;
        }
        plan
    }

    /// The plan whose output rows are the index rows, and whose params are one element for each row of each batch.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_index_rows(&self) -> Self {
        let mut plan = self.clone();
        (plan.dims.outer_size, plan.dims.slice_len) = (1, 1);
        (plan.dims.params_stride, plan.dims.output_stride) = (1, 0);
        plan
    }

    /// True if no two index rows of a batch select one row, so that the order of updates does not matter.
    #[cfg(feature = "gpu")]
    pub(crate) fn has_unique_rows(&self) -> bool {
        self.scatter.unique_indices || self.dims().batch_index_rows <= 1
    }

    /// Elements of the updates of a scatter: those of the output, or of one slice.
    pub(crate) fn updates_len(&self) -> [u64; 2] {
        let dims = self.dims();
        match self.scatter.one_update {
            true => [dims.slice_len; 2],
            false => [dims.output_len(), dims.output_len_with_gap()],
        }
    }

    /// The shape that an array of updates must have: the output's, or one slice's if that serves all index rows.
    #[cfg(feature = "ndarray")]
    pub(crate) fn updates_shape(&self) -> &[usize] {
        if !self.scatter.one_update {
            return &self.output_shape;
        }
        let (params, rank) = (&self.params_shape[..], self.params_shape.len());
        let first = match self.operation {
            Operation::Gather | Operation::GatherNd => self.axis + self.dims().index_depth(),
            Operation::GatherElements => {
                let is_of_slice = |&dim: &usize| {
                    self.indices_shape[dim] == 1 && self.output_shape[dim] == params[dim]
                };
                rank - (self.axis + 1..rank).rev().take_while(is_of_slice).count()
            }
        };
        &params[first..]
    }

    /// Checks that a scatter through the plan has a meaning: each element of the target has a place of its own in params, and
    /// each index row one place in a block of the output.
    pub(crate) fn check_scatter(&self) -> Result<(), RunError> {
        if self.operation != Operation::GatherElements {
            return Ok(());
        }
        let (axis, rank) = (self.axis, self.params_shape.len());
        let (params, indices, output) = (
            &self.params_shape[..],
            &self.indices_shape[..],
            &self.output_shape[..],
        );
        let repeated = |operand, dim: usize| {
            let size = output[dim];
            Err(RunError::RepeatedInScatter { operand, dim, size })
        };
        let is_stretched = |&dim: &usize| dim != axis && params[dim] == 1 && output[dim] > 1;
        if let Some(dim) = (0..rank).find(is_stretched) {
            return repeated(Operand::Target, dim);
        }
        // Dims of 1 right after the shared leading dims are outer dims, and trailing dims of 1 are a slice: neither repeats
        // index rows in a block.
        let shared = (0..axis).take_while(|&dim| params[dim] == indices[dim]);
        let shared = shared.count();
        let outer = (shared..axis).take_while(|&dim| indices[dim] == 1).count();
        let slice = (axis + 1..rank).rev().take_while(|&dim| indices[dim] == 1);
        let mut within = (shared + outer..axis).chain(axis + 1..rank - slice.count());
        match within.find(|&dim| indices[dim] == 1 && output[dim] != 1) {
            Some(dim) => repeated(Operand::Indices, dim),
            None => Ok(()),
        }
    }

    /// Checks the lengths of a scatter's operands, in elements.
    pub(crate) fn check_scatter_lengths(
        &self,
        updates: usize,
        indices: usize,
        target: usize,
    ) -> Result<(), RunError> {
        let [len, len_with_gap] = self.updates_len();
        check_len(Operand::Updates, len..=len_with_gap, updates)?;
        self.check_indices_length(indices)?;
        let dims = self.dims();
        let target_len = dims.params_len()..=dims.params_len_with_gap();
        check_len(Operand::Target, target_len, target)
    }
}
