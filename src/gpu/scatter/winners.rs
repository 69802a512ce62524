//! A row's winner is the last index row that selects it. The prepared scatter keeps one for each row in each batch, in buffers.

use crate::error::GatherError;
use crate::gpu::bound::binding_bytes;
use crate::gpu::cut::{Dispatch, Shards};
use crate::gpu::types::{WORD_BYTES, low_and_high};
use crate::plan::GatherDims;

/// The most rows, so that a word numbers them. A batch may have one index row less: a word holds an index row's number plus 1.
const LIMIT: u64 = u32::MAX as u64;

/// The winners of all rows, one word each, in one buffer or in several that each fit one binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Winners {
    rows: u64,
    /// Rows in each buffer but the last.
    pub(crate) rows_of_buffer: u64,
}

impl Winners {
    pub(crate) fn new(dims: &GatherDims, limits: &wgpu::Limits) -> Result<Self, GatherError> {
        let rows = dims.batch_size.saturating_mul(dims.held_rows);
        for (counted, found, limit) in [
            ("rows of the target in all batches", rows, LIMIT),
            ("index rows of a batch", dims.index_count, LIMIT - 1),
        ] {
            if found > limit {
                return Err(GatherError::TooManyToOrder {
                    counted,
                    found,
                    limit,
                });
            }
        }
        let bytes = binding_bytes(limits).min(limits.max_buffer_size);
        Ok(Self {
            rows,
            rows_of_buffer: (bytes / u64::from(WORD_BYTES)).max(1),
        })
    }

    /// Rows in one buffer if there are several; else `u64::MAX`.
    pub(crate) const fn cut_rows(&self) -> u64 {
        match self.rows > self.rows_of_buffer {
            true => self.rows_of_buffer,
            false => u64::MAX,
        }
    }

    /// The buffers, as shards of the plan of index rows.
    pub(crate) const fn shards(&self) -> Shards {
        Shards::Equal {
            rows: self.rows,
            each: self.rows_of_buffer,
            start: 0,
        }
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.rows * WORD_BYTES as u64
    }

    /// The bytes of a buffer.
    pub(crate) fn buffer_bytes(&self, buffer: usize) -> u64 {
        let first = buffer as u64 * self.rows_of_buffer;
        self.rows_of_buffer.min(self.rows - first) * u64::from(WORD_BYTES)
    }

    /// The bytes of each buffer.
    pub(crate) fn scratch_bytes(&self) -> Vec<u64> {
        let buffers = self.rows.div_ceil(self.rows_of_buffer);
        let buffers = usize::try_from(buffers).expect("buffers in memory");
        (0..buffers)
            .map(|buffer| self.buffer_bytes(buffer))
            .collect()
    }

    /// Which buffer a dispatch binds whole, and where row 0 of the dispatch's first batch is in it, modulo 2^32.
    pub(crate) fn of_dispatch(&self, dims: &GatherDims, dispatch: &Dispatch) -> (usize, u32) {
        let (row, _) = dispatch.params_rows;
        let block_rows = dims.held_rows;
        let batch_row = row / block_rows / dims.outer_size * block_rows + row % block_rows;
        let buffer = match self.cut_rows() {
            u64::MAX => 0,
            rows => batch_row / rows,
        };
        let first_batch = dispatch.blocks.first_block / dims.outer_size;
        let start = (first_batch * block_rows).wrapping_sub(buffer * self.rows_of_buffer);
        let [low, _] = low_and_high(start);
        (usize::try_from(buffer).expect("a few buffers"), low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gather;

    #[test]
    fn numbers_that_32_bits_do_not_hold_are_refused() {
        let winners = |rows: usize, count: usize| {
            let gather = Gather::new().batch_dims(1).axis(1);
            let plan = gather.plan(&[2, rows], &[2, count]).expect("valid shapes");
            let winners = Winners::new(plan.dims(), &wgpu::Limits::default());
            winners.map_err(|error| error.to_string())
        };
        let text = |limit: u64, counted: &str, found: u64| {
            Err(format!(
                "a scatter on a GPU must have at most {limit} {counted}, found {found}, where several indices may select a row or \
                 halves are reduced"
            ))
        };
        let all = text(
            u32::MAX.into(),
            "rows of the target in all batches",
            1 << 32,
        );
        assert_eq!(winners(1 << 31, 4), all);
        let of_batch = text((1 << 32) - 2, "index rows of a batch", (1 << 32) - 1);
        assert_eq!(winners(9, (1 << 32) - 1), of_batch);
        assert!(winners((1 << 31) - 1, (1 << 32) - 2).is_ok());
    }

    #[test]
    fn buffers_hold_all_rows_and_bindings_hold_buffers() {
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: 1024,
            ..wgpu::Limits::default()
        };
        let gather = Gather::new().batch_dims(1).axis(1);
        let plan = gather.plan(&[3, 200], &[3, 5]).expect("valid shapes");
        let winners = Winners::new(plan.dims(), &limits).expect("few rows");
        let bytes = [1024, 1024, 352].to_vec();
        assert_eq!((winners.scratch_bytes(), winners.cut_rows()), (bytes, 256));
        let all = Winners::new(plan.dims(), &wgpu::Limits::default()).expect("few rows");
        assert_eq!((all.scratch_bytes().len(), all.cut_rows()), (1, u64::MAX));
    }
}
