//! The operands of a gather, and their checks, made before wgpu sees the buffers.

use std::ops::Range;

use super::bound::alignment;
use super::buffers::{Given, Table};
use super::cut::{Shard, Shards};
use super::fill::FillPattern;
use super::pass::COUNT_BYTES;
use super::placed::Placed;
use super::ranges::{ParamsShard, check_apart, check_range, check_shard_rows, is_written};
use super::report::REPORT_BYTES;
use super::types::TypedPlan;
use crate::element::ElementTypes;
use crate::encoding::QPARAMS;
use crate::error::GatherError;
use crate::index::IndexKind;
use crate::operand::Operand;
use crate::plan::dims::spanned;

/// The operands of a gather, as its dispatches bind them.
pub(crate) struct Operands<'a> {
    pub(crate) types: ElementTypes,
    /// The shards of params: one, unless the caller gives several.
    pub(crate) shards: Vec<ParamsShard<'a>>,
    pub(crate) indices: wgpu::BufferSlice<'a>,
    pub(crate) output: wgpu::BufferSlice<'a>,
    pub(crate) report: Option<wgpu::BufferSlice<'a>>,
    /// The mask of bad rows, if the caller asks for it.
    pub(crate) mask: Option<wgpu::BufferSlice<'a>>,
    /// The number of index rows, if only the device knows it.
    pub(crate) index_count: Option<wgpu::BufferSlice<'a>>,
    /// Scales and zero points, if the types have them.
    pub(crate) qparams: [Option<wgpu::BufferSlice<'a>>; 2],
    /// Offsets and weights of bags.
    pub(crate) of_bags: [Option<wgpu::BufferSlice<'a>>; 2],
    pub(crate) fill: FillPattern,
    /// See [`Placed`].
    aliased: bool,
    mask_aliased: bool,
    /// Aligned offsets are multiples of this many bytes.
    alignment: u64,
}

impl<'a> Operands<'a> {
    /// Operands that are right by construction. Only the fill is checked.
    fn unchecked(
        buffers: &Given<'a>,
        typed: &TypedPlan<'_>,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let &Given {
            types,
            params,
            scatter: _,
            indices,
            output,
            report,
            mask,
            index_count,
            qparams,
            fill,
            of_bags,
        } = buffers;
        for (at, operand) in QPARAMS.into_iter().enumerate() {
            match (qparams[at], typed.bytes.qparams[at]) {
                (None, 1..) => return Err(GatherError::MissingOperand { operand }),
                (Some(_), _) if !types.encoding().is_some_and(|of| of.has(operand)) => {
                    return Err(GatherError::UnexpectedOperand { operand });
                }
                _ => {}
            }
        }
        let shards = match params {
            Table::Whole(range) => {
                let rows = typed.plan.dims().params_rows();
                vec![ParamsShard { rows, range }]
            }
            Table::Shards(shards) => {
                let shard = |&(rows, range): &(usize, _)| ParamsShard {
                    rows: rows as u64,
                    range,
                };
                shards.iter().map(shard).collect()
            }
        };
        let fill = fill
            .map(|fill| fill.pattern(types.element_bytes))
            .transpose()?;
        Ok(Self {
            types,
            shards,
            indices,
            output,
            report,
            mask,
            index_count,
            qparams,
            of_bags: of_bags.map(|given| given.map(|(range, _)| range)),
            fill: fill.unwrap_or(FillPattern::ZEROS),
            aliased: false,
            alignment: alignment(limits),
            mask_aliased: false,
        })
    }

    /// The operands of the passes that number a mask's true entries: the mask is `indices`, the numbers are the `output`. `Nonzero`
    /// has checked them.
    pub(crate) fn of_mask(
        [mask, numbers, count]: [wgpu::BufferSlice<'a>; 3],
        limits: &wgpu::Limits,
    ) -> Self {
        Self {
            types: ElementTypes::new(4, IndexKind::U32),
            shards: Vec::new(),
            indices: mask,
            output: numbers,
            report: None,
            mask: None,
            index_count: Some(count),
            qparams: [None; 2],
            of_bags: [None; 2],
            fill: FillPattern::ZEROS,
            aliased: false,
            mask_aliased: false,
            alignment: alignment(limits),
        }
    }

    /// The last aligned offset at or before the start of a range.
    pub(crate) fn bound_offset(&self, range: wgpu::BufferSlice<'_>) -> u64 {
        range.offset() - self.start(range)
    }

    /// The bytes from the last aligned offset to the start of a range.
    pub(crate) fn start(&self, range: wgpu::BufferSlice<'_>) -> u64 {
        range.offset() % self.alignment
    }

    /// The placement of the operands, on which the passes depend.
    pub(crate) fn placed(&self) -> Placed {
        let shard = |shard: &ParamsShard<'_>| Shard {
            rows: shard.rows,
            start: self.start(shard.range),
        };
        Placed {
            shards: Shards::new(self.shards.iter().map(shard)),
            indices_start: self.start(self.indices),
            output_start: self.start(self.output),
            qparam_starts: self
                .qparams
                .map(|range| range.map(|range| self.start(range))),
            mask_start: self.mask.map(|mask| self.start(mask)),
            fill: self.fill,
            has_report: self.report.is_some(),
            has_index_count: self.index_count.is_some(),
            aliased: self.aliased,
            mask_aliased: self.mask_aliased,
        }
    }

    /// Operands whose lengths, usages, offsets and overlaps are checked. The range of an operand without bytes is
    /// neither bound nor checked.
    pub(crate) fn checked(
        buffers: &Given<'a>,
        typed: &TypedPlan<'_>,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let mut operands = Self::unchecked(buffers, typed, limits)?;
        let mut bound: Vec<(Operand, &wgpu::Buffer, Range<u64>)> = Vec::new();
        for (operand, range, bytes) in operands.ranges(buffers, typed)? {
            if bytes == 0 {
                continue;
            }
            check_range(operand, range, bytes, operands.types, limits)?;
            let (buffer, start) = (range.buffer(), range.offset());
            let range = start..start + bytes;
            for (with, other, other_range) in &bound {
                if is_written(operand) && *other == buffer {
                    check_apart(operand, *with, &range, other_range)?;
                    match (operand, with) {
                        (Operand::Mask, _) => operands.mask_aliased |= *with == Operand::Indices,
                        // No dispatch binds an index count together with an operand that is written.
                        (_, Operand::IndexCount) => {}
                        _ => operands.aliased |= !is_written(*with),
                    }
                }
            }
            bound.push((operand, buffer, range));
        }
        Ok(operands)
    }

    /// Each operand with its range and its bytes: first the operands that are only read, then the written ones.
    fn ranges(
        &self,
        buffers: &Given<'a>,
        typed: &TypedPlan<'_>,
    ) -> Result<Vec<(Operand, wgpu::BufferSlice<'a>, u64)>, GatherError> {
        let TypedPlan {
            plan, parts, bytes, ..
        } = typed;
        let dims = plan.dims();
        let params = match buffers.params {
            Table::Shards(_) => {
                check_shard_rows(typed.named(Operand::Params), dims, &self.shards)?;
                let shards = self.shards.iter().enumerate().map(|(number, shard)| {
                    let elements = spanned(shard.rows, dims.params_stride, dims.slice_len);
                    (
                        typed.named(Operand::ParamsShard(number)),
                        shard.range,
                        parts.bytes_of(elements),
                    )
                });
                shards.collect()
            }
            Table::Whole(range) => {
                vec![(typed.named(Operand::Params), range, bytes.params)]
            }
        };
        let output = (typed.named(Operand::Output), self.output, bytes.output);
        let (mut ranges, written) = match typed.update {
            Some(_) => (vec![output], params),
            None => (params, vec![output]),
        };
        let qparams = self.qparams.into_iter().zip(QPARAMS).zip(bytes.qparams);
        ranges
            .extend(qparams.filter_map(|((range, operand), bytes)| Some((operand, range?, bytes))));
        ranges.push((Operand::Indices, self.indices, bytes.indices));
        let of_bags = [Operand::Offsets, Operand::Weights].into_iter();
        let of_bags = of_bags.zip(buffers.of_bags);
        ranges.extend(of_bags.filter_map(|(operand, given)| {
            let (range, bytes) = given?;
            Some((operand, range, bytes))
        }));
        let count = self.index_count;
        ranges.extend(count.map(|count| (Operand::IndexCount, count, COUNT_BYTES)));
        ranges.extend(written);
        let report = self.report;
        ranges.extend(report.map(|report| (Operand::Report, report, REPORT_BYTES)));
        let mask = self.mask;
        ranges.extend(mask.map(|mask| (Operand::Mask, mask, dims.index_rows())));
        Ok(ranges)
    }
}
