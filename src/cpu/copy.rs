//! The copy loop.
//!
//! Params, indices and output are bytes here, so that the loop is compiled once and not for each type of element:
//!
//! ```text
//! copy(params, rows, output):
//!     for k in 0..slices of the output:
//!         if params is larger than caches: prefetch params[rows[k + ahead]]
//!         if rows[k] >= rows of params: return k
//!         output[k] = params[rows[k]]
//!     return slices of the output
//! ```
//!
//! The caller makes an error, a fill or zeros of the row that ends it.
//!
//! The loop is fast by three choices that are made before it:
//!
//! * **The width of a slice.** A copy of a few bytes takes a move or two, but a call of memcpy takes as long as many
//!   moves do. So each power of two up to 64 bytes has a loop of its own. Widths between them are copied as two halves
//!   that overlap: the first 8 bytes of 12, then the last 8. Longer slices are copied by memcpy, in chunks ([`memcpy_chunks`]).
//! * **Where rows come from.** [`SelectedRows`] are the indices themselves where these select in the whole of params; other
//!   gathers locate their rows first, some at a time.
//! * **Prefetch.** A core begins a load when it comes near its instruction, which is too late for memory. See
//!   [`Prefetch`].

use std::ops::Range;

use super::memory::{self, Byte, Pairs};
use crate::plan::index_rows::SelectedRows;

/// The one rule of prefetch: params of more than 8 MiB lie in memory or a far cache, and each slice is asked for 8 KiB
/// of slices before it is copied. Slices of one byte are not: 64 of them share a line.
///
/// On a Xeon 4 and 16 KiB take 0.87 to 1.09 times as long as 8 KiB for slices of 4 bytes to 2 KiB.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prefetch {
    /// How many rows before its copy a slice is asked for; 0 for no prefetch.
    ahead: usize,
    /// The last byte may lie in one more line, as the slice may begin late in its first one.
    asks_for_last_byte: bool,
}

impl Prefetch {
    const MIN_PARAMS_BYTES: usize = 8 << 20;
    const BYTES_AHEAD: usize = 8 << 10;
    const MIN_ROWS_AHEAD: usize = 4;
    const MAX_ROWS_AHEAD: usize = 64;
    /// The core finds the rest of a long slice by itself.
    const MAX_SLICE_BYTES: usize = 256;
    const LINE_BYTES: usize = 64;
    /// The alignment of memory from an allocator.
    const ALIGN_BYTES: usize = 16;

    pub(super) fn new(params_bytes: usize, slice_bytes: usize) -> Self {
        if !memory::CAN_PREFETCH || params_bytes <= Self::MIN_PARAMS_BYTES || slice_bytes == 1 {
            return Self::default();
        }
        let rows = Self::BYTES_AHEAD / slice_bytes;
        let align = Self::ALIGN_BYTES.min(1 << slice_bytes.trailing_zeros());
        Self {
            ahead: rows.clamp(Self::MIN_ROWS_AHEAD, Self::MAX_ROWS_AHEAD),
            asks_for_last_byte: slice_bytes < Self::MAX_SLICE_BYTES
                && (slice_bytes - 1) % Self::LINE_BYTES >= align,
        }
    }

    /// How many rows ahead slices are asked for: at most 64.
    pub(super) fn rows_ahead(self) -> usize {
        self.ahead
    }

    /// Asks for the slice of this row. A row that params does not have is no mistake.
    #[inline(always)]
    fn slice(self, params: &[Byte], row: u64, slice_bytes: usize) {
        let start = memory::address(row).wrapping_mul(slice_bytes);
        for line in (0..slice_bytes.min(Self::MAX_SLICE_BYTES)).step_by(Self::LINE_BYTES) {
            memory::prefetch(params, start.wrapping_add(line));
        }
        if self.asks_for_last_byte {
            memory::prefetch(params, start.wrapping_add(slice_bytes - 1));
        }
    }
}

/// Params as rows of slices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slices<'a> {
    pub(super) params: &'a [Byte],
    pub(super) row_count: u64,
    /// Never 0.
    pub(super) slice_bytes: usize,
    pub(super) prefetch: Prefetch,
}

/// Copies a slice for each row of a range to its place in the output, up to a row that params does not have. Returns
/// how many.
#[inline(never)]
pub(super) fn copy<R: SelectedRows>(
    slices: &Slices<'_>,
    rows: R,
    range: Range<usize>,
    output: &mut [Byte],
) -> usize {
    match slices.slice_bytes {
        1 => copy_each(slices, 1, rows, range, output, array::<1>),
        2 => copy_each(slices, 2, rows, range, output, array::<2>),
        4 => copy_each(slices, 4, rows, range, output, array::<4>),
        8 => copy_each(slices, 8, rows, range, output, array::<8>),
        16 => copy_each(slices, 16, rows, range, output, array::<16>),
        32 => copy_each(slices, 32, rows, range, output, array::<32>),
        64 => copy_each(slices, 64, rows, range, output, array::<64>),
        3 => copy_each(slices, 3, rows, range, output, halves::<2>),
        n @ 5..8 => copy_each(slices, n, rows, range, output, halves::<4>),
        n @ 9..16 => copy_each(slices, n, rows, range, output, halves::<8>),
        n @ 17..32 => copy_each(slices, n, rows, range, output, halves::<16>),
        n @ 33..64 => copy_each(slices, n, rows, range, output, halves::<32>),
        n => copy_each(slices, n, rows, range, output, any),
    }
}

/// The loop. `slice_bytes` is that of `slices`, once more so that the compiler may know it.
#[inline(always)]
fn copy_each<R: SelectedRows>(
    slices: &Slices<'_>,
    slice_bytes: usize,
    rows: R,
    range: Range<usize>,
    output: &mut [Byte],
    copy_slice: impl Fn(&[Byte], &mut [Byte]),
) -> usize {
    let &Slices {
        params,
        row_count,
        prefetch,
        ..
    } = slices;
    let (first, count) = (range.start, range.len());
    let mut pairs = Pairs::new(params, row_count, output, count, slice_bytes);
    for place in 0..count {
        let k = first + place;
        if prefetch.ahead > 0 && k + prefetch.ahead < rows.len() {
            prefetch.slice(params, rows.likely_row(k + prefetch.ahead), slice_bytes);
        }
        match rows.row(k).and_then(|row| pairs.get(row, place)) {
            Some((slice, room)) => copy_slice(slice, room),
            None => return place,
        }
    }
    count
}

/// The bytes that one call of memcpy copies of a long slice, unless one element has more.
const MEMCPY_CHUNK_BYTES: usize = 2048;

/// A slice in chunks, each of which a call of memcpy copies.
///
/// glibc before 2.40 copies more than 2,112 bytes by `rep movsb` where the core calls that fast. On a Zen 3 with
/// glibc 2.36 it took about 25 times as long where the output's place in its page of 4 KiB was 1, 4 or 16 bytes
/// after that of the source: 16 if the source is mapped from a file and the output is malloc's. On a Xeon with glibc 2.36
/// slices of 64 KiB take as long in chunks as in one call.
pub(crate) fn memcpy_chunks<T>(slice: &[T]) -> std::slice::Chunks<'_, T> {
    slice.chunks((MEMCPY_CHUNK_BYTES / size_of::<T>().max(1)).max(1))
}

/// Copies a slice of `N` bytes.
#[inline(always)]
fn array<const N: usize>(from: &[Byte], to: &mut [Byte]) {
    to[..N].copy_from_slice(&from[..N]);
}

/// Copies a slice of `N` to `2 * N` bytes.
#[inline(always)]
fn halves<const N: usize>(from: &[Byte], to: &mut [Byte]) {
    let last = to.len() - N;
    to[..N].copy_from_slice(&from[..N]);
    to[last..].copy_from_slice(&from[last..]);
}

/// Copies a slice of any length.
#[inline(always)]
fn any(from: &[Byte], to: &mut [Byte]) {
    // One call is most of the time, so it is not made in a loop.
    if from.len() <= MEMCPY_CHUNK_BYTES {
        return to.copy_from_slice(from);
    }
    for (from, to) in memcpy_chunks(from).zip(to.chunks_mut(MEMCPY_CHUNK_BYTES)) {
        to.copy_from_slice(from);
    }
}
