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
//!
//! A scatter takes `four_rows`, `rows` and `long` as a gather does, and for all other slices `word_parts`. It finds single values
//! of 32 or 64 bits in words, and elements along an axis in units of 4 bytes; others by `general`.
//!
//! A unit has 16 bytes if the offsets of all slices are multiples of 16 bytes and the fill repeats in 16 bytes; else 4 bytes,
//! if all are multiples of 4. If params is encoded, units are of decoded values, only the offsets in the output
//! count, and only single values of 32 or 64 bits are found in words, for units of 16 bytes.

use super::find_rows::FindRows;
use super::scatter::Update;
use super::types::size;
pub(crate) use super::unit::Unit;
use crate::encoding::{BlockQuantized, Encoding};
use crate::error::GatherError;
use crate::plan::GatherDims;

/// Invocations of a workgroup: the most that WebGPU guarantees, and eight warps of an NVIDIA GPU.
pub(crate) const WORKGROUP_SIZE: u32 = 256;

/// The most units of a slice that `Rows` copies: a lane each. A longer one takes whole workgroups of `Long`.
const MAX_ROWS_UNITS: u64 = WORKGROUP_SIZE as u64;

/// Units of a long slice that a lane copies.
pub(crate) const LANE_UNITS: u32 = 4;

/// Rows from which a lane of `FourRows` copies.
pub(crate) const LANE_ROWS: u32 = 4;
/// The fewest lanes of a dispatch of `FourRows`.
const MIN_LANES: u64 = 1 << 15;
/// The fewest units of a block that are worth workgroups of `FourRows` of their own: those that one copies.
const MIN_BLOCK_UNITS: u64 = (WORKGROUP_SIZE * LANE_ROWS) as u64;

/// Bytes of the output that a lane of `Packed` writes: a vector of words.
pub(crate) const LANE_BYTES: u32 = 16;
/// The fewest output rows of a line of which four are of two lines at most.
const MIN_LINE_ROWS: u64 = 3;
/// The fewest rows that are worth a second dispatch, for the rows left over that do not fill a lane of `Packed` or `Lines`.
const MIN_ROWS_TO_SPLIT: u64 = 1024;

/// The most element dims of gather_elements that a uniform holds.
pub(crate) const MAX_ELEMENT_DIMS: usize = 8;

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
    /// Slices of 4 bytes. A lane copies four of one line or of two: a line is a block, or a stretch of a block along the
    /// innermost element dim.
    Lines,
    /// Slices of any number of bytes. A lane writes one word of the output, or four.
    Bytes { lane_words: u32 },
    /// Of a scatter: slices of any number of bytes. A lane writes the bytes that one slice has in one word of the target.
    WordParts,
}

/// The sizes that decide how some output rows are gathered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Output rows: at least one.
    pub(crate) rows: u64,
    /// The number of the first output row in its block, and output rows of a block.
    pub(crate) first_n: u64,
    pub(crate) index_count: u64,
    /// The blocks of a batch and the batches, if all are whole and all batches have as many; else `None`.
    pub(crate) whole_blocks: Option<[u64; 2]>,
    /// The most workgroups in a row, a column or the depth of a grid.
    pub(crate) max_grid_width: u64,
    /// True if every row that these output rows can select is bound, and params is no shard.
    pub(crate) binds_blocks: bool,
    /// Bytes of a slice in the output, or of the piece of it that is copied.
    pub(crate) bytes: u64,
    /// True if there are bytes between slices, in params or in the output.
    pub(crate) has_gaps: bool,
    /// The encoding of params, if the gather decodes it.
    pub(crate) encoding: Option<Encoding>,
    /// A power of two of bytes: the offsets of all slices in params and in the output are multiples of it; if params is
    /// encoded, only those in the output.
    pub(crate) alignment: u64,
    /// Words after which the fill repeats itself.
    pub(crate) fill_words: u32,
    /// The bytes before the first index row and before the first output row, from aligned offsets on.
    pub(crate) indices_start: u64,
    pub(crate) output_start: u64,
    pub(crate) find: FindRows,
    /// Output rows that are neighbours in the innermost element dim of gather_elements; 0 if broadcasting repeats index
    /// rows in a block.
    pub(crate) element_rows: u64,
    /// True if only the device knows the number of index rows.
    pub(crate) is_indirect: bool,
    /// The kind of update, if this is a scatter; `None` for a gather.
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
        // The lanes of both own words of the output, which a scatter only reads.
        let can_pack = self.encoding.is_none()
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

    /// True if the rows of each lane are of one block, and are found by whole vectors of indices, or words of narrow ones.
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

    /// True if a lane's output rows are of one line of `Lines` or of two.
    fn has_lines(&self) -> bool {
        let line = match self.find {
            FindRows::Words { depth: 1, .. } | FindRows::Wrapped { .. } => self.index_count,
            FindRows::Elements { .. } => self.element_rows,
            _ => 0,
        };
        line >= MIN_LINE_ROWS
    }

    /// True if lanes copy from four rows each, and enough of them to keep a large GPU busy are left.
    fn fills_lanes_of_four_rows(&self, unit: Unit) -> bool {
        let is_found_in_words = match (unit, self.update) {
            (_, Some(Update::IndexRows)) | (Unit::OneDecoded(_), _) => false,
            (Unit::FourDecoded(_), _) | (_, Some(_)) => self.find.is_one_value(),
            (Unit::Vec4 | Unit::Word, None) => self.find.is_short(),
        };
        is_found_in_words
            && (self.is_one_block() || self.fills_grid_of_blocks(unit))
            && self.binds_blocks
            && self.rows / u64::from(LANE_ROWS) * (self.bytes / unit.bytes()) >= MIN_LANES
    }

    /// True if a grid can number the blocks, and each of them fills workgroups of its own.
    fn fills_grid_of_blocks(&self, unit: Unit) -> bool {
        let Some([outer, batches]) = self.whole_blocks else {
            return false;
        };
        let shares = Kernel::FourRows(unit).shares(self.index_count, self.bytes, 0);
        outer.max(batches).max(shares.workgroups) <= self.max_grid_width
            && are_worth_workgroups(self.index_count, self.bytes, unit)
    }

    /// True if a lane writes four words of the output, which may hold bytes of two slices.
    fn fills_lanes_of_four_words(&self) -> bool {
        (self.find.is_one_value() || self.find == FindRows::Wrapped { index_words: 1 })
            && self.bytes >= LANE_BYTES.into()
            && self.fill_words == 1
            && !self.is_indirect
    }
}

/// True if blocks of so many slices fill workgroups of `FourRows` of their own.
pub(crate) fn are_worth_workgroups(index_count: u64, slice_bytes: u64, unit: Unit) -> bool {
    let units = slice_bytes / unit.bytes();
    units <= MAX_ROWS_UNITS && index_count.saturating_mul(units) >= MIN_BLOCK_UNITS
}

/// The slices of `slice_bytes` bytes that a lane of `Packed` copies; `None` for slices that it never copies.
pub(crate) const fn packed_rows(slice_bytes: u64) -> Option<u64> {
    match slice_bytes {
        1 | 2 | 4 => Some(LANE_BYTES as u64 / slice_bytes),
        _ => None,
    }
}

/// How some output rows are gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) kernel: Kernel,
    pub(crate) find: FindRows,
    /// The first of the output rows, which the kernel gathers: all of them, unless `Packed` or `Lines` leaves some over.
    pub(crate) rows: u64,
}

impl Choice {
    /// The choice for output rows of these sizes, by the table above.
    pub(crate) fn of(sizes: &Sizes) -> Self {
        let &Sizes { rows, find, .. } = sizes;
        if let Some((kernel, rows)) = sizes.packed() {
            return Self { kernel, find, rows };
        }
        let kernel = match Unit::of(sizes.alignment, sizes.fill_words, sizes.encoding) {
            Some(unit) if sizes.bytes > MAX_ROWS_UNITS * unit.bytes() => Kernel::Long(unit),
            Some(unit) if sizes.fills_lanes_of_four_rows(unit) => Kernel::FourRows(unit),
            Some(unit) => Kernel::Rows(unit),
            None if sizes.update.is_some() => Kernel::WordParts,
            None => Kernel::Bytes {
                lane_words: if sizes.fills_lanes_of_four_words() {
                    4
                } else {
                    1
                },
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
    /// The unit of slices; `None` if a lane copies other parts of them.
    pub(crate) const fn unit(self) -> Option<Unit> {
        match self {
            Self::Rows(unit) | Self::FourRows(unit) | Self::Long(unit) => Some(unit),
            Self::Packed { .. } | Self::Lines | Self::Bytes { .. } | Self::WordParts => None,
        }
    }

    /// The numbers of quantised params that units are decoded of.
    pub(crate) const fn block_quantized(self) -> Option<BlockQuantized> {
        match self.unit() {
            Some(unit) => match unit.encoding() {
                Some(encoding) => encoding.block_quantized(),
                None => None,
            },
            None => None,
        }
    }

    /// Bytes of the unit in which starts and strides of params are counted.
    pub(crate) const fn params_unit_bytes(self) -> u64 {
        match (self, self.unit()) {
            (_, Some(unit)) => unit.params_bytes(),
            (Self::Lines, _) => 4,
            _ => 1,
        }
    }

    /// Bytes of the unit in which slices, and strides of the output, are counted.
    pub(crate) const fn slice_unit_bytes(self) -> u64 {
        match (self, self.unit()) {
            (_, Some(unit)) => unit.bytes(),
            (Self::Lines, _) => 4,
            _ => 1,
        }
    }

    /// Bytes of the unit in which the start of the output is counted.
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
            (Self::WordParts, _) => "word_parts",
        }
    }
}

/// Checks that one word can count the elements of a block of gather_elements, in at most
/// [`MAX_ELEMENT_DIMS`] dims.
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
