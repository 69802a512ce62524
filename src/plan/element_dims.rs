//! The sizes of a gather_elements: which dims of its operands are batches, outer dims and slices, and the places of index
//! rows in the dims that are left.

use super::dims::{ElementDim, GatherDims, product};

/// The checked shapes of a gather_elements.
pub(super) struct Shapes<'a> {
    pub(super) axis: usize,
    pub(super) broadcast: bool,
    pub(super) params: &'a [usize],
    pub(super) indices: &'a [usize],
    pub(super) output: &'a [usize],
}

impl Shapes<'_> {
    /// True if one entry of indices serves all entries of a dim of params.
    fn repeats_indices(&self, dim: usize) -> bool {
        self.broadcast && dim != self.axis && self.indices[dim] == 1
    }

    /// The sizes of the formula. Leading dims that the operands share are its batches. Dims that repeat all indices are
    /// its outer dims, before the axis, or its slice, after the axis. The places of index rows cover all other dims.
    pub(super) fn dims(&self) -> GatherDims {
        let (axis, rank) = (self.axis, self.params.len());
        let shared = (0..axis).take_while(|&dim| self.params[dim] == self.indices[dim]);
        let mut batch_dims = shared.count();
        let outer = (batch_dims..axis).take_while(|&dim| self.repeats_indices(dim));
        let mut block = batch_dims + outer.count();
        // The axis repeats no indices.
        let slice = (axis..rank).rev();
        let end = rank - slice.take_while(|&dim| self.repeats_indices(dim)).count();
        if (block..end).any(|dim| self.repeats_indices(dim) && self.params[dim] != 1) {
            // Repeated index rows are numbered in one block.
            (batch_dims, block) = (0, 0);
        }
        let row_count = product(&self.params[block..end]);
        let index_count = product(&self.output[block..end]);
        let batch_index_rows = product(&self.indices[block..end]);
        // If only the axis is larger than 1, the places in a block select nothing.
        let is_one_line = row_count == self.params[axis] as u64 && index_count == batch_index_rows;
        GatherDims {
            batch_size: product(&self.params[..batch_dims]),
            outer_size: product(&self.params[batch_dims..block]),
            index_count,
            batch_index_rows,
            indexed_dims: vec![self.params[axis] as u64],
            index_stride: if is_one_line {
                1
            } else {
                product(&self.params[axis + 1..end])
            },
            element_dims: if is_one_line {
                Vec::new()
            } else {
                self.element_dims(block, end)
            },
            row_count,
            slice_len: product(&self.params[end..]),
            params_stride: product(&self.params[end..]),
            output_stride: product(&self.params[end..]),
            first_row: 0,
            held_rows: row_count,
        }
    }

    /// The dims of the index rows of a block. A dim of 1 is left out, and a dim merges with the one before it if one
    /// stride fits both, in params and in indices.
    fn element_dims(&self, block: usize, end: usize) -> Vec<ElementDim> {
        let mut element_dims = vec![ElementDim::ONE];
        for dim in block..end {
            let size = self.output[dim] as u64;
            let stride = |shape: &[usize], is_fixed: bool| match is_fixed {
                true => 0,
                false => product(&shape[dim + 1..end]),
            };
            let is_repeated = self.broadcast && self.params[dim] == 1;
            let inner = ElementDim {
                size,
                stride: stride(self.params, dim == self.axis || is_repeated),
                index_stride: stride(self.indices, self.repeats_indices(dim)),
            };
            let fits =
                |outer: u64, inner: u64| u128::from(outer) == u128::from(inner) * u128::from(size);
            match element_dims.last_mut() {
                _ if size == 1 => {}
                Some(outer) if outer.size == 1 => *outer = inner,
                Some(outer)
                    if fits(outer.stride, inner.stride)
                        && fits(outer.index_stride, inner.index_stride) =>
                {
                    let size = outer.size * size;
                    *outer = ElementDim { size, ..inner };
                }
                _ => element_dims.push(inner),
            }
        }
        element_dims
    }
}
