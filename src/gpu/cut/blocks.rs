//! The blocks that a dispatch's output rows lie in, as the shader counts them.

use super::Cut;
use crate::gpu::types::size;

/// The blocks that a dispatch's output rows lie in. The shader counts output rows and params rows from the first block; if there
/// are several batches, from the first batch's first block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// How many output rows a block has; `u32::MAX` if there is one block.
    pub(crate) index_count: u32,
    /// How many blocks a batch has; `u32::MAX` if there is one batch.
    pub(crate) outer_size: u32,
    /// The block from which the shader counts.
    pub(crate) first_block: u64,
    /// The first output row's number.
    pub(crate) first_n: u64,
    /// The first batch's first index row, from which the shader counts.
    pub(crate) index_row_zero: u64,
    /// The bound index rows.
    pub(crate) index_rows: (u64, u64),
}

impl Cut<'_> {
    pub(super) fn blocks(&self, start: u64, end: u64) -> Blocks {
        let dims = self.dims;
        let (block, last_block) = (start / dims.index_count, (end - 1) / dims.index_count);
        let (batch, last_batch) = (block / dims.outer_size, last_block / dims.outer_size);
        let n = start % dims.index_count;
        let index_row_zero = batch * dims.batch_index_rows;
        let one_block = Blocks {
            index_count: u32::MAX,
            outer_size: u32::MAX,
            first_block: block,
            first_n: n,
            index_row_zero,
            index_rows: (index_row_zero, (last_batch + 1) * dims.batch_index_rows),
        };
        if block == last_block {
            let (first, last) = dims.index_rows_of(n, n + (end - start) - 1);
            return Blocks {
                index_rows: (index_row_zero + first, index_row_zero + last + 1),
                ..one_block
            };
        }
        let one_batch = Blocks {
            index_count: size(dims.index_count),
            ..one_block
        };
        if batch == last_batch {
            return one_batch;
        }
        let first_block = batch * dims.outer_size;
        Blocks {
            outer_size: size(dims.outer_size),
            first_block,
            first_n: (block - first_block) * dims.index_count + n,
            ..one_batch
        }
    }
}
