//! One dispatch of a cut: what it binds, and what the shader reads of it.

use bytemuck::Zeroable;

use super::{Cut, Window};
use crate::gpu::kernel::{BadRowsTo, GROUP_ROWS, MAX_GROUPED_DEPTH, Unit, WORKGROUP_SIZE};
use crate::gpu::window::{GatherWindow, MAX_PLACE_DIMS, low_and_high, range_bytes};

/// Bytes of a vector of words.
const GROUP_ALIGNMENT: u64 = 16;

/// From so many rows on those that make no group are a dispatch of their own.
const MIN_ROWS_TO_SPLIT: u64 = 1024;

/// A dispatch of no more rows and invocations writes its report itself: each invocation counts itself in one word,
/// and the last one looks at all rows again if one is bad. A half of the word counts this far, and more.
const MAX_REPORTERS: u64 = 1024;

/// One dispatch, and the bytes of each operand that it binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) window: GatherWindow,
    /// The bytes of each slice before the part that the dispatch copies.
    pub(crate) part: u64,
    pub(crate) workgroups: (u32, u32),
    /// Invocations that gather.
    pub(crate) invocations: u64,
    /// For an entry point of groups.
    pub(crate) grouped: bool,
    /// All output rows are of one part of params, of which all rows are bound.
    pub(crate) one_part: bool,
    /// Which buffer of params.
    pub(crate) shard: usize,
    pub(crate) params: Span,
    pub(crate) indices: Span,
    pub(crate) output: Span,
}

impl Dispatch {
    /// For the report of a gather without an output: it gathers nothing.
    fn of_report_alone() -> Self {
        let nothing = Span {
            offset: 0,
            bytes: 0,
        };
        Self {
            window: GatherWindow {
                reports: 1,
                ..GatherWindow::zeroed()
            },
            part: 0,
            workgroups: (0, 0),
            invocations: 0,
            grouped: false,
            one_part: false,
            shard: 0,
            params: nothing,
            indices: nothing,
            output: nothing,
        }
    }

    /// Whether it has output rows.
    pub(crate) fn gathers(&self) -> bool {
        self.window.output_rows > 0
    }

    /// Where it writes bad rows, if there is a report.
    pub(crate) fn bad_rows_to(&self, report: bool) -> BadRowsTo {
        match (report, self.window.reporters) {
            (false, _) => BadRowsTo::Nowhere,
            (true, 0) => BadRowsTo::Notes,
            (true, _) => BadRowsTo::Report,
        }
    }

    /// Whether one of its operands has no bytes.
    pub(crate) fn binds_nothing(&self) -> bool {
        self.params.bytes == 0 || self.indices.bytes == 0
    }
}

/// Bytes of an operand, from its start: an aligned offset and whole words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Cut<'_> {
    /// The dispatches of the plan, of which the first that reports begins the report, if there is one, and a small one
    /// that is alone writes it itself.
    pub(crate) fn dispatches_with(&self, report: bool) -> impl Iterator<Item = Dispatch> {
        let is_only = report && self.can_report_itself() && self.dispatches().take(2).count() == 1;
        let is_empty = report && self.dims.output_len() == 0;
        let report_alone = is_empty.then(Dispatch::of_report_alone);
        let mut begun = !report;
        self.dispatches()
            .chain(report_alone)
            .map(move |mut dispatch| {
                if !begun && dispatch.window.reports == 1 {
                    dispatch.window.begins_report = 1;
                    begun = true;
                    let rows = u64::from(dispatch.window.output_rows);
                    if is_only && rows.max(dispatch.invocations) <= MAX_REPORTERS {
                        dispatch.window.reporters = size(dispatch.invocations);
                    }
                }
                dispatch
            })
    }

    /// The dispatches of a window: of its groups of rows, if it has some, and of the other rows.
    pub(crate) fn dispatches_of(&self, window: Window) -> impl Iterator<Item = Dispatch> {
        let (start, end) = window.output_rows;
        let groups_end = if self.is_grouped(window) {
            end - (end - start) % GROUP_ROWS
        } else {
            start
        };
        let rest = (groups_end < end).then(|| {
            // Of params from the first part that is left.
            let first_row = groups_end / self.dims.index_count * self.dims.held_rows;
            let (row, row_end) = window.params_rows;
            Window {
                output_rows: (groups_end, end),
                params_rows: (row.max(first_row), row_end),
                ..window
            }
        });
        let groups = (start < groups_end).then_some(Window {
            output_rows: (start, groups_end),
            ..window
        });
        let groups = groups.map(|window| self.dispatch(window, true));
        groups
            .into_iter()
            .chain(rest.map(|window| self.dispatch(window, false)))
    }

    /// Whether entry points of groups can do these rows: numbers of one word, all params rows of their parts
    /// bound, and groups that start with a vector of each operand, have one part each and lie along one place dim.
    fn is_grouped(&self, window: Window) -> bool {
        let dims = self.dims;
        let ((start, end), (row, row_end)) = (window.output_rows, window.params_rows);
        let rows = end - start;
        let (part, last_part) = (start / dims.index_count, (end - 1) / dims.index_count);
        let starts_with_vectors = |start: u64, row_bytes: u64| {
            (start * row_bytes % self.alignment).is_multiple_of(GROUP_ALIGNMENT)
        };
        let first_index_row = part / dims.outer_size * dims.index_count
            + if part == last_part {
                start % dims.index_count
            } else {
                0
            };
        self.kernel.groups > 0
            && !self.counted
            && self.is_whole()
            && !self.is_wide()
            && (1..=MAX_GROUPED_DEPTH).contains(&dims.index_depth())
            // Another dispatch for the rows that are left must be worth it.
            && rows >= GROUP_ROWS
            && (rows.is_multiple_of(GROUP_ROWS) || rows >= MIN_ROWS_TO_SPLIT)
            && row_end - row == (last_part + 1 - part) * dims.held_rows.max(1)
            && (part == last_part
                || dims.index_count.is_multiple_of(GROUP_ROWS)
                    && (start % dims.index_count).is_multiple_of(GROUP_ROWS))
            && match &dims.place_dims[..] {
                [] | [_] => true,
                [.., innermost] => {
                    innermost.size.is_multiple_of(GROUP_ROWS)
                        && (start % dims.index_count).is_multiple_of(GROUP_ROWS)
                }
            }
            && starts_with_vectors(start, self.slice_bytes)
            && starts_with_vectors(first_index_row, self.index_row_bytes)
    }

    fn dispatch(&self, window: Window, grouped: bool) -> Dispatch {
        let dims = self.dims;
        let part = window.part;
        let ((start, end), (row, row_end)) = (window.output_rows, window.params_rows);
        let (index_count, outer_size) = (dims.index_count, dims.outer_size);
        let part_bytes = self.part_bytes.min(self.slice_bytes - part);
        let (params_part, last_part) = (start / index_count, (end - 1) / index_count);
        let (batch, last_batch) = (params_part / outer_size, last_part / outer_size);

        // Within one part, or one batch, the shader needs no size to count beyond it.
        let (window_index_count, first_index, index_rows) = if params_part == last_part {
            let first = batch * index_count + start % index_count;
            (u32::MAX, 0, (first, first + (end - start)))
        } else {
            let index_rows = (batch * index_count, (last_batch + 1) * index_count);
            (size(index_count), size(start % index_count), index_rows)
        };
        let outer = params_part % outer_size;
        let (window_outer_size, first_outer) = if batch == last_batch {
            (u32::MAX, size(outer.min(1)))
        } else {
            (size(outer_size), size(outer))
        };

        let span = |start: u64, end: u64| {
            let offset = start / self.alignment * self.alignment;
            (
                Span {
                    offset,
                    bytes: range_bytes(end - offset),
                },
                start - offset,
            )
        };
        let slices = |start: u64, end: u64| {
            let start = start * self.slice_bytes + part;
            span(start, (end - 1) * self.slice_bytes + part + part_bytes)
        };
        let (output, output_start) = slices(start, end);
        let (indices, indices_start) = span(
            index_rows.0 * self.index_row_bytes,
            index_rows.1 * self.index_row_bytes,
        );
        let (shard, (params, params_start)) = if dims.held_rows == 0 {
            (
                0,
                (
                    Span {
                        offset: 0,
                        bytes: 0,
                    },
                    0,
                ),
            )
        } else {
            let (shard, shard_row, _) = self.shard_of(row);
            (shard, slices(row - shard_row, row_end - shard_row))
        };

        let one_part =
            !self.is_wide() && params_part == last_part && row_end - row == dims.held_rows.max(1);
        let unit_bytes = self.kernel.unit.bytes();
        let rows = end - start;
        let invocations = match self.kernel.unit {
            _ if grouped => (rows / GROUP_ROWS).div_ceil(self.kernel.groups.into()),
            Unit::Byte => (output_start % 4 + rows * part_bytes).div_ceil(4),
            Unit::Vec4 | Unit::Vec2 | Unit::Word => rows << self.kernel.lanes_log2,
        };
        let workgroups = self.grid(invocations);
        let first_n = if params_part == last_part {
            // Where n counts, a batch has no more rows than this.
            u32::try_from(start % index_count).unwrap_or(u32::MAX)
        } else {
            0
        };
        let mut place_dims = [[0; 2]; MAX_PLACE_DIMS];
        for (words, dim) in place_dims.iter_mut().zip(dims.place_dims.iter().rev()) {
            *words = [size(dim.size), size(dim.stride)];
        }
        let mut indexed_dims = [[0; 2]; 8];
        for (words, &dim) in indexed_dims.iter_mut().zip(&dims.indexed_dims) {
            *words = low_and_high(dim);
        }
        Dispatch {
            window: GatherWindow {
                output_rows: size(rows),
                index_count: window_index_count,
                outer_size: window_outer_size,
                first_index,
                first_outer,
                index_depth: size(dims.index_depth() as u64),
                slice_units: size(part_bytes / unit_bytes),
                lanes_log2: self.kernel.lanes_log2,
                held_rows: low_and_high(dims.held_rows),
                first_row: low_and_high(dims.first_row),
                params_first_row: low_and_high(row - params_part * dims.held_rows.max(1)),
                params_rows: size(row_end - row),
                params_start: size(params_start / unit_bytes),
                indices_start: size(indices_start / 4),
                output_start: size(output_start / unit_bytes),
                grid_width: workgroups.0,
                reports: u32::from(part == 0),
                index_row_base: low_and_high(index_rows.0),
                groups: self.kernel.groups,
                fill_words: 0,
                fill_start: 0,
                first_n,
                index_stride: size(dims.index_stride),
                place_dim_count: size(dims.place_dims.len() as u64),
                most_output_rows: size(rows),
                of_bytes: u32::from(self.kernel.unit == Unit::Byte),
                begins_report: 0,
                reporters: 0,
                indexed_dims,
                fill: [0; 16],
                place_dims,
            },
            part,
            workgroups,
            invocations,
            grouped,
            one_part,
            shard,
            params,
            indices,
            output,
        }
    }

    /// As few rows of workgroups as the device allows, of equal width, that hold all invocations.
    fn grid(&self, invocations: u64) -> (u32, u32) {
        let workgroups = invocations.div_ceil(WORKGROUP_SIZE.into());
        let height = workgroups.div_ceil(self.max_workgroups);
        (size(workgroups.div_ceil(height)), size(height))
    }
}

/// A size within one dispatch: its bytes are counted in 32 bits, and so is all that makes them up.
fn size(size: u64) -> u32 {
    u32::try_from(size).expect("a size within one dispatch has 32 bits")
}
