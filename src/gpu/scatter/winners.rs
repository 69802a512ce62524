//! The winners of a scatter: for each row of each batch the last index row that selects it, in buffers of the prepared scatter.

use crate::error::GatherError;
use crate::gpu::bound::{BoundRange, binding_bytes};
use crate::gpu::cut::{Dispatch, Shard};
use crate::gpu::scope::scoped;
use crate::gpu::types::WORD_BYTES;
use crate::plan::GatherDims;

/// The most rows, and index rows of a batch: a word holds the number of the last index row, plus 1.
const LIMIT: u64 = u32::MAX as u64;

/// The winners of all rows, a word each, in one buffer or in several that a binding holds whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Winners {
    rows: u64,
    /// Rows of each buffer but the last.
    pub(crate) rows_of_buffer: u64,
}

impl Winners {
    pub(crate) fn new(dims: &GatherDims, limits: &wgpu::Limits) -> Result<Self, GatherError> {
        let rows = dims.batch_size.saturating_mul(dims.held_rows);
        for (counted, found, limit) in [
            ("rows of the target in all batches", rows, LIMIT),
            ("index rows of a batch", dims.batch_index_rows, LIMIT - 1),
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

    /// Rows of one buffer, where there are several; else `u64::MAX`.
    pub(crate) const fn cut_rows(&self) -> u64 {
        match self.rows > self.rows_of_buffer {
            true => self.rows_of_buffer,
            false => u64::MAX,
        }
    }

    /// The rows of each buffer.
    pub(crate) fn shards(&self) -> Vec<Shard> {
        let firsts = (0..self.rows)
            .step_by(usize::try_from(self.rows_of_buffer).expect("words of a binding"));
        let shard = |first| Shard {
            rows: self.rows_of_buffer.min(self.rows - first),
            start: 0,
        };
        firsts.map(shard).collect()
    }

    /// Makes the buffers. Their first content does not matter, as each scatter clears what it reads.
    pub(crate) fn make(&self, device: &wgpu::Device) -> Result<Vec<wgpu::Buffer>, GatherError> {
        let make = |shard: Shard| {
            scoped(device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("wgpu-gather/winners"),
                    size: shard.rows * u64::from(WORD_BYTES),
                    usage: wgpu::BufferUsages::STORAGE,
                    mapped_at_creation: false,
                })
            })
        };
        self.shards().into_iter().map(make).collect()
    }

    /// The number of the buffer that a dispatch of the scatter binds, whole, and the place in it of row 0 of the dispatch's first
    /// batch, modulo 2^32.
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
        let [low, _] = crate::gpu::types::low_and_high(start);
        (usize::try_from(buffer).expect("a few buffers"), low)
    }

    /// The whole of a buffer.
    pub(crate) fn whole(buffer: &wgpu::Buffer) -> BoundRange {
        BoundRange {
            offset: 0,
            bytes: buffer.size(),
            start: 0,
        }
    }
}
