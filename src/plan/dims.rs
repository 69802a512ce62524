//! The sizes from which both executors work. They depend on no device and no element width.

/// The sizes in the formula, in elements and rows.
///
/// ```text
/// output[b][o][n][s] = params[b][o][ row(b, n) ][s]
/// row(b, n)          = ((index_0 * dim_1 + index_1) * dim_2 + index_2) ...    gather, gather_nd
///                    = index_0 * index_stride + element_offset(n)                      gather_elements
///
/// b < batch_size   o < outer_size   n < index_count   s < slice_len
/// ```
///
/// where `index_k = indices[b][n][k]` and `dim_k = indexed_dims[k]`. `element_offset(n)` is the sum of the coordinates of n in
/// `element_dims`, each times its stride. Every field is at most `i64::MAX`, and so is every product of fields that is
/// the length of an operand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GatherDims {
    /// How many batches there are: the product of the batch dims; in gather_elements, of the leading dims before the axis that
    /// params and indices share.
    pub(crate) batch_size: u64,
    /// The product of the params dims between the batch dims and the axis; in gather_elements, of those for which broadcasting
    /// repeats a batch's indices.
    pub(crate) outer_size: u64,
    /// Output rows in one block: one for each index row in its batch, unless broadcasting repeats index rows in it.
    pub(crate) index_count: u64,
    /// Index rows in one batch: `index_count`, or fewer if broadcasting repeats them. There is then one block.
    pub(crate) batch_index_rows: u64,
    /// The params dims in which an index row's values select, outermost first; empty if the index depth is 0.
    pub(crate) indexed_dims: Vec<u64>,
    /// How many rows apart neighbours in the indexed dim are: 1, except in gather_elements.
    pub(crate) index_stride: u64,
    /// The dims in which a block's output rows are laid out, outermost first; neighbours are merged if one stride fits both.
    /// Empty in gather and gather_nd, and in gather_elements if the axis is 0 or no other params dim in the block is larger than
    /// 1.
    pub(crate) element_dims: Vec<ElementDim>,
    /// How many rows a block has in all shards together: the product of `indexed_dims`; in gather_elements, of all params dims
    /// after the batch dims.
    pub(crate) row_count: u64,
    /// Elements in a row, and so in a slice.
    pub(crate) slice_len: u64,
    /// How many elements apart params rows start: `slice_len`, unless the caller gives more.
    pub(crate) params_stride: u64,
    /// How many elements apart output rows start.
    pub(crate) output_stride: u64,
    /// The first row that params holds in each block: 0, unless the plan is a shard.
    pub(crate) first_row: u64,
    /// How many rows params holds in each block: `row_count`, unless the plan is a shard.
    pub(crate) held_rows: u64,
}

/// A dim in which gather_elements lays out output rows, or several neighbouring dims merged into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ElementDim {
    /// Number of coordinates.
    pub(crate) size: u64,
    /// How many params rows apart coordinates are: 0 for the axis, and if broadcasting repeats params.
    pub(crate) stride: u64,
    /// How many index rows apart coordinates are: 0 if broadcasting repeats indices.
    pub(crate) index_stride: u64,
}

impl ElementDim {
    pub(super) const ONE: Self = Self::of_index_rows(1);

    /// The dim in which `size` index rows follow each other, and coordinates add no params rows.
    pub(crate) const fn of_index_rows(size: u64) -> Self {
        Self {
            size,
            stride: 0,
            index_stride: 1,
        }
    }
}

impl GatherDims {
    /// For gather and gather_nd. Gather is gather_nd with one value in each index row. The axis comes after the batch dims.
    pub(super) fn of_slices(
        params_shape: &[usize],
        index_rows_shape: &[usize],
        batch_dims: usize,
        axis: usize,
        index_depth: usize,
    ) -> Self {
        let (outer, inner) = params_shape.split_at(axis);
        let (indexed, slice) = inner.split_at(index_depth);
        let row_count = product(indexed);
        Self {
            batch_size: product(&outer[..batch_dims]),
            outer_size: product(&outer[batch_dims..]),
            index_count: product(&index_rows_shape[batch_dims..]),
            batch_index_rows: product(&index_rows_shape[batch_dims..]),
            indexed_dims: indexed.iter().map(|&dim| dim as u64).collect(),
            index_stride: 1,
            element_dims: Vec::new(),
            row_count,
            slice_len: product(slice),
            params_stride: product(slice),
            output_stride: product(slice),
            first_row: 0,
            held_rows: row_count,
        }
    }

    /// The number of the block in which an output row lies, and the row's number in that block.
    #[inline]
    pub(crate) fn block_of(&self, output_row: u64) -> (u64, u64) {
        divided(output_row, self.index_count)
    }

    /// The number of the batch in which a block lies, and the block's number in that batch: its outer coordinate.
    #[inline]
    pub(crate) fn batch_of(&self, block: u64) -> (u64, u64) {
        divided(block, self.outer_size)
    }

    /// Index values in one index row.
    pub(crate) fn index_depth(&self) -> usize {
        self.indexed_dims.len()
    }

    /// True in a gather_elements whose row depends on where the index is, not only on its value.
    pub(crate) fn has_element_dims(&self) -> bool {
        !self.element_dims.is_empty()
    }

    /// True if params has the plan's shape: it is no shard, and has no gaps between its rows.
    #[cfg(any(feature = "gpu", feature = "ndarray"))]
    pub(crate) fn params_are_whole(&self) -> bool {
        self.held_rows == self.row_count && self.params_stride == self.slice_len
    }

    /// True if broadcasting repeats index rows in a block.
    #[cfg(feature = "gpu")]
    pub(crate) fn repeats_index_rows(&self) -> bool {
        self.index_count != self.batch_index_rows
    }

    /// The formula's `element_offset(n)`: how many params rows are added to the one that an index selects.
    #[inline]
    pub(crate) fn element_offset(&self, mut n: u64) -> u64 {
        let mut offset = 0;
        for dim in self.element_dims.iter().rev() {
            offset += n % dim.size * dim.stride;
            n /= dim.size;
        }
        offset
    }

    /// The first and the last index row, counted in their batch, that output rows `first..=last` of a block read.
    #[cfg(feature = "gpu")]
    pub(crate) fn index_rows_of(&self, mut first: u64, mut last: u64) -> (u64, u64) {
        if !self.repeats_index_rows() {
            return (first, last);
        }
        // From the innermost dim out. If the coordinates in a dim differ, rows between the two may have any coordinates in
        // the dims further in, whose last index row is `all`.
        let (mut low, mut high, mut all) = (0, 0, 0);
        for dim in self.element_dims.iter().rev() {
            let (a, b) = (first % dim.size, last % dim.size);
            (first, last) = (first / dim.size, last / dim.size);
            if a == b {
                (low, high) = (low + a * dim.index_stride, high + b * dim.index_stride);
            } else {
                (low, high) = (a * dim.index_stride, all + b * dim.index_stride);
            }
            all += (dim.size - 1) * dim.index_stride;
        }
        (low, high)
    }

    /// How many rows params has in all blocks; a shard has only its own.
    pub(crate) fn params_rows(&self) -> u64 {
        self.batch_size * self.outer_size * self.held_rows
    }

    /// How many elements params has, to the end of its last slice; a shard has only its own.
    pub(crate) fn params_len(&self) -> u64 {
        spanned(self.params_rows(), self.params_stride, self.slice_len)
    }

    /// How many elements params has, with the gap after the last row too.
    pub(crate) fn params_len_with_gap(&self) -> u64 {
        self.params_rows() * self.params_stride
    }

    /// Index rows in all batches. Bad rows are counted and numbered among them.
    pub(crate) fn index_rows(&self) -> u64 {
        self.batch_size * self.batch_index_rows
    }

    /// Index values in all batches.
    pub(crate) fn indices_len(&self) -> u64 {
        self.index_rows() * self.index_depth() as u64
    }

    /// Output rows in all blocks, each of which holds one slice.
    pub(crate) fn output_rows(&self) -> u64 {
        self.batch_size * self.outer_size * self.index_count
    }

    /// How many elements the output has, to the end of its last slice.
    pub(crate) fn output_len(&self) -> u64 {
        spanned(self.output_rows(), self.output_stride, self.slice_len)
    }

    /// How many elements the output has, with the gap after the last slice.
    pub(crate) fn output_len_with_gap(&self) -> u64 {
        self.output_rows() * self.output_stride
    }
}

/// The quotient and the remainder of `number` by `by`. If `number` is less, nothing is divided: a gather of one row takes 38 ns,
/// and 4 ns more with divisions.
#[inline]
fn divided(number: u64, by: u64) -> (u64, u64) {
    match number < by {
        true => (0, number),
        false => (number / by, number % by),
    }
}

/// How many elements or bytes `rows` slices take, from the first one's start to the last one's end; 0 if slices have none.
pub(crate) fn spanned(rows: u64, stride: u64, slice: u64) -> u64 {
    if rows == 0 || slice == 0 {
        return 0;
    }
    (rows - 1).saturating_mul(stride).saturating_add(slice)
}

/// The product of dims that `check_element_counts` has passed.
pub(super) fn product(dims: &[usize]) -> u64 {
    dims.iter().map(|&dim| dim as u64).product()
}

#[cfg(test)]
mod tests {
    use super::{ElementDim, GatherDims, spanned};
    use crate::GatherElements;

    /// Sums `n`'s coordinate times a stride over all dims, the innermost last.
    fn place(dims: &GatherDims, n: u64, stride: impl Fn(&ElementDim) -> u64) -> u64 {
        let inner =
            |k: usize| -> u64 { dims.element_dims[k + 1..].iter().map(|d| d.size).product() };
        let each = dims.element_dims.iter().enumerate();
        each.map(|(k, dim)| n / inner(k) % dim.size * stride(dim))
            .sum()
    }

    fn broadcast(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> GatherDims {
        let elements = GatherElements::new().axis(axis).broadcast(true);
        let plan = elements.plan(params_shape, indices_shape);
        plan.expect("valid shapes").dims().clone()
    }

    fn all() -> [GatherDims; 4] {
        [
            broadcast(0, &[7, 3, 4], &[5, 3, 4]),
            broadcast(0, &[7, 3, 4], &[5, 1, 4]),
            broadcast(1, &[3, 7, 4, 2], &[1, 5, 1, 2]),
            broadcast(3, &[2, 3, 2, 7], &[1, 3, 1, 5]),
        ]
    }

    #[test]
    fn an_element_offset_is_a_sum_over_coordinates() {
        assert!(!broadcast(1, &[2, 3], &[2, 5]).has_element_dims());
        for dims in all() {
            assert!(dims.has_element_dims());
            for n in 0..dims.index_count {
                assert_eq!(dims.element_offset(n), place(&dims, n, |dim| dim.stride));
            }
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn params_of_a_shard_or_with_gaps_are_not_whole() {
        let plan = crate::Gather::new().plan(&[4, 3], &[2]);
        let plan = plan.expect("valid shapes");
        let are_whole = |plan: &crate::GatherPlan| plan.dims().params_are_whole();
        let gaps = |stride| plan.with_params_stride(stride).expect("a longer stride");
        assert!(are_whole(&plan) && are_whole(&gaps(3)));
        let shard = plan.shard(1..3).expect("rows of params");
        assert!(!are_whole(&shard) && !are_whole(&gaps(4)));
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn repeated_index_rows_lie_between_the_first_and_last() {
        for dims in all() {
            let row = |n| match dims.repeats_index_rows() {
                true => place(&dims, n, |dim| dim.index_stride),
                false => n,
            };
            for first in 0..dims.index_count {
                assert_eq!(dims.index_rows_of(first, first), (row(first), row(first)));
                for last in first..dims.index_count {
                    let (low, high) = dims.index_rows_of(first, last);
                    assert!((first..=last).all(|n| (low..=high).contains(&row(n))));
                    assert!(high < dims.batch_index_rows, "{first} to {last}");
                }
            }
            let last = dims.index_count - 1;
            assert_eq!(dims.index_rows_of(0, last), (0, dims.batch_index_rows - 1));
        }
        assert_eq!(
            all().map(|dims| dims.repeats_index_rows()),
            [false, true, true, true]
        );
    }

    #[test]
    fn a_span_ends_with_the_last_slice() {
        assert_eq!((spanned(0, 5, 3), spanned(2, 5, 0)), (0, 0));
        assert_eq!((spanned(1, 5, 3), spanned(3, 5, 3)), (3, 13));
    }
}
