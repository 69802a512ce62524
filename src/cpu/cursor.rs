//! Walks the output rows in order, and knows each one's block, index row and element offset.

use crate::plan::dims::{ElementDim, GatherDims};

/// The current output row, and the stretch in which it lies. A stretch lies in one block, and its rows are one stride apart: in
/// gather_elements it is the innermost element dim, in other gathers the whole block.
pub(super) struct Cursor<'a> {
    dims: &'a GatherDims,
    pub(super) innermost: ElementDim,
    outer_dims: &'a [ElementDim],
    /// The block's first params row, counted over all blocks.
    pub(super) block_row: u64,
    /// The block's outer coordinate.
    pub(super) outer: u64,
    /// The index row at the start of the stretch, counted over all batches.
    stretch_index_row: u64,
    /// The current row's number in its block.
    n: u64,
    /// The current row's `element_offset(n)` in the formula.
    pub(super) offset: u64,
    /// Where the row is in `outer_dims`.
    coordinates: Vec<u64>,
    /// How many output rows are left in the stretch, with the current one.
    pub(super) left: u64,
}

impl<'a> Cursor<'a> {
    pub(super) fn at(dims: &'a GatherDims, output_row: u64) -> Self {
        let (block, n) = dims.block_of(output_row);
        let (batch, outer) = dims.batch_of(block);
        let whole_block = (&ElementDim::of_index_rows(dims.index_count), &[][..]);
        let (&innermost, outer_dims) = dims.element_dims.split_last().unwrap_or(whole_block);
        let mut outer_rows = n / innermost.size;
        let mut stretch_index_row = batch * dims.batch_index_rows;
        let mut coordinates = vec![0; outer_dims.len()];
        for (coordinate, dim) in coordinates.iter_mut().zip(outer_dims).rev() {
            *coordinate = outer_rows % dim.size;
            outer_rows /= dim.size;
            stretch_index_row += *coordinate * dim.index_stride;
        }
        Self {
            dims,
            innermost,
            outer_dims,
            block_row: block * dims.held_rows,
            outer,
            stretch_index_row,
            n,
            offset: dims.element_offset(n),
            coordinates,
            left: innermost.size - n % innermost.size,
        }
    }

    /// The current output row's index row, counted over all batches.
    pub(super) fn index_row(&self) -> u64 {
        let at = self.innermost.size - self.left;
        self.stretch_index_row + at * self.innermost.index_stride
    }

    /// Advances by `rows` output rows, at most `left`.
    pub(super) fn skip(&mut self, rows: usize) {
        self.n += rows as u64;
        self.offset += rows as u64 * self.innermost.stride;
        self.left -= rows as u64;
        if self.left > 0 {
            return;
        }
        self.left = self.innermost.size;
        self.offset -= self.innermost.size * self.innermost.stride;
        // At the end of a block all coordinates become 0, those of the first row of the next block.
        for (coordinate, dim) in self.coordinates.iter_mut().zip(self.outer_dims).rev() {
            *coordinate += 1;
            self.offset += dim.stride;
            self.stretch_index_row += dim.index_stride;
            if *coordinate < dim.size {
                break;
            }
            self.offset -= dim.size * dim.stride;
            self.stretch_index_row -= dim.size * dim.index_stride;
            *coordinate = 0;
        }
        if self.n == self.dims.index_count {
            self.n = 0;
            self.block_row += self.dims.held_rows;
            self.outer += 1;
            // The batch's first index row is the current one again.
            if self.outer == self.dims.outer_size {
                self.outer = 0;
                self.stretch_index_row += self.dims.batch_index_rows;
            }
        }
    }
}
