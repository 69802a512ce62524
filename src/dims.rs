//! The sizes of one gather: everything that both executors need to know of a plan, and nothing of a
//! device or of an element's width.

/// The sizes behind the one formula of this crate, in elements and rows.
///
/// ```text
/// output[b][o][n][s] = params[b][o][ row(b, n) ][s]
/// row(b, n)          = ((index_0 * dim_1 + index_1) * dim_2 + index_2) ...
///
/// b < batch_size   o < outer_size   n < index_count   s < slice_len
/// ```
///
/// where `index_k = indices[b][n][k]` and `dim_k = indexed_dims[k]`. Every field, and every product of
/// fields that is the length of an operand, is at most `i64::MAX`.
///
/// ```
/// use wgpu_gather::Gather;
///
/// let plan = Gather::new().axis(1).plan(&[5, 7, 3], &[4])?;
/// let dims = plan.dims();
/// assert_eq!((dims.outer_size, dims.row_count, dims.slice_len), (5, 7, 3));
/// assert_eq!(dims.output_len(), 5 * 4 * 3);
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GatherDims {
    /// Pairs of one part of params with one part of indices: the product of the batch dims.
    pub batch_size: u64,
    /// Params dims between the batch dims and the axis; 1 for gather_nd.
    pub outer_size: u64,
    /// Index rows in one batch.
    pub index_count: u64,
    /// The params dims that one index row selects in, outermost first; none when the index depth is 0.
    pub indexed_dims: Vec<u64>,
    /// Rows that an index row may select: the product of `indexed_dims`.
    pub row_count: u64,
    /// Elements in one row.
    pub slice_len: u64,
    /// The first row that params holds: 0, unless the plan is for a shard of params.
    pub first_row: u64,
    /// How many rows params holds, in each of its parts: all of them, unless the plan is for a shard.
    pub held_rows: u64,
}

impl GatherDims {
    /// Index values in one index row.
    #[must_use]
    pub fn index_depth(&self) -> usize {
        self.indexed_dims.len()
    }

    /// Rows of params, in all of its parts: of the shard, if the plan is for one.
    #[must_use]
    pub fn params_rows(&self) -> u64 {
        self.batch_size * self.outer_size * self.held_rows
    }

    /// Elements of params: of the shard, if the plan is for one.
    #[must_use]
    pub fn params_len(&self) -> u64 {
        self.params_rows() * self.slice_len
    }

    /// Index rows in all batches: the rows that a bad index is counted and named by.
    #[must_use]
    pub fn index_rows(&self) -> u64 {
        self.batch_size * self.index_count
    }

    /// Index values in all batches.
    #[must_use]
    pub fn indices_len(&self) -> u64 {
        self.index_rows() * self.index_depth() as u64
    }

    /// Slices of the output.
    #[must_use]
    pub fn output_rows(&self) -> u64 {
        self.batch_size * self.outer_size * self.index_count
    }

    /// Elements of the output.
    #[must_use]
    pub fn output_len(&self) -> u64 {
        self.output_rows() * self.slice_len
    }
}
