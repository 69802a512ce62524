//! The table of kernels, the choice among them, and how the workgroups of a dispatch share its rows. Pure: knows sizes, not
//! devices.

use crate::element::IndexKind;
use crate::error::GatherError;
use crate::plan::GatherDims;

/// Invocations of a workgroup: eight warps of NVIDIA, and all that WebGPU guarantees.
pub(crate) const WORKGROUP_SIZE: u32 = 256;

/// A slice of more units than this has whole workgroups to itself.
const MAX_ROWS_UNITS: u64 = 256;

/// Units of a long slice that a workgroup copies: four a lane.
const LONG_WORKGROUP_UNITS: u64 = 1024;

/// Rows of a lane of `FourRows`, and the fewest lanes to do so.
const LANE_ROWS: u64 = 4;
const MIN_LANES: u64 = 1 << 15;

/// Bytes that a subgroup of 32 lanes loads or stores at once, if they are vectors.
const SUBGROUP_BYTES: u64 = 512;

/// Dims, and params rows, up to this many are counted in one word, where an index of 32 bits with a sign is told from
/// its complement.
pub(crate) const MAX_WORD_ROWS: u64 = 1 << 31;

/// Place dims that a uniform holds.
pub(crate) const MAX_PLACE_DIMS: usize = 8;

/// A lane loads and stores a unit at once. A slice is a whole number of units.
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

/// How a dispatch copies its slices: the files of entry points in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    /// Slices of up to 256 units have a lane for each.
    Rows(Unit),
    /// The same, with four slices a lane.
    FourRows(Unit),
    /// Workgroups share a slice.
    Long(Unit),
    /// Lanes take slices of this many bytes that fill 16 bytes together.
    Packed { slice_bytes: u32 },
    /// Lanes own words of the output.
    Bytes,
}

impl Kernel {
    /// The kernel for slices that are not packed, or pieces of them. A fill repeats itself after `fill_words` words.
    pub(crate) const fn choose(slice_bytes: u64, piece_bytes: u64, fill_words: u32) -> Self {
        let unit = match slice_bytes {
            _ if slice_bytes.is_multiple_of(16) && 4_u32.is_multiple_of(fill_words) => Unit::Vec4,
            _ if slice_bytes.is_multiple_of(4) => Unit::Word,
            _ => return Self::Bytes,
        };
        if piece_bytes / unit.bytes() <= MAX_ROWS_UNITS {
            Self::Rows(unit)
        } else {
            Self::Long(unit)
        }
    }

    /// The kernel for slices that are packed, and how many of them a lane takes; none for slices of other sizes.
    pub(crate) const fn packed(slice_bytes: u64) -> Option<(Self, u64)> {
        let slice_bytes = match slice_bytes {
            1 => 1,
            2 => 2,
            4 => 4,
            _ => return None,
        };
        Some((Self::Packed { slice_bytes }, 16 / slice_bytes as u64))
    }

    /// Bytes of a unit of params, in which their start in a binding is counted too.
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

    /// The kernel for so many slices that it could copy, all of one block whose params rows are bound: with four rows a lane
    /// where that leaves enough lanes to keep a large GPU busy.
    pub(crate) const fn for_one_block(self, rows: u64, bytes: u64) -> Self {
        match self {
            Self::Rows(unit) if rows / LANE_ROWS * (bytes / unit.bytes()) >= MIN_LANES => {
                Self::FourRows(unit)
            }
            other => other,
        }
    }

    /// Rows of a lane, each with one unit of it.
    pub(crate) const fn lane_rows(self) -> u64 {
        match self {
            Self::FourRows(_) => LANE_ROWS,
            _ => 1,
        }
    }

    /// How workgroups share `rows` slices, or pieces of slices, of `bytes` bytes, the first of which begins `start` bytes
    /// behind a word of the output.
    pub(crate) fn shares(self, rows: u64, bytes: u64, start: u64) -> Shares {
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
            Self::Packed { .. } => lanes((rows * bytes).div_ceil(16)),
            Self::Bytes => lanes((start + rows * bytes).div_ceil(4)),
        }
    }
}

/// How the workgroups of a dispatch share its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Slices that a workgroup copies at once; 0 if its lanes own words, or vectors, of the output instead.
    pub(crate) slots: u64,
    /// Slices from one to the next of the four of a lane, a power of two; 0 if it has one.
    pub(crate) row_step: u64,
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

/// How a kernel finds the row that an index row selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FindRows {
    /// Index rows of depth 1 or 2 select among rows that one word counts: shaders/index_rows.wgsl.
    Words { index_words: u32, depth: u32 },
    /// All else: shaders/general.wgsl.
    General,
}

impl FindRows {
    /// How `kernel` does. Only kernels of short slices have a shader for two indexed dims.
    pub(crate) const fn of(self, kernel: Kernel) -> Self {
        match (self, kernel) {
            (Self::Words { depth: 2, .. }, Kernel::Long(_) | Kernel::Bytes) => Self::General,
            _ => self,
        }
    }

    pub(crate) fn choose(dims: &GatherDims, index_kind: IndexKind) -> Self {
        let depth = dims.index_depth();
        let rows = dims.indexed_dims.iter().copied().max().unwrap_or(0);
        let rows = rows.max(dims.row_count).max(dims.params_rows());
        if !(1..=2).contains(&depth) || dims.has_places() || rows > MAX_WORD_ROWS {
            return Self::General;
        }
        Self::Words {
            index_words: index_kind.words(),
            depth: if depth == 1 { 1 } else { 2 },
        }
    }
}

/// Checks that the shader can count the place of an index row in its batch: in one word, and of so many dims.
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
