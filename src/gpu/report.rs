//! The report of the GPU, decoded to the error that the CPU returns.

use std::fmt;

use bytemuck::Zeroable;

use crate::error::{BadIndexError, GatherError};
use crate::index::IndexKind;
use crate::plan::GatherPlan;

/// The counter of bad rows: `BadRowCounter` of shaders/common.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct BadRowCounter {
    pub(crate) count: u32,
    pub(crate) first_complement: u32,
}

pub(crate) const COUNTER_BYTES: u64 = size_of::<BadRowCounter>() as u64;

/// The report: `BadRowReport` of shaders/report.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct BadRowReport {
    pub(crate) bad_row_count: [u32; 2],
    /// Ones if no row was bad, so that zeros are no report.
    pub(crate) first_bad_row: [u32; 2],
    pub(crate) index: [u32; 16],
}

pub(crate) const REPORT_BYTES: u64 = size_of::<BadRowReport>() as u64;

/// How many index rows were bad in one gather or scatter on the GPU, and which was the first.
/// [`Prepared::bad_rows`](crate::Prepared::bad_rows) reads it from the report.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BadRows {
    /// How many index rows are out of range. An index row counts once, however many slices it selects.
    pub count: usize,
    /// The first bad row, in row-major order of the index rows: the one that the CPU's error names.
    pub first: BadIndexError,
}

impl BadRows {
    /// How many bytes a report has: 80.
    pub const REPORT_BYTES: u64 = REPORT_BYTES;

    /// Reads a report that a gather by `plan` wrote; `None` if no row was bad. A wrong `index_kind` goes unnoticed and gives
    /// wrong values. Prefer [`Prepared::bad_rows`](crate::Prepared::bad_rows), which needs neither plan nor `index_kind`, and
    /// also reads the report of a scatter in its words.
    ///
    /// Read the report back with wgpu. If its buffer has the usages `STORAGE`, `COPY_SRC` and `COPY_DST`, you can also call
    /// `Tensor::<u8>::from_buffer(&gpu, report, &[80])?.download_blocking()?`. The page
    /// [errors](crate::guide::errors#bad-rows-on-a-gpu) has a whole program.
    ///
    /// # Errors
    ///
    /// [`GatherError::ReportLength`] if the report does not have [`REPORT_BYTES`](Self::REPORT_BYTES) bytes,
    /// [`GatherError::UnwrittenReport`] if it is all zeros, as before a gather has written it,
    /// [`GatherError::ForeignReport`] if no gather of this plan can have written it.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadRows, Gather, GatherError, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3], &[2])?;
    /// let read_back = [0; BadRows::REPORT_BYTES as usize]; // before the gather was submitted
    /// let bad_rows = BadRows::from_report(&plan, IndexKind::I32, &read_back);
    /// assert_eq!(bad_rows, Err(GatherError::UnwrittenReport));
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    pub fn from_report(
        plan: &GatherPlan,
        index_kind: IndexKind,
        report: &[u8],
    ) -> Result<Option<Self>, GatherError> {
        Self::read(plan, index_kind, false, report)
    }

    /// As [`from_report`](Self::from_report), for a gather or a scatter.
    pub(super) fn read(
        plan: &GatherPlan,
        index_kind: IndexKind,
        is_scatter: bool,
        report: &[u8],
    ) -> Result<Option<Self>, GatherError> {
        if report.len() as u64 != REPORT_BYTES {
            return Err(GatherError::ReportLength {
                expected: REPORT_BYTES,
                found: report.len(),
            });
        }
        let report: BadRowReport = bytemuck::pod_read_unaligned(report);
        if report == BadRowReport::zeroed() {
            return Err(GatherError::UnwrittenReport);
        }
        let [low, high] = report.first_bad_row;
        let row = wide(low, high);
        let [low, high] = report.bad_row_count;
        let count = wide(low, high);
        if (count, row) == (0, u64::MAX) {
            return Ok(None);
        }
        let index_rows = plan.dims().index_rows();
        // All bad rows are among the index rows from `row` on.
        let last = index_rows.checked_sub(count);
        if count == 0 || last.is_none_or(|last| row > last) {
            return Err(GatherError::ForeignReport {
                row,
                count,
                index_rows,
            });
        }
        let word = |k| report.index[k];
        let index = (0..plan.dims().index_depth()).map(|k| {
            match (index_kind.words() == 2, index_kind.is_signed()) {
                (false, true) => i128::from(word(k).cast_signed()),
                (false, false) => i128::from(word(k)),
                (true, true) => i128::from(wide(word(2 * k), word(2 * k + 1)).cast_signed()),
                (true, false) => i128::from(wide(word(2 * k), word(2 * k + 1))),
            }
        });
        let mut first = plan.bad_index(row, index.collect());
        if is_scatter {
            first = first.of_scatter();
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(Some(Self { count, first }))
    }
}

/// For instance `2 bad rows, the first: indices[1] = 3 is not in [0, 3)`.
impl fmt::Display for BadRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "1 bad row: {}", self.first),
            count => write!(f, "{count} bad rows, the first: {}", self.first),
        }
    }
}

fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) << u32::BITS | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gather;

    #[test]
    fn bad_rows_are_printed_as_their_number_and_the_first() {
        let plan = Gather::new().plan(&[3], &[4]).expect("a valid shape");
        let printed = |count| {
            let mut report = BadRowReport::zeroed();
            (report.bad_row_count, report.first_bad_row) = ([count, 0], [1, 0]);
            report.index[0] = 3;
            let report = bytemuck::bytes_of(&report);
            let bad_rows = BadRows::read(&plan, IndexKind::I32, false, report);
            bad_rows.expect("a report").expect("bad rows").to_string()
        };
        assert_eq!(printed(1), "1 bad row: indices[1] = 3 is not in [0, 3)");
        let two = "2 bad rows, the first: indices[1] = 3 is not in [0, 3)";
        assert_eq!(printed(2), two);
    }
}
