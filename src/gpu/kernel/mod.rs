//! The kernels, and the one choice among them. Pure: a function of sizes, without a device.
//!
//! [`Choice::of`] reads this table from above; the first line that fits is taken. Index rows are found `in words` where
//! [`FindRows::of_plan`] says so, and by shaders/general.wgsl elsewhere.
//!
//! | slices | output rows | index rows | kernel |
//! |---|---|---|---|
//! | 1, 2 or 4 bytes, none in two words, no gaps | whole lanes of blocks that are bound whole | of one value in words, or of two of 32 or 64 bits | `packed` |
//! | 4 bytes, as above | as above, of a gather_elements; a lane's are neighbours in the innermost dim | in words | `packed` |
//! | 4 bytes, as above | of blocks that are bound whole; three or more in a block, or of a gather_elements in the innermost dim | of one value in words | `lines` |
//! | up to 256 units | of one block, or of whole blocks of one batch or whole batches, of at least 1,024 units each, that a grid can number; the blocks are bound whole, and there are 2^15 lanes of four rows | of one value in words, or of two to four of 32 or 64 bits | `four_rows` |
//! | up to 256 units | any; of a gather_elements with units of 4 bytes in words | any | `rows` |
//! | more units | any; of a gather_elements by `general` | of one value of 32 or 64 bits, or by `general` | `long` |
//! | at least 16 bytes that are no whole units | any, with a fill that repeats in 4 bytes, without an index count | as above, not by `general` | `bytes`, four words a lane |
//! | bytes that are no whole units | any; of a gather_elements by `general` | of one value in words, or by `general` | `bytes` |
//! | decoded halves that are no whole units | any | by `general` | `halves` |
//!
//! A scatter takes `four_rows`, `rows` and `long` as a gather does, and for all other slices `word_parts`. It finds single values
//! of 32 or 64 bits in words, and elements along an axis in units of 4 bytes; others by `general`. It reduces
//! halves in units of 2 bytes.
//!
//! A unit has 16 bytes if the offsets of all slices are multiples of 16 bytes and the fill repeats in 16 bytes; else 4 bytes,
//! if all are multiples of 4. If params is decoded, units are of one value, an `f32`, or of four, only the offsets in the output
//! count, and only single values of 32 or 64 bits are found in words, for units of four.

use super::find_rows::FindRows;
use super::types::size;
pub(crate) use super::unit::Unit;
use super::update::Update;
use crate::encoding::{BlockQuantized, Decoding};
use crate::error::GatherError;
use crate::plan::GatherDims;

/// Invocations in a workgroup: the most that WebGPU guarantees; on an NVIDIA GPU, eight warps.
pub(crate) const WORKGROUP_SIZE: u32 = 256;

/// The most units in a slice that `Rows` copies, a lane each. A longer slice takes whole workgroups of `Long`.
const MAX_ROWS_UNITS: u64 = WORKGROUP_SIZE as u64;

/// How many units of a long slice a lane copies.
pub(crate) const LANE_UNITS: u32 = 4;

/// From how many rows a lane of `FourRows` copies.
pub(crate) const LANE_ROWS: u32 = 4;
/// The fewest lanes that a dispatch of `FourRows` may have.
const MIN_LANES: u64 = 1 << 15;
/// The fewest units for which a block gets its own workgroups of `FourRows`: as many as one workgroup copies.
const MIN_BLOCK_UNITS: u64 = (WORKGROUP_SIZE * LANE_ROWS) as u64;

/// The output bytes that a lane of `Packed` writes: a vector of words.
pub(crate) const LANE_BYTES: u32 = 16;
/// The fewest output rows in a line with which any four neighbours lie in at most two lines.
const MIN_LINE_ROWS: u64 = 3;
/// The fewest rows for which `Packed` and `Lines` leave the last ones, which fill no lane, to a second dispatch.
const MIN_ROWS_TO_SPLIT: u64 = 1024;

/// The most element dims of gather_elements that a uniform holds.
pub(crate) const MAX_ELEMENT_DIMS: usize = 8;

/// How a dispatch copies slices. Each kernel has its own file in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    /// Slices up to 256 units long. A lane copies one unit of one slice.
    Rows(Unit),
    /// As `Rows`, but a lane copies one unit from each of four slices.
    FourRows(Unit),
    /// Longer slices. One or more workgroups copy a slice.
    Long(Unit),
    /// Slices with 1, 2 or 4 bytes. A lane copies as many as fill 16 bytes.
    Packed { slice_bytes: u32 },
    /// Slices with 4 bytes. A lane copies four, which lie in one line or in two. A line is a block, or in a block a stretch along
    /// the innermost element dim.
    Lines,
    /// Slices with any number of bytes. A lane writes one output word, or four.
    Bytes { lane_words: u32 },
    /// Decoded slices with any number of halves. A lane writes one output word, with halves from one slice or two.
    Halves(Decoding),
    /// In a scatter, slices with any number of bytes. A lane writes what one slice has in one word of the target.
    WordParts,
}

/// The sizes that decide how to gather some output rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// How many output rows there are: at least one.
    pub(crate) rows: u64,
    /// Where the first output row is in its block, and how many output rows a block has.
    pub(crate) first_n: u64,
    pub(crate) index_count: u64,
    /// How many blocks a batch has, and how many batches there are, if all are whole and equally large; else `None`.
    pub(crate) whole_blocks: Option<[u64; 2]>,
    /// The most workgroups that a grid may have along each dim.
    pub(crate) max_grid_width: u64,
    /// True if every row that these output rows can select is bound, and params is no shard.
    pub(crate) binds_blocks: bool,
    /// The output bytes in a slice, or in the piece of it that is copied.
    pub(crate) bytes: u64,
    /// True if there are bytes between slices, in params or in the output.
    pub(crate) has_gaps: bool,
    /// How the gather decodes params, if it does.
    pub(crate) decoding: Option<Decoding>,
    /// A power of two, in bytes, that divides the offset at which each slice begins, in params and in the output; if params is
    /// decoded, only in the output.
    pub(crate) alignment: u64,
    /// Words after which the fill repeats itself.
    pub(crate) fill_words: u32,
    /// The bytes before the first index row and before the first output row, from aligned offsets on.
    pub(crate) indices_start: u64,
    pub(crate) output_start: u64,
    pub(crate) find: FindRows,
    /// In gather_elements, how many output rows are neighbours along the innermost element dim; 0 if broadcasting repeats index
    /// rows in a block.
    pub(crate) element_rows: u64,
    /// True if only the device knows how many index rows there are.
    pub(crate) is_indirect: bool,
    /// How a scatter updates; `None` for a gather.
    pub(crate) update: Option<Update>,
}

impl Sizes {
    const fn is_one_block(&self) -> bool {
        self.first_n + self.rows <= self.index_count
    }

    /// `Packed` or `Lines`, and the first rows that it copies; `None` if it copies none of them.
    fn packed(&self) -> Option<(Kernel, u64)> {
        let lane_rows = packed_rows(self.bytes)?;
        let rows = self.rows - self.rows % lane_rows;
        // A second dispatch for the rows left over pays only from some rows on.
        let is_worth = rows == self.rows || rows >= MIN_ROWS_TO_SPLIT;
        // In both, a lane owns words of the output, which a scatter only reads.
        let can_pack = self.decoding.is_none()
            && self.update.is_none()
            && !self.is_indirect
            && self.binds_blocks
            && !self.has_gaps
            && self.alignment >= self.bytes
            && self.output_start.is_multiple_of(LANE_BYTES.into());
        let kernel = if self.fills_lanes(lane_rows) {
            Kernel::Packed {
                slice_bytes: size(self.bytes),
            }
        } else if self.bytes == 4 && self.has_lines() {
            Kernel::Lines
        } else {
            return None;
        };
        (is_worth && can_pack).then_some((kernel, rows))
    }

    /// True if each lane's rows lie in one block, and the lane loads their indices as whole vectors, or narrow ones as words.
    fn fills_lanes(&self, lane_rows: u64) -> bool {
        let start_lanes =
            |rows: u64| rows.is_multiple_of(lane_rows) && self.first_n.is_multiple_of(lane_rows);
        // Lanes load narrow index values as words, and others as vectors of words.
        let loaded = if self.find.is_narrow() { 4 } else { LANE_BYTES };
        let starts_with_vectors = self.indices_start.is_multiple_of(loaded.into());
        let are_neighbours = match self.find {
            FindRows::Words { depth, .. } => depth <= 2,
            FindRows::Wrapped { .. } => true,
            // A lane copies neighbours in the innermost element dim, whose params rows are one stride apart for equal
            // indices.
            FindRows::Elements { .. } => {
                self.bytes == 4 && self.element_rows > 0 && start_lanes(self.element_rows)
            }
            FindRows::Deep | FindRows::General => false,
        };
        starts_with_vectors
            && are_neighbours
            && (self.is_one_block() || start_lanes(self.index_count))
    }

    /// True if a lane's output rows lie in one line of `Lines` or in two.
    fn has_lines(&self) -> bool {
        let line = match self.find {
            FindRows::Words { depth: 1, .. } | FindRows::Wrapped { .. } => self.index_count,
            FindRows::Elements { .. } => self.element_rows,
            _ => 0,
        };
        line >= MIN_LINE_ROWS
    }

    /// True if each lane can copy from four rows, and enough lanes are left to keep a large GPU busy.
    fn fills_lanes_of_four_rows(&self, unit: Unit) -> bool {
        let is_found_in_words = match (unit, self.update) {
            (_, Some(Update::IndexRows)) | (Unit::OneDecoded(_), _) => false,
            (Unit::FourDecoded(_), _) | (_, Some(_)) => self.find.is_one_value(),
            (Unit::Vec4 | Unit::Word | Unit::Half, None) => self.find.is_short(),
        };
        is_found_in_words
            && (self.is_one_block() || self.fills_grid_of_blocks(unit))
            && self.binds_blocks
            && self.rows / u64::from(LANE_ROWS) * (self.bytes / unit.bytes()) >= MIN_LANES
    }

    /// True if a grid can number the blocks, and each block fills its own workgroups.
    fn fills_grid_of_blocks(&self, unit: Unit) -> bool {
        let Some([outer, batches]) = self.whole_blocks else {
            return false;
        };
        let shares = Kernel::FourRows(unit).shares(self.index_count, self.bytes, 0);
        outer.max(batches).max(shares.workgroups) <= self.max_grid_width
            && are_worth_workgroups(self.index_count, self.bytes, unit)
    }

    /// True if a lane writes four output words, which may hold bytes from two slices.
    fn fills_lanes_of_four_words(&self) -> bool {
        (self.find.is_one_value() || self.find == FindRows::Wrapped { index_words: 1 })
            && self.bytes >= LANE_BYTES.into()
            && self.fill_words == 1
            && !self.is_indirect
    }
}

/// True if blocks with so many slices each fill their own workgroups of `FourRows`.
pub(crate) fn are_worth_workgroups(index_count: u64, slice_bytes: u64, unit: Unit) -> bool {
    let units = slice_bytes / unit.bytes();
    units <= MAX_ROWS_UNITS && index_count.saturating_mul(units) >= MIN_BLOCK_UNITS
}

/// How many slices of `slice_bytes` bytes a lane of `Packed` copies; `None` if it copies none of that width.
pub(crate) const fn packed_rows(slice_bytes: u64) -> Option<u64> {
    match slice_bytes {
        1 | 2 | 4 => Some(LANE_BYTES as u64 / slice_bytes),
        _ => None,
    }
}

/// How to gather some output rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    pub(crate) find: FindRows,
    /// How many output rows the kernel gathers, from the first on: all, unless `Packed` or `Lines` leaves some over.
    pub(crate) rows: u64,
}

impl Choice {
    /// Chooses for these sizes, by the table above.
    pub(crate) fn of(sizes: &Sizes) -> Self {
        let &Sizes { rows, find, .. } = sizes;
        if let Some((kernel, rows)) = sizes.packed() {
            return Self { kernel, find, rows };
        }
        let unit = match sizes.update {
            Some(update) if update.is_of_halves() => Some(Unit::Half),
            _ => Unit::of(sizes.alignment, sizes.fill_words, sizes.decoding),
        };
        let kernel = match unit {
            Some(unit) if sizes.bytes > MAX_ROWS_UNITS * unit.bytes() => Kernel::Long(unit),
            Some(unit) if sizes.fills_lanes_of_four_rows(unit) => Kernel::FourRows(unit),
            Some(unit) => Kernel::Rows(unit),
            None if sizes.update.is_some() => Kernel::WordParts,
            None => match sizes.decoding {
                Some(decoding) => Kernel::Halves(decoding),
                None if sizes.fills_lanes_of_four_words() => Kernel::Bytes { lane_words: 4 },
                None => Kernel::Bytes { lane_words: 1 },
            },
        };
        // Each way to find index rows takes a pipeline, and kernels that spend little on index rows have few.
        let has_variant = match (kernel, find) {
            // A scatter is compiled for each update too, and so for fewer ways: at most 19 pipelines an update.
            (Kernel::Rows(Unit::Word), FindRows::Elements { .. }) => true,
            (Kernel::Long(Unit::Word), _) if sizes.update.is_some() => false,
            _ if sizes.update.is_some() => find.is_one_value(),
            (Kernel::Rows(Unit::OneDecoded(_)) | Kernel::Long(Unit::OneDecoded(_)), _) => false,
            (Kernel::Long(Unit::Vec4 | Unit::Word), FindRows::Wrapped { index_words }) => {
                index_words == 1
            }
            (Kernel::Rows(Unit::FourDecoded(_)) | Kernel::Long(_), _) => find.is_one_value(),
            (Kernel::Rows(_), FindRows::Elements { .. }) => false,
            (Kernel::Rows(_), _) => true,
            (Kernel::Bytes { .. }, FindRows::Words { depth, .. }) => depth == 1,
            (Kernel::Bytes { .. }, FindRows::Wrapped { .. }) => true,
            (Kernel::FourRows(_), _) => true,
            _ => false,
        };
        let find = if has_variant { find } else { FindRows::General };
        Self { kernel, find, rows }
    }
}

impl Kernel {
    /// The unit that a lane copies; `None` if it copies other parts of slices.
    pub(crate) const fn unit(self) -> Option<Unit> {
        match self {
            Self::Rows(unit) | Self::FourRows(unit) | Self::Long(unit) => Some(unit),
            Self::Packed { .. }
            | Self::Lines
            | Self::Bytes { .. }
            | Self::Halves(_)
            | Self::WordParts => None,
        }
    }

    /// How slices are decoded, if they are.
    pub(crate) const fn decoding(self) -> Option<Decoding> {
        match (self, self.unit()) {
            (Self::Halves(decoding), _) => Some(decoding),
            (_, Some(unit)) => unit.decoding(),
            (_, None) => None,
        }
    }

    /// How quantised params holds its numbers, if slices are decoded from it.
    pub(crate) const fn block_quantized(self) -> Option<BlockQuantized> {
        match self.decoding() {
            Some(decoding) => decoding.encoding.block_quantized(),
            None => None,
        }
    }

    /// The bytes by which starts and strides in params are counted.
    pub(crate) const fn params_unit_bytes(self) -> u64 {
        match (self, self.unit()) {
            (_, Some(unit)) => unit.params_bytes(),
            (Self::Lines, _) => 4,
            _ => 1,
        }
    }

    /// The bytes by which slices, and strides in the output, are counted.
    pub(crate) const fn slice_unit_bytes(self) -> u64 {
        match (self, self.unit()) {
            (_, Some(unit)) => unit.bytes(),
            (Self::Lines, _) => 4,
            (Self::Halves(_), _) => 2,
            _ => 1,
        }
    }

    /// The bytes by which the start in the output is counted.
    pub(crate) const fn output_unit_bytes(self) -> u64 {
        match self {
            Self::Packed { .. } | Self::Lines => LANE_BYTES as u64,
            _ => self.slice_unit_bytes(),
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
            (Self::Lines, false) => "lines",
            (Self::Lines, true) => "lines_report",
            (Self::Bytes { .. }, false) => "bytes",
            (Self::Bytes { .. }, true) => "bytes_report",
            (Self::Halves(_), false) => "halves",
            (Self::Halves(_), true) => "halves_report",
            (Self::WordParts, _) => "word_parts",
        }
    }
}

/// Checks that one word can count a block's elements in gather_elements, and that it has at most [`MAX_ELEMENT_DIMS`] dims.
pub(crate) fn check_element_dims(dims: &GatherDims) -> Result<(), GatherError> {
    let rows = dims.row_count.max(dims.index_count);
    let limit = u32::MAX.into();
    if dims.has_element_dims() && rows > limit {
        return Err(GatherError::TooManyElementRows { rows, limit });
    }
    let (element_dims, limit) = (dims.element_dims.len(), MAX_ELEMENT_DIMS);
    if element_dims > limit {
        return Err(GatherError::TooManyElementDims {
            element_dims,
            limit,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
