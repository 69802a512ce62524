//! The caller's buffers, and every check of them that can be made before wgpu sees them.

use std::fmt;

use super::report::REPORT_BYTES;
use super::window::{OperandBytes, WORD_BYTES, range_bytes};
use crate::element::{GatherElement, GatherIndex, IndexKind};
use crate::error::{GatherError, Operand};

/// The buffer ranges of one gather, and what they hold.
///
/// Each range holds at least the bytes of its operand, row-major and little-endian, rounded up to 4 (wgpu
/// binds whole words); what lies behind them is neither read nor written, and the bytes that fill up the
/// output's last word are kept. An operand without elements may have an empty range.
///
/// A range starts at a multiple of `min_storage_buffer_offset_alignment` and its buffer has the usage
/// `STORAGE`. Output and report each need a buffer that no other operand lives in: wgpu cannot bind one
/// buffer for reading and for writing at once, not even in two places.
///
/// ```
/// use wgpu_gather::{GatherBuffers, IndexKind, wgpu};
///
/// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
/// # let buffer = |size| device.create_buffer(&wgpu::BufferDescriptor {
/// #     label: None, size, usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false,
/// # });
/// let (params, indices, output) = (buffer(400), buffer(16), buffer(64));
/// let typed = GatherBuffers::new::<f32, i32>(params.slice(..), indices.slice(..), output.slice(..));
/// let same = GatherBuffers::with_bytes(4, IndexKind::I32, params.slice(..), indices.slice(..), output.slice(..));
/// assert_eq!(typed, same);
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct GatherBuffers<'a> {
    pub(crate) element_bytes: u64,
    pub(crate) index_kind: IndexKind,
    pub(crate) params: wgpu::BufferSlice<'a>,
    pub(crate) indices: wgpu::BufferSlice<'a>,
    pub(crate) output: wgpu::BufferSlice<'a>,
    pub(crate) report: Option<wgpu::BufferSlice<'a>>,
}

impl<'a> GatherBuffers<'a> {
    /// Buffers of elements `T` and indices `I`.
    #[must_use]
    pub fn new<T: GatherElement, I: GatherIndex>(
        params: wgpu::BufferSlice<'a>,
        indices: wgpu::BufferSlice<'a>,
        output: wgpu::BufferSlice<'a>,
    ) -> Self {
        Self::with_bytes(size_of::<T>() as u64, I::KIND, params, indices, output)
    }

    /// Buffers of elements of `element_bytes` bytes each, for those who know them only at run time.
    #[must_use]
    pub fn with_bytes(
        element_bytes: u64,
        index_kind: IndexKind,
        params: wgpu::BufferSlice<'a>,
        indices: wgpu::BufferSlice<'a>,
        output: wgpu::BufferSlice<'a>,
    ) -> Self {
        Self {
            element_bytes,
            index_kind,
            params,
            indices,
            output,
            report: None,
        }
    }

    /// Has bad rows noted in `report`, of [`BadRows::REPORT_BYTES`](crate::BadRows::REPORT_BYTES) bytes, whatever
    /// the plan's policy; [`BadIndices::Error`](crate::BadIndices::Error) requires it.
    ///
    /// The buffer needs the usages `STORAGE`, `COPY_DST` (it is cleared) and whatever reading it takes.
    #[must_use]
    pub fn with_report(mut self, report: wgpu::BufferSlice<'a>) -> Self {
        self.report = Some(report);
        self
    }

    /// Checks lengths, usages, offsets and sharing. An operand without bytes is not bound, so its range may
    /// be anything.
    pub(crate) fn check(
        &self,
        bytes: &OperandBytes,
        limits: &wgpu::Limits,
        report_usage: wgpu::BufferUsages,
    ) -> Result<(), GatherError> {
        let storage = wgpu::BufferUsages::STORAGE;
        let operands = [
            Some((Operand::Params, self.params, bytes.params, storage)),
            Some((Operand::Indices, self.indices, bytes.indices, storage)),
            Some((Operand::Output, self.output, bytes.output, storage)),
            self.report
                .map(|report| (Operand::Report, report, REPORT_BYTES, report_usage)),
        ];
        let mut bound: Vec<(Operand, &wgpu::Buffer)> = Vec::with_capacity(operands.len());
        for (operand, range, bytes, usage) in operands
            .into_iter()
            .flatten()
            .filter(|&(_, _, bytes, _)| bytes > 0)
        {
            check_range(operand, range, bytes, usage, limits)?;
            for &(with, buffer) in &bound {
                if buffer == range.buffer() && operand != Operand::Indices {
                    return Err(GatherError::SharedBuffer { operand, with });
                }
            }
            bound.push((operand, range.buffer()));
        }
        Ok(())
    }
}

impl fmt::Debug for GatherBuffers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |range: wgpu::BufferSlice<'_>| range.offset()..range.offset() + range.size();
        f.debug_struct("GatherBuffers")
            .field("element_bytes", &self.element_bytes)
            .field("index_kind", &self.index_kind)
            .field("params", &range(self.params))
            .field("indices", &range(self.indices))
            .field("output", &range(self.output))
            .field("report", &self.report.map(range))
            .finish()
    }
}

fn check_range(
    operand: Operand,
    range: wgpu::BufferSlice<'_>,
    operand_bytes: u64,
    needed: wgpu::BufferUsages,
    limits: &wgpu::Limits,
) -> Result<(), GatherError> {
    let (expected, found) = (range_bytes(operand_bytes), range.size());
    if found < expected {
        return Err(GatherError::RangeTooShort {
            operand,
            expected,
            found,
        });
    }
    let found = range.buffer().usage();
    if !found.contains(needed) {
        return Err(GatherError::MissingUsage {
            operand,
            expected: needed,
            found,
        });
    }
    // A report is also cleared, which wgpu does in whole words.
    let alignment = limits.min_storage_buffer_offset_alignment.max(WORD_BYTES);
    let offset = range.offset();
    if !offset.is_multiple_of(u64::from(alignment)) {
        return Err(GatherError::OffsetMisaligned {
            operand,
            offset,
            alignment,
        });
    }
    Ok(())
}
