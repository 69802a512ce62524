//! The dispatches that write the mask: which index rows each one checks, and what it binds. Pure: a function of sizes and
//! limits.

use super::bound::{BoundRange, alignment, binding_bytes, common_alignment};
use super::kernel::WORKGROUP_SIZE;
use super::limits::Needs;
use super::pass::{Bind, Grid, Pass, Source};
use super::shaders::{EntryPoint, binding};
use super::shares::grid;
use super::types::{WORD_BYTES, range_bytes};
use super::uniform::GatherUniform;
use crate::error::GatherError;
use crate::index::IndexKind;
use crate::plan::GatherPlan;

/// How many index rows a lane checks. Each takes one byte in the mask, so the lane owns one word.
const LANE_ROWS: u64 = WORD_BYTES as u64;

/// The most index rows in a dispatch: the shader numbers them in 32 bits.
const MAX_ROWS: u64 = 1 << 31;

/// A dispatch that writes the mask for consecutive index rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaskDispatch {
    pub(crate) rows: u64,
    /// The grid in workgroups: width, height and depth.
    pub(crate) workgroups: [u32; 3],
    pub(crate) indices: BoundRange,
    pub(crate) mask: BoundRange,
}

impl MaskDispatch {
    /// The dispatches for all index rows, in order; none without index rows. All but the last check a multiple of [`LANE_ROWS`]
    /// rows, so that no two write one word. Indices and mask start `starts` bytes after aligned offsets, the mask with a word.
    pub(crate) fn all(
        plan: &GatherPlan,
        index_kind: IndexKind,
        starts: [u64; 2],
        limits: &wgpu::Limits,
    ) -> Result<Vec<Self>, GatherError> {
        let index_rows = plan.dims().index_rows();
        if index_rows == 0 {
            return Ok(Vec::new());
        }
        Needs::of(EntryPoint::OutOfRange).check(limits)?;
        let row_bytes = plan.dims().index_depth() as u64 * index_kind.bytes();
        let alignment = alignment(limits);
        let [indices_start, mask_start] = starts;
        let binding_bytes = binding_bytes(limits);
        // How many bytes a binding must hold at least for all rows, each `bytes` long, or else for any four that a lane checks.
        let least = |start: u64, bytes: u64| {
            let all_rows = index_rows.saturating_mul(bytes).saturating_add(start);
            let of_lane = LANE_ROWS * bytes;
            let before = alignment - common_alignment([start, of_lane], alignment);
            range_bytes(all_rows.min(before + of_lane))
        };
        let least = least(indices_start, row_bytes).max(least(mask_start, 1));
        if binding_bytes < least {
            return Err(GatherError::DeviceLimit {
                name: "max_storage_buffer_binding_size",
                expected: least,
                found: binding_bytes,
            });
        }
        let max_width = u64::from(limits.max_compute_workgroups_per_dimension);
        let lanes = max_width.saturating_mul(max_width);
        let lanes = lanes.saturating_mul(WORKGROUP_SIZE.into());
        let most_rows = lanes.saturating_mul(LANE_ROWS).min(MAX_ROWS);
        // How many rows of `bytes` bytes a binding holds, if the first starts `start` bytes after an aligned offset.
        let rows_in = |start: u64, bytes: u64| match bytes {
            0 => u64::MAX,
            _ => (binding_bytes - start % alignment) / bytes,
        };
        let bound = |start: u64, end: u64| BoundRange::of(start..end, alignment);
        let mut dispatches = Vec::new();
        let mut start = 0;
        while start < index_rows {
            let first_index = indices_start + start * row_bytes;
            let rows = rows_in(mask_start + start, 1).min(rows_in(first_index, row_bytes));
            let mut rows = rows.min(most_rows);
            if rows < index_rows - start {
                rows -= rows % LANE_ROWS;
            } else {
                rows = index_rows - start;
            }
            let end = start + rows;
            let workgroups = rows.div_ceil(LANE_ROWS * u64::from(WORKGROUP_SIZE));
            dispatches.push(Self {
                rows,
                workgroups: grid(workgroups, max_width),
                indices: bound(first_index, indices_start + end * row_bytes),
                mask: bound(mask_start + start, mask_start + end),
            });
            start = end;
        }
        Ok(dispatches)
    }

    pub(crate) fn pass(&self, plan: &GatherPlan, index_kind: IndexKind, aliased: bool) -> Pass {
        let bound = [self.indices, self.mask];
        let width = self.workgroups[0];
        let uniform = GatherUniform::of_mask(plan, index_kind, self.rows, width, bound);
        let key = EntryPoint::OutOfRange.key(aliased);
        let grid = Grid::Given(self.workgroups);
        Pass::new(key, Some(uniform), grid, |number| match number {
            binding::MASK => Bind::of(Source::Mask, self.mask),
            _ => Bind::of(Source::Indices, self.indices),
        })
    }
}

#[cfg(test)]
mod tests;
