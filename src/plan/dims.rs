//! The sizes of one gather: everything that both executors need to know of a plan, and nothing of a
//! device or of an element's width.

/// The sizes behind the one formula of this crate, in elements and rows.
///
/// ```text
/// output[b][o][n][s] = params[b][o][ row(b, n) ][s]
/// row(b, n)          = ((index_0 * dim_1 + index_1) * dim_2 + index_2) ...    gather, gather_nd
///                    = index_0 * index_stride + place(n)                      gather_elements
///
/// b < batch_size   o < outer_size   n < index_count   s < slice_len
/// ```
///
/// where `index_k = indices[b][n][k]` and `dim_k = indexed_dims[k]`, and `place(n)` is the sum of the coordinates
/// that n has in `place_dims`, each times its stride. Every field, and every product of
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
    /// Batches: the product of the batch dims.
    pub batch_size: u64,
    /// Params dims between the batch dims and the axis; 1 for gather_nd.
    pub outer_size: u64,
    /// Index rows in one batch.
    pub index_count: u64,
    /// The params dims that one index row selects in, outermost first; none when the index depth is 0.
    pub indexed_dims: Vec<u64>,
    /// Rows from one position in the indexed dim to the next: 1, unless for gather_elements.
    pub index_stride: u64,
    /// The dims that the index rows of a batch are laid out in, outermost first, where that counts for what they
    /// select. None for gather and gather_nd, nor for gather_elements where all that lies behind the dims which
    /// params and indices share is the axis.
    pub place_dims: Vec<PlaceDim>,
    /// Rows that the index rows of a batch may select: the product of `indexed_dims`, and for gather_elements of
    /// the other params dims behind the batch dims too.
    pub row_count: u64,
    /// Elements in one row.
    pub slice_len: u64,
    /// The first row that params holds: 0, unless the plan is for a shard of params.
    pub first_row: u64,
    /// How many rows params holds in each of its blocks: all of them, unless the plan is for a shard.
    pub held_rows: u64,
}

/// A dim of the index rows of gather_elements, or several that are as good as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaceDim {
    /// How many coordinates there are.
    pub size: u64,
    /// Rows from what one coordinate selects from to what the next one does: 0 for the axis.
    pub stride: u64,
}

impl GatherDims {
    /// Index values in one index row.
    #[must_use]
    pub fn index_depth(&self) -> usize {
        self.indexed_dims.len()
    }

    /// Whether what an index row selects is more than its values say.
    pub(crate) fn has_places(&self) -> bool {
        !self.place_dims.is_empty()
    }

    /// Rows from the first one that index row `n` of a batch may select to the first of the batch.
    #[inline]
    pub(crate) fn place(&self, mut n: u64) -> u64 {
        let mut place = 0;
        for dim in self.place_dims.iter().rev() {
            place += n % dim.size * dim.stride;
            n /= dim.size;
        }
        place
    }

    /// Rows of params in all of its blocks: of the shard, if the plan is for one.
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
