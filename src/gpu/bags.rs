//! The passes of a sum over bags: what each binds, and which kernel it takes. Pure: a function of sizes and limits.

use bytemuck::Zeroable;

use super::bound::{BoundRange, alignment, binding_bytes, common_alignment};
use super::buffers::{Given, Table};
use super::combine::CombineRows;
use super::find_rows::FindRows;
use super::kernel::WORKGROUP_SIZE;
use super::operands::Operands;
use super::pass::{Bind, Grid, Pass, Source};
use super::shaders::{EntryPoint, binding};
use super::shares::grid;
use super::types::{TypedPlan, WORD_BYTES, low_and_high, size};
use super::uniform::{BagsUniform, GatherUniform, Quantized, index_places};
use super::unit::Unit;
use super::update::IndexRowsPass;
use crate::bags::{BLOCK_PLACES, Bags, Combine, Given as GivenOffsets};
use crate::element::ElementTypes;
use crate::encoding::{Decoding, Encoding, FloatKind};
use crate::error::{GatherError, PlanError};
use crate::operand::Operand;
use crate::plan::GatherPlan;

/// The passes over bags.
#[derive(Debug, Clone)]
pub(crate) struct Passes {
    combine: CombineRows,
    uniform: GatherUniform,
    workgroups: u64,
    max_grid_width: u64,
    params: BoundRange,
    qparams: [BoundRange; 2],
    has_zero_points: bool,
    indices: BoundRange,
    of_bags: [BoundRange; 2],
    output: BoundRange,
    /// The halves that the `f32`s are rounded to, and those `f32`s' bytes.
    narrow: Option<(FloatKind, u64)>,
    /// How many stretches may begin blocks of long bags: none if no bag is long. Their sums' bytes, and the workgroups that find them.
    stretches: u64,
    sums_bytes: u64,
    block_workgroups: u64,
    has_report: bool,
    has_index_count: bool,
    aliased: bool,
    is_empty: bool,
}

/// The decoding of rows to `f32`s before they are combined; `None` if params are `f32`s.
fn decoding(types: ElementTypes) -> Result<Option<Decoding>, GatherError> {
    match (types.encoding(), types.element_bytes()) {
        (None, 4) | (Some(Encoding::F32), _) => Ok(None),
        (None, element_bytes) => Err(GatherError::NumberBytes {
            number: "f32",
            element_bytes,
        }),
        (Some(encoding), _) => Ok(Some(Decoding {
            encoding,
            to: FloatKind::F32,
        })),
    }
}

/// The plan with the bytes of an output that has a slice for each bag.
pub(super) fn typed<'p, O, W>(
    plan: &'p GatherPlan,
    types: ElementTypes,
    bags: &Bags<O, W>,
) -> Result<TypedPlan<'p>, GatherError> {
    let mut typed = TypedPlan::new(plan, types)?;
    let (slice_len, element_bytes) = (plan.dims().slice_len, types.element_bytes());
    let elements = (bags.offsets.bags() as u64).saturating_mul(slice_len);
    let bytes = elements.checked_mul(element_bytes);
    typed.bytes.output = bytes
        .filter(|&bytes| bytes <= i64::MAX.unsigned_abs())
        .ok_or(GatherError::TooManyBytes {
            operand: Operand::Output,
            elements,
            element_bytes,
        })?;
    Ok(typed)
}

/// The plan with the output's bytes, and the caller's ranges with those of offsets and weights, after the checks of both.
pub(super) fn given<'p, 'a>(
    plan: &'p GatherPlan,
    given: &Given<'a>,
    bags: &Bags<wgpu::BufferSlice<'a>>,
) -> Result<(TypedPlan<'p>, Given<'a>), GatherError> {
    plan.check_bags()?;
    let refused = |part, expected, found| {
        Err(GatherError::Plan(PlanError::Bags {
            part,
            expected,
            found,
        }))
    };
    if let Table::Shards(shards) = given.params {
        return refused("shards", 1, shards.len() as u64);
    }
    if let Some(fill) = given.fill {
        return refused(
            "fill words",
            0,
            fill.pattern(given.types.element_bytes)?.words.into(),
        );
    }
    if given.mask.is_some() {
        let operand = Operand::Mask;
        return Err(GatherError::UnexpectedOperand { operand });
    }
    let indices = plan.dims().index_rows();
    if indices > u32::MAX.into() {
        return Err(GatherError::Plan(PlanError::TooManyElements {
            operand: Operand::Indices,
            shape: plan.indices_shape.clone(),
            limit: u32::MAX.into(),
        }));
    }
    let count = bags.offsets.bags() as u64;
    let offsets = match bags.offsets.given {
        GivenOffsets::Each { size, .. } => {
            let expected = count.saturating_mul(size as u64);
            if expected != indices {
                return refused("index rows", expected, indices);
            }
            None
        }
        GivenOffsets::Offsets {
            data,
            kind,
            len,
            has_last,
        } => {
            let bits = 8 * kind.bytes();
            if bits < 32 {
                return refused("bits in an offset on a GPU: 32 or", 64, bits);
            }
            if len < usize::from(has_last) {
                return refused("offsets, at least", 1, 0);
            }
            Some((data, (len as u64).saturating_mul(kind.bytes())))
        }
    };
    let weights = match bags.combine {
        Combine::Weighted(weights) => Some((weights, indices * u64::from(WORD_BYTES))),
        Combine::Sum | Combine::Mean | Combine::Max => None,
    };
    decoding(given.types)?;
    let typed = typed(plan, given.types, bags)?;
    let of_bags = [offsets, weights];
    Ok((typed, Given { of_bags, ..*given }))
}

impl Passes {
    /// The passes for operands that lie so.
    pub(crate) fn new<O, W>(
        typed: &TypedPlan<'_>,
        bags: &Bags<O, W>,
        placed: &Starts,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let (plan, types, dims) = (typed.plan, typed.types, typed.plan.dims());
        let decoding = decoding(types)?;
        let to = types.decoding.map_or(FloatKind::F32, |of| of.to);
        let (count, slice_bytes) = (bags.offsets.bags() as u64, dims.slice_len.saturating_mul(4));
        let alignment = alignment(limits);
        let bound = |start: u64, bytes: u64| BoundRange::of(start..start + bytes, alignment);
        let params = bound(placed.params, typed.bytes.params);
        let qparams = [0, 1].map(|at| bound(placed.qparams[at], typed.bytes.qparams[at]));
        let indices = bound(placed.indices, typed.bytes.indices);
        let output = bound(placed.output, typed.bytes.output);
        let of_bags = [0, 1].map(|at| bound(placed.of_bags[at].0, placed.of_bags[at].1));
        let narrow = (to != FloatKind::F32).then(|| (to, count.saturating_mul(slice_bytes)));
        // Each operand is bound whole.
        let bound_bytes = [params, indices, output]
            .into_iter()
            .chain(qparams)
            .chain(of_bags);
        let bound_bytes = bound_bytes.map(|of| of.bytes).fold(0, u64::max);
        let is_empty = typed.bytes.output == 0;
        let first = if narrow.is_some() { 0 } else { placed.output };
        let params_stride = typed.parts.bytes_of(dims.params_stride);
        let units_of = match decoding {
            // A slice with several rows along the last dim is decoded value by value.
            Some(of) if of.encoding.has_whole_rows() && typed.parts.len != dims.slice_len => 4,
            Some(_) => common_alignment([first, slice_bytes], 16),
            None => common_alignment([first, slice_bytes, params_stride, placed.params], 16),
        };
        let unit = Unit::of(units_of, 1, decoding.map(Decoding::of_pipeline));
        let unit = unit.expect("whole words");
        let units = slice_bytes / unit.bytes();
        let lanes = u64::from(WORKGROUP_SIZE);
        let most_places = match bags.offsets.given {
            GivenOffsets::Each { size: each, .. } => each as u64,
            GivenOffsets::Offsets { .. } => dims.index_rows(),
        };
        let stretches = match most_places > BLOCK_PLACES {
            true => dims.index_rows().div_ceil(BLOCK_PLACES),
            false => 0,
        };
        // wgpu binds no empty range, and for writing no dummy that others read.
        let sums_bytes = stretches
            .saturating_mul((units + 2).saturating_mul(unit.bytes()))
            .max(unit.bytes());
        let expected = bound_bytes
            .max(narrow.map_or(0, |(_, bytes)| bytes))
            .max(sums_bytes);
        let found = binding_bytes(limits);
        if found < expected {
            return Err(GatherError::DeviceLimit {
                name: "max_storage_buffer_binding_size",
                expected,
                found,
            });
        }
        let slots = lanes.checked_div(units).unwrap_or(1).max(1);
        let slice_workgroups = units.div_ceil(lanes).max(1);
        let max_grid_width = u64::from(limits.max_compute_workgroups_per_dimension);
        let workgroups_of = |rows: u64| rows.div_ceil(slots).saturating_mul(slice_workgroups);
        let workgroups = workgroups_of(count);
        let most = max_grid_width.saturating_mul(max_grid_width);
        let expected = workgroups.max(dims.index_rows().div_ceil(lanes));
        if expected > most.min(1 << 24) {
            return Err(GatherError::DeviceLimit {
                name: "max_compute_workgroups_per_dimension",
                expected,
                found: max_grid_width,
            });
        }
        let find = match FindRows::of_plan(plan, types.index_kind()) {
            find @ FindRows::Wrapped { .. } => find,
            // Few slices have such units.
            _ if matches!(unit, Unit::Word | Unit::OneDecoded(_)) => FindRows::General,
            find if find.is_one_value() => find,
            _ => FindRows::General,
        };
        let quantized = decoding.and_then(|of| of.encoding.block_quantized());
        let rows_of_last_dim = decoding.filter(|of| of.encoding.has_whole_rows());
        let params_unit = match quantized {
            Some(_) => typed.parts.bytes,
            None => unit.params_bytes(),
        };
        let (last_dim, last_dim_stride) = match rows_of_last_dim {
            Some(_) => (size(typed.parts.len), size(typed.parts.bytes / params_unit)),
            None => (u32::MAX, 0),
        };
        let rows = dims.params_rows();
        let uniform = (!is_empty).then(|| GatherUniform {
            rows: size(count),
            most_rows: size(count),
            units: size(units),
            workgroup_rows: size(slots),
            slice_workgroups: size(slice_workgroups),
            params_start: match quantized {
                Some(_) => 0,
                None => size(params.start / params_unit),
            },
            params_stride: match rows {
                0 | 1 => 0,
                _ => size(params_stride / params_unit),
            },
            output_start: match narrow {
                Some(_) => 0,
                None => size(output.start / unit.bytes()),
            },
            indices_start: low_and_high(index_places(indices, types.index_kind()))[0],
            index_count: u32::MAX,
            outer_size: u32::MAX,
            window_rows: size(rows.max(1)),
            held_rows: low_and_high(dims.held_rows),
            beyond: plan.bad_indices().beyond() as u32,
            fill_words: 1,
            reports: 2,
            last_dim,
            last_dim_stride,
            quantized: quantized.map_or(Quantized::zeroed(), |of| {
                Quantized::new(of, params, qparams)
            }),
            bags: BagsUniform {
                places: size(dims.index_rows()),
                weights_start: size(of_bags[1].start / 4),
                is_mean: u32::from(matches!(bags.combine, Combine::Mean)),
                ..of_offsets(bags, of_bags[0])
            },
            ..GatherUniform::of_index_rows(plan, types.index_kind())
        });
        Ok(Self {
            combine: CombineRows {
                of_blocks: false,
                unit,
                find,
                is_max: matches!(bags.combine, Combine::Max),
                is_weighted: matches!(bags.combine, Combine::Weighted(_)),
            },
            uniform: uniform.unwrap_or(GatherUniform {
                reports: 2,
                ..GatherUniform::zeroed()
            }),
            workgroups,
            max_grid_width,
            params,
            qparams,
            has_zero_points: (types.encoding()).is_some_and(|of| of.has(Operand::ZeroPoints)),
            indices,
            of_bags,
            output,
            narrow,
            stretches,
            sums_bytes,
            block_workgroups: workgroups_of(stretches),
            has_report: placed.has_report,
            has_index_count: placed.has_index_count,
            aliased: placed.aliased,
            is_empty,
        })
    }

    /// Bytes of the blocks' sums, and of the `f32`s that are rounded to halves.
    pub(crate) fn scratch(&self) -> Vec<u64> {
        let singles = self.narrow.map(|(_, bytes)| bytes);
        let all = [self.sums_bytes].into_iter().chain(singles);
        if self.is_empty {
            Vec::new()
        } else {
            all.collect()
        }
    }

    /// Calls `add` with each pass, in order.
    pub(crate) fn each<E>(&self, add: &mut impl FnMut(Pass) -> Result<(), E>) -> Result<(), E> {
        let aliased = self.aliased;
        let with_grid = |workgroups: u64, uniform: GatherUniform| {
            let grid = grid(workgroups, self.max_grid_width);
            let grid_width = grid[0];
            (
                Grid::Given(grid),
                Some(GatherUniform {
                    grid_width,
                    ..uniform
                }),
            )
        };
        let places = u64::from(self.uniform.bags.places);
        if self.has_report && (self.is_empty || places == 0) {
            let none = BoundRange::default();
            add(Pass::finish_report(Some(self.uniform), none, aliased))?;
        } else if self.has_report {
            let workgroups = places.div_ceil(WORKGROUP_SIZE.into());
            let rows = self.uniform.bags.places;
            let (grid, uniform) = with_grid(
                workgroups,
                GatherUniform {
                    rows,
                    ..self.uniform
                },
            );
            let (pass, find) = (IndexRowsPass::CountBad, self.combine.find);
            let key = EntryPoint::IndexRows { pass, find }.key(aliased);
            add(Pass::new(key, uniform, grid, |number| self.bind(number)))?;
            add(Pass::finish_report(None, self.indices, aliased))?;
        }
        if self.is_empty {
            return Ok(());
        }
        if self.stretches > 0 {
            let of_blocks = CombineRows {
                of_blocks: true,
                ..self.combine
            };
            let rows = size(self.stretches);
            let uniform = GatherUniform {
                rows,
                ..self.uniform
            };
            let (grid, uniform) = with_grid(self.block_workgroups, uniform);
            let key = EntryPoint::Bags(of_blocks).key(aliased);
            add(Pass::new(key, uniform, grid, |number| self.bind(number)))?;
        }
        let (grid, uniform) = with_grid(self.workgroups, self.uniform);
        let key = EntryPoint::Bags(self.combine).key(aliased);
        let mut pass = Pass::new(key, uniform, grid, |number| self.bind(number));
        self.count(&mut pass, add)?;
        add(pass)?;
        let Some((to, bytes)) = self.narrow else {
            return Ok(());
        };
        let start = self.output.start / 2;
        let words = (start % 2 + bytes / 4).div_ceil(2);
        let uniform = GatherUniform {
            output_start: size(start),
            units: self.uniform.units * size(self.combine.unit.bytes() / 4),
            ..self.uniform
        };
        let (grid, uniform) = with_grid(words.div_ceil(WORKGROUP_SIZE.into()), uniform);
        let key = EntryPoint::Narrow(to).key(false);
        let mut pass = Pass::new(key, uniform, grid, |number| match number {
            binding::SINGLES => Bind::whole(Source::Scratch(1), bytes),
            _ => Bind::of(Source::Slices, self.output),
        });
        self.count(&mut pass, add)?;
        add(pass)
    }

    /// With an index count, adds the pass that limits this one to it.
    fn count<E>(
        &self,
        pass: &mut Pass,
        add: &mut impl FnMut(Pass) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.has_index_count.then(|| pass.uniform.take()).flatten() {
            Some(uniform) => add(Pass::count_rows(uniform)),
            None => Ok(()),
        }
    }

    fn bind(&self, number: u32) -> Bind {
        let [scales, zero_points] = self.qparams;
        let [offsets, weights] = self.of_bags;
        match number {
            binding::PARAMS => Bind::of(Source::Table(0), self.params),
            binding::INDICES => Bind::of(Source::Indices, self.indices),
            // Scales stand for zero points that are no operand.
            binding::ZERO_POINTS if self.has_zero_points => {
                Bind::of(Source::ZeroPoints, zero_points)
            }
            binding::SCALES | binding::ZERO_POINTS => Bind::of(Source::Scales, scales),
            binding::OFFSETS => Bind::of(Source::Offsets, offsets),
            binding::WEIGHTS => Bind::of(Source::Weights, weights),
            binding::SUMS => Bind::whole(Source::Scratch(0), self.sums_bytes),
            _ => match self.narrow {
                Some((_, bytes)) => Bind::whole(Source::Scratch(1), bytes),
                None => Bind::of(Source::Slices, self.output),
            },
        }
    }
}

/// The fields about offsets; all others are 0.
fn of_offsets<O, W>(bags: &Bags<O, W>, bound: BoundRange) -> BagsUniform {
    match bags.offsets.given {
        GivenOffsets::Each { size: each, .. } => BagsUniform {
            size: size(each as u64),
            ..BagsUniform::zeroed()
        },
        GivenOffsets::Offsets { kind, len, .. } => BagsUniform {
            size: u32::MAX,
            offsets_start: size(bound.start / 4),
            offset_words: kind.words(),
            offset_sign: u32::from(kind.is_signed()) << 31,
            offsets: size(len as u64),
            ..BagsUniform::zeroed()
        },
    }
}

/// Where operands start after aligned offsets, and which options there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Starts {
    pub(crate) params: u64,
    pub(crate) qparams: [u64; 2],
    pub(crate) indices: u64,
    pub(crate) output: u64,
    /// Of offsets and weights, with their bytes.
    pub(crate) of_bags: [(u64, u64); 2],
    pub(crate) has_report: bool,
    pub(crate) has_index_count: bool,
    pub(crate) aliased: bool,
}

impl Starts {
    pub(super) fn of(operands: &Operands<'_>, given: &Given<'_>) -> Self {
        let placed = operands.placed();
        let of_bags = given
            .of_bags
            .map(|given| given.map_or((0, 0), |(range, bytes)| (operands.start(range), bytes)));
        Self {
            params: operands
                .shards
                .first()
                .map_or(0, |of| operands.start(of.range)),
            qparams: placed.qparam_starts.map(|start| start.unwrap_or(0)),
            indices: placed.indices_start,
            output: placed.output_start,
            of_bags,
            has_report: placed.has_report,
            has_index_count: placed.has_index_count,
            aliased: placed.aliased,
        }
    }
}
