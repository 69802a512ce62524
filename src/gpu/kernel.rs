//! The kernels, the choice of one for a dispatch, and how the workgroups of the dispatch share its rows. Pure:
//! functions of sizes, without a device.

use super::types::size;
use crate::bad_indices::BadIndices;
use crate::error::GatherError;
use crate::index::IndexKind;
use crate::plan::{GatherDims, GatherPlan};

/// Invocations of a workgroup: the most that WebGPU guarantees, and eight warps of an NVIDIA GPU.
pub(crate) const WORKGROUP_SIZE: u32 = 256;

/// The most units of a slice that `Rows` copies. A longer one takes whole workgroups of `Long`.
const MAX_ROWS_UNITS: u64 = 256;

/// Units of a long slice that a workgroup copies: four for each lane.
const LONG_WORKGROUP_UNITS: u64 = 1024;

/// Rows from which a lane of `FourRows` copies.
const LANE_ROWS: u64 = 4;
/// The fewest lanes of a dispatch of `FourRows`.
const MIN_LANES: u64 = 1 << 15;

/// Bytes that a subgroup of 32 lanes loads or stores at once, in units of 16 bytes.
const SUBGROUP_BYTES: u64 = 512;

/// The largest dim, and the most params rows, that the shader counts in one word. As a word, a negative 32-bit index is
/// at least this number, and so is beyond every dim.
pub(crate) const MAX_WORD_ROWS: u64 = 1 << 31;

/// The most place dims of gather_elements that a uniform holds.
pub(crate) const MAX_PLACE_DIMS: usize = 8;

/// A unit: 16 or 4 bytes, which a lane loads or stores at once. A slice is a whole number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Vec4,
    Word,
}

impl Unit {
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Vec4 => 16,
            Self::Word => 4,
        }
    }
}

/// How a dispatch copies its slices. Each kernel has a file of entry points in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    /// Slices of up to 256 units. A lane copies one unit of one slice.
    Rows(Unit),
    /// As `Rows`, but a lane copies one unit of each of four slices.
    FourRows(Unit),
    /// Longer slices. One or more workgroups copy a slice.
    Long(Unit),
    /// Slices of 1, 2 or 4 bytes. A lane copies as many slices as fill 16 bytes.
    Packed { slice_bytes: u32 },
    /// Slices of any number of bytes. A lane writes one word of the output.
    Bytes,
}

impl Kernel {
    /// The kernel that copies pieces of `piece_bytes` bytes of slices that are not packed. `place_bits` are the bits of
    /// the bytes of a slice and of all places of slices. The fill repeats after `fill_words` words.
    pub(crate) const fn choose(place_bits: u64, piece_bytes: u64, fill_words: u32) -> Self {
        let unit = match place_bits {
            _ if place_bits.is_multiple_of(16) && 4_u32.is_multiple_of(fill_words) => Unit::Vec4,
            _ if place_bits.is_multiple_of(4) => Unit::Word,
            _ => return Self::Bytes,
        };
        if piece_bytes / unit.bytes() <= MAX_ROWS_UNITS {
            Self::Rows(unit)
        } else {
            Self::Long(unit)
        }
    }

    /// The kernel for packed slices, and the number of slices that a lane copies; `None` for slices of other sizes.
    pub(crate) const fn packed(slice_bytes: u64) -> Option<(Self, u64)> {
        let slice_bytes = match slice_bytes {
            1 => 1,
            2 => 2,
            4 => 4,
            _ => return None,
        };
        Some((Self::Packed { slice_bytes }, 16 / slice_bytes as u64))
    }

    /// Bytes of a unit of params. The start of params in its binding is counted in these units.
    pub(crate) const fn params_unit_bytes(self) -> u64 {
        match self {
            Self::Rows(unit) | Self::FourRows(unit) | Self::Long(unit) => unit.bytes(),
            Self::Packed { .. } | Self::Bytes => 1,
        }
    }

    pub(crate) const fn output_unit_bytes(self) -> u64 {
        match self {
            Self::Rows(unit) | Self::FourRows(unit) | Self::Long(unit) => unit.bytes(),
            Self::Packed { .. } => 16,
            Self::Bytes => 1,
        }
    }

    pub(crate) const fn name(self, report: bool) -> &'static str {
        match (self, report) {
            (Self::Rows(_), false) => "rows",
            (Self::Rows(_), true) => "rows_report",
            (Self::FourRows(_), false) => "four_rows",
            (Self::FourRows(_), true) => "four_rows_report",
            (Self::Long(_), false) => "long",
            (Self::Long(_), true) => "long_report",
            (Self::Packed { .. }, false) => "packed",
            (Self::Packed { .. }, true) => "packed_report",
            (Self::Bytes, false) => "bytes",
            (Self::Bytes, true) => "bytes_report",
        }
    }

    /// The kernel for `rows` slices of one block whose params rows are all bound: `FourRows` instead of `Rows` if
    /// enough lanes are left to keep a large GPU busy.
    pub(crate) const fn for_one_block(self, rows: u64, bytes: u64) -> Self {
        match self {
            Self::Rows(unit) if rows / LANE_ROWS * (bytes / unit.bytes()) >= MIN_LANES => {
                Self::FourRows(unit)
            }
            other => other,
        }
    }

    /// Rows from which a lane of `Rows` or `FourRows` copies one unit each.
    pub(crate) const fn lane_rows(self) -> u64 {
        match self {
            Self::FourRows(_) => LANE_ROWS,
            _ => 1,
        }
    }

    /// How workgroups share `rows` slices, or pieces of slices, of `bytes` bytes each. In the output they end
    /// `output_bytes` bytes after the start of the first one's word.
    pub(crate) fn shares(self, rows: u64, bytes: u64, output_bytes: u64) -> Shares {
        let units = bytes / self.params_unit_bytes();
        let lanes = |lanes: u64| Shares {
            slots: 0,
            workgroups: lanes.div_ceil(WORKGROUP_SIZE.into()),
            ..Shares::ONE
        };
        match self {
            Self::Rows(_) => Shares::of_slots(u64::from(WORKGROUP_SIZE) / units, 0, rows),
            Self::FourRows(_) => {
                let step = 1 << (SUBGROUP_BYTES / bytes).max(1).ilog2();
                let slots = u64::from(WORKGROUP_SIZE) / units / step * step;
                Shares::of_slots(slots, step, rows)
            }
            Self::Long(_) => {
                let slice_workgroups = units.div_ceil(LONG_WORKGROUP_UNITS);
                Shares {
                    slice_workgroups,
                    workgroups: rows * slice_workgroups,
                    ..Shares::ONE
                }
            }
            Self::Packed { .. } => lanes(output_bytes.div_ceil(16)),
            Self::Bytes => lanes(output_bytes.div_ceil(4)),
        }
    }
}

/// How the workgroups of a dispatch share its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Slices that a workgroup copies at once; 0 for `Packed` and `Bytes`.
    pub(crate) slots: u64,
    /// For `FourRows`, the distance between the rows of a lane, a power of two; else 0.
    pub(crate) row_step: u64,
    /// The number of workgroups that copy one slice: 1 for every kernel but `Long`.
    pub(crate) slice_workgroups: u64,
    pub(crate) workgroups: u64,
}

impl Shares {
    const ONE: Self = Self {
        slots: 1,
        row_step: 0,
        slice_workgroups: 1,
        workgroups: 1,
    };

    const fn of_slots(slots: u64, row_step: u64, rows: u64) -> Self {
        let lane_rows = if row_step > 0 { LANE_ROWS } else { 1 };
        Self {
            slots,
            row_step,
            workgroups: rows.div_ceil(slots * lane_rows),
            ..Self::ONE
        }
    }
}

/// The width and the height of the grid of all workgroups: as few rows as the device allows, of equal width.
pub(crate) fn grid(workgroups: u64, max_width: u64) -> (u32, u32) {
    let height = workgroups.div_ceil(max_width);
    (size(workgroups.div_ceil(height)), size(height))
}

/// How a kernel finds the row that an index row selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FindRows {
    /// Index rows of depth 1 or 2 that select among at most 2^31 rows, by indices of 32 or 64 bits that do not wrap:
    /// shaders/index_rows.wgsl and packed.wgsl.
    Words { index_words: u32, depth: u32 },
    /// All other index rows: shaders/general.wgsl.
    General,
}

impl FindRows {
    /// How `kernel` finds rows: as `self`, except that `Long` and `Bytes` find index rows of depth 2 by `General`.
    pub(crate) const fn of(self, kernel: Kernel) -> Self {
        match (self, kernel) {
            (Self::Words { depth: 2, .. }, Kernel::Long(_) | Kernel::Bytes) => Self::General,
            _ => self,
        }
    }

    pub(crate) fn choose(plan: &GatherPlan, index_kind: IndexKind) -> Self {
        let dims = plan.dims();
        let depth = dims.index_depth();
        let rows = dims.indexed_dims.iter().copied().max().unwrap_or(0);
        let rows = rows.max(dims.row_count).max(dims.params_rows());
        let wraps = plan.bad_indices() == BadIndices::Wrap;
        let is_narrow = index_kind.bytes() < 4;
        if !(1..=2).contains(&depth)
            || dims.has_places()
            || rows > MAX_WORD_ROWS
            || wraps
            || is_narrow
        {
            return Self::General;
        }
        Self::Words {
            index_words: index_kind.words(),
            depth: if depth == 1 { 1 } else { 2 },
        }
    }
}

/// Checks that the shader can count the place of an index row in its batch in one word, over at most
/// [`MAX_PLACE_DIMS`] dims.
pub(crate) fn check_places(dims: &GatherDims) -> Result<(), GatherError> {
    let rows = dims.row_count.max(dims.index_count);
    let limit = u32::MAX.into();
    if dims.has_places() && rows > limit {
        return Err(GatherError::TooManyPlaces { rows, limit });
    }
    let (place_dims, limit) = (dims.place_dims.len(), MAX_PLACE_DIMS);
    if place_dims > limit {
        return Err(GatherError::TooManyPlaceDims { place_dims, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
