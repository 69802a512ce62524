//! Where a call's operands lie, as far as its passes depend on it. Pure.

use super::cut::{Shard, Shards};
use super::fill::FillPattern;
use crate::plan::GatherPlan;

/// Which operands a call has, and how many bytes after an aligned offset each starts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    pub(crate) shards: Shards,
    pub(crate) indices_start: u64,
    pub(crate) output_start: u64,
    /// Of scales and of zero points.
    pub(crate) qparam_starts: [Option<u64>; 2],
    pub(crate) mask_start: Option<u64>,
    pub(crate) fill: FillPattern,
    pub(crate) has_report: bool,
    pub(crate) has_index_count: bool,
    /// True if an operand that is only read shares its buffer with one that is written. wgpu does not bind one buffer for
    /// reading and for writing in one dispatch, so all operands are bound for writing.
    pub(crate) aliased: bool,
    /// As `aliased`, for the passes of the mask, which bind indices and mask only.
    pub(crate) mask_aliased: bool,
}

impl Placed {
    /// Operands at aligned offsets, params in one buffer, without options.
    pub(crate) fn aligned(plan: &GatherPlan) -> Self {
        let rows = plan.dims().params_rows();
        Self {
            shards: Shards::one(Shard { rows, start: 0 }),
            indices_start: 0,
            output_start: 0,
            qparam_starts: [None; 2],
            mask_start: None,
            fill: FillPattern::ZEROS,
            has_report: false,
            has_index_count: false,
            aliased: false,
            mask_aliased: false,
        }
    }
}
