//! The buffer ranges in which operands lie, and their checks.

use std::ops::Range;

use super::types::{WORD_BYTES, range_bytes};
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::operand::Operand;
use crate::plan::GatherDims;

/// Some rows of params, in their own buffer range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParamsShard<'a> {
    pub(crate) rows: u64,
    pub(crate) range: wgpu::BufferSlice<'a>,
}

pub(super) fn is_written(operand: Operand) -> bool {
    matches!(
        operand,
        Operand::Output
            | Operand::Target
            | Operand::TargetShard(_)
            | Operand::Report
            | Operand::Mask
    )
}

pub(super) fn check_apart(
    operand: Operand,
    with: Operand,
    range: &Range<u64>,
    other: &Range<u64>,
) -> Result<(), GatherError> {
    let (start, end) = (range.start.max(other.start), range.end.min(other.end));
    if start >= end {
        return Ok(());
    }
    Err(GatherError::Overlap {
        operand,
        with,
        start,
        end,
    })
}

pub(super) fn check_shard_rows(
    operand: Operand,
    dims: &GatherDims,
    shards: &[ParamsShard<'_>],
) -> Result<(), GatherError> {
    let expected = dims.params_rows();
    let found = shards
        .iter()
        .fold(0_u64, |rows, shard| rows.saturating_add(shard.rows));
    if found == expected {
        Ok(())
    } else {
        Err(GatherError::ShardRows {
            operand,
            expected,
            found,
        })
    }
}

pub(super) fn check_range(
    operand: Operand,
    range: wgpu::BufferSlice<'_>,
    operand_bytes: u64,
    types: ElementTypes,
    limits: &wgpu::Limits,
) -> Result<(), GatherError> {
    let alignment = match operand {
        // The shader adds the bytes from the aligned offset to the start of a range.
        Operand::Indices => word_part(types.index_kind.bytes()),
        Operand::Scales => word_part(types.scale_bytes()),
        Operand::ZeroPoints => 1,
        // Blocks start at any byte.
        Operand::Params | Operand::ParamsShard(_) if types.encoding().is_some() => 1,
        Operand::Params
        | Operand::ParamsShard(_)
        | Operand::Output
        | Operand::Target
        | Operand::TargetShard(_)
        | Operand::Updates => word_part(types.element_bytes),
        // A lane owns a word of a mask.
        Operand::Mask | Operand::Offsets | Operand::Weights => WORD_BYTES,
        _ => limits.min_storage_buffer_offset_alignment.max(WORD_BYTES),
    };
    check_placed(operand, range, operand_bytes, alignment)
}

/// As [`check_range`], for an operand that starts at any multiple of `alignment` bytes.
pub(super) fn check_placed(
    operand: Operand,
    range: wgpu::BufferSlice<'_>,
    operand_bytes: u64,
    alignment: u32,
) -> Result<(), GatherError> {
    let offset = range.offset();
    // The last word of the operand is bound whole.
    let end = range_bytes(offset.saturating_add(operand_bytes));
    let (expected, found) = (end - offset, range.size());
    if found < expected {
        return Err(GatherError::RangeTooShort {
            operand,
            expected,
            found,
        });
    }
    let (expected, found) = (wgpu::BufferUsages::STORAGE, range.buffer().usage());
    if !found.contains(expected) {
        return Err(GatherError::MissingUsage {
            operand,
            expected,
            found,
        });
    }
    if !offset.is_multiple_of(u64::from(alignment)) {
        return Err(GatherError::OffsetMisaligned {
            operand,
            offset,
            alignment,
        });
    }
    Ok(())
}

/// The largest of 1, 2 and 4 that divides the bytes of an element.
fn word_part(element_bytes: u64) -> u32 {
    1 << element_bytes
        .trailing_zeros()
        .min(WORD_BYTES.trailing_zeros())
}
