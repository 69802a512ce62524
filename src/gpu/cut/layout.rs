//! The places of operands in their buffers.

/// Offsets at which bindings start are multiples of this many bytes: what the device needs, and whole units.
pub(crate) fn alignment(limits: &wgpu::Limits) -> u64 {
    u64::from(limits.min_storage_buffer_offset_alignment.max(16))
}

/// The places of operands in their buffers: the bytes from the last offset that can be bound to the start of each.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The params rows of each shard, and the start of the shard.
    pub(crate) shards: Vec<ShardPlace>,
    pub(crate) indices_start: u64,
    pub(crate) output_start: u64,
}

/// The rows of a shard of params, and the bytes from the last offset that can be bound to its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShardPlace {
    pub(crate) rows: u64,
    pub(crate) start: u64,
}

impl Layout {
    /// Operands at offsets that can be bound, with params in shards of these rows.
    pub(crate) fn aligned(shard_rows: &[u64]) -> Self {
        let shards = shard_rows.iter().map(|&rows| ShardPlace { rows, start: 0 });
        Self {
            shards: shards.collect(),
            indices_start: 0,
            output_start: 0,
        }
    }

    /// The bits of all starts of params and of the output.
    pub(super) fn start_bits(&self) -> u64 {
        let shards = self.shards.iter().map(|shard| shard.start);
        shards.fold(self.output_start, |bits, start| bits | start)
    }
}
