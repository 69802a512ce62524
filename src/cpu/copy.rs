//! The copy loop.
//!
//! Params and output are bytes here, so that the loop is not compiled for each type of element:
//!
//! ```text
//! copy(params, rows, output):
//!     for k in 0..slices of the output:
//!         if a load would come too late: prefetch params[rows[k + ahead]]
//!         if rows[k] >= rows of params: return k
//!         output[k] = params[rows[k]]
//!     return slices of the output
//! ```
//!
//! The loop ends early at a row that is bad or not held. The caller makes an error, a fill or zeros of that row.
//!
//! Encoded slices are decoded in place of the copy (encoded.rs). Three choices before the loop make it fast:
//!
//! * **The width of a slice.** A copy of a few bytes takes one or two moves, but a call of memcpy takes as long as many
//!   moves. So each power of two up to 128 bytes has a loop of its own. Other widths below that are copied as two halves
//!   that may overlap: of 12 bytes the first 8, then the last 8. Longer slices are copied by memcpy ([`copy_long`](memory::copy_long)).
//! * **The source of rows.** [`SelectedRows`] are the indices themselves if they select in whole blocks of params, of which
//!   there is one, or each is long. Slices of up to 16 bytes that no prefetch helps have a loop of their own, in
//!   stretches.rs. Other gathers locate their rows first, some at a time.
//! * **Prefetch.** A core begins a load shortly before it needs the data, which is too late for data in memory. See
//!   [`Prefetch`].

use super::index_rows::SelectedRows;
use crate::memory::{self, Byte, Pairs, SliceBytes};

/// The rule of prefetch. Params of more than 8 MiB that are copied lie in memory or a far cache, so each slice is prefetched 8 KiB of
/// slices before its copy. Slices of one byte are not prefetched, as 64 of them share a cache line.
///
/// A core looks only so many instructions ahead, and a row takes more to decode: it begins to load the next row too late. So
/// rows are prefetched for decoding out of params of more than 1 MiB. On a Zen 3, rows of 64 to 144 bytes then take 0.4 to 0.7 times as long out of 2 to 7 MiB.
/// Out of less than 1 MiB a prefetch would not pay.
///
/// A core reads the lines of a long slice ahead by itself. AMD's starts late: on a Zen 3, slices of 512 bytes to 1 KiB take 0.58 to
/// 0.95 times as long if their first 256 bytes are prefetched. On an Intel Xeon (Emerald Rapids) slices of 320 bytes to 1 KiB that
/// begin 16 bytes after a line take 1.05 to 1.15 times as long. So only AMD's prefetch for copies of more than 256 bytes. Decoding
/// and scatters gain on both: on the Xeon, rows of Q4_K and Q8_0 of 288 to 576 bytes take 0.8 to 0.99 times as long, and of slices of
/// 384 bytes to 1 KiB, replaced ones 0.85 to 0.95 and added ones 0.6 to 0.9 times.
///
/// On the Xeon, 4 and 16 KiB ahead take 0.87 to 1.09 times as long as 8 KiB for slices of 4 bytes to 2 KiB.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prefetch {
    /// Rows from a copy to the slice that is prefetched with it; 0 for no prefetch.
    ahead: usize,
    /// True if the last byte may lie in one more cache line, as a slice may begin late in its first line.
    asks_for_last_byte: bool,
}

impl Prefetch {
    pub(super) const MIN_COPIED_BYTES: usize = 8 << 20;
    pub(super) const MIN_DECODED_BYTES: usize = 1 << 20;
    const BYTES_AHEAD: usize = 8 << 10;
    const MIN_ROWS_AHEAD: usize = 4;
    pub(super) const MAX_ROWS_AHEAD: usize = 64;
    /// Bytes of a slice that are prefetched.
    const MAX_SLICE_BYTES: usize = 256;
    const LINE_BYTES: usize = 64;
    /// The alignment of memory from an allocator.
    const ALIGN_BYTES: usize = 16;

    /// For copies out of params. `params_bytes` are those of all rows, and `slice_bytes` those of a slice in params.
    pub(super) fn of_copies(params_bytes: usize, slice_bytes: usize) -> Self {
        match slice_bytes > Self::MAX_SLICE_BYTES && !memory::is_amd() {
            true => Self::default(),
            false => Self::above(Self::MIN_COPIED_BYTES, params_bytes, slice_bytes),
        }
    }

    /// As [`of_copies`](Self::of_copies), on any processor, for params of more than `min_params_bytes`.
    pub(super) fn above(min_params_bytes: usize, params_bytes: usize, slice_bytes: usize) -> Self {
        if !memory::CAN_PREFETCH || params_bytes <= min_params_bytes || slice_bytes == 1 {
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

    /// Rows from a copy to the slice that is prefetched with it: at most [`Self::MAX_ROWS_AHEAD`].
    #[inline(always)]
    pub(super) fn rows_ahead(self) -> usize {
        // The compiler leaves out what is done for a prefetch that has no effect.
        if memory::CAN_PREFETCH { self.ahead } else { 0 }
    }

    /// Blocks of so many bytes from a copy to the slice that is prefetched with it, if blocks are copied one after another.
    pub(super) fn blocks_ahead(self, block_bytes: u64) -> u64 {
        match self.rows_ahead() {
            0 => 0,
            _ => (Self::BYTES_AHEAD as u64 / block_bytes.max(1))
                .clamp(1, Self::MAX_ROWS_AHEAD as u64),
        }
    }

    /// Prefetches the slice that is read some rows after that of `rows[k]`.
    #[inline(always)]
    pub(super) fn before<P, R: SelectedRows>(
        self,
        params: &[P],
        rows: R,
        k: usize,
        bytes: SliceBytes,
    ) {
        let ahead = self.rows_ahead();
        if ahead > 0 && k + ahead < rows.len() {
            // Any slice will do for a bad row.
            let row = memory::address(rows.row(k + ahead).unwrap_or(0));
            let start = row.wrapping_mul(bytes.params_stride);
            self.slice(params, start, bytes.params_slice);
        }
    }

    /// As [`slice`](Self::slice), but four times as much of it, and its last byte: a sum over a bag takes so little time for a row that
    /// the core does not look ahead to the rest of the next one.
    #[inline(always)]
    pub(super) fn whole_slice<P>(self, params: &[P], start: usize, len: usize) {
        let elements = |bytes: usize| bytes / size_of::<P>().max(1);
        for line in
            (0..len.min(elements(4 * Self::MAX_SLICE_BYTES))).step_by(elements(Self::LINE_BYTES))
        {
            memory::prefetch(params, start.wrapping_add(line));
        }
        memory::prefetch(params, start.wrapping_add(len - 1));
    }

    /// Prefetches a slice of `len` elements, from element `start` on, which may be any number.
    #[inline(always)]
    pub(super) fn slice<P>(self, params: &[P], start: usize, len: usize) {
        let of_bytes = |bytes: usize| bytes / size_of::<P>().max(1);
        for line in
            (0..len.min(of_bytes(Self::MAX_SLICE_BYTES))).step_by(of_bytes(Self::LINE_BYTES))
        {
            memory::prefetch(params, start.wrapping_add(line));
        }
        if self.asks_for_last_byte {
            memory::prefetch(params, start.wrapping_add(len - 1));
        }
    }
}

/// The rows of params, each of which holds one slice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slices {
    /// A slice never has 0 bytes.
    pub(super) bytes: SliceBytes,
    pub(super) prefetch: Prefetch,
}

/// The loop with `$width` as a constant where copies of it are a few moves, which `$copy_slice` makes.
macro_rules! by_width {
    ($of:expr, |$width:ident, $copy_slice:ident| $copies:expr) => {{
        macro_rules! copies {
            ($of_width:expr, $copy:expr) => {{
                let ($width, $copy_slice) = ($of_width, $copy);
                $copies
            }};
        }
        use $crate::cpu::copy::{array, halves};
        match $of {
            1 => copies!(1, array::<1>),
            2 => copies!(2, array::<2>),
            4 => copies!(4, array::<4>),
            8 => copies!(8, array::<8>),
            16 => copies!(16, array::<16>),
            32 => copies!(32, array::<32>),
            64 => copies!(64, array::<64>),
            128 => copies!(128, array::<128>),
            3 => copies!(3, halves::<2>),
            n @ 5..8 => copies!(n, halves::<4>),
            n @ 9..16 => copies!(n, halves::<8>),
            n @ 17..32 => copies!(n, halves::<16>),
            n @ 33..64 => copies!(n, halves::<32>),
            n @ 65..128 => copies!(n, halves::<64>),
            n => copies!(n, $crate::memory::copy_long),
        }
    }};
}
pub(super) use by_width;

/// Copies the slices of the first `count` rows to the output, one after another, up to the first row that params does not have.
/// Returns the number of slices copied. Rows from `count` on are not copied, but slices of theirs may be prefetched.
#[inline(never)]
pub(super) fn copy<R: SelectedRows>(
    params: &[Byte],
    row_count: u64,
    slices: &Slices,
    rows: R,
    count: usize,
    output: &mut [Byte],
) -> usize {
    let slice = slices.bytes.slice;
    let bytes = SliceBytes {
        params_slice: slice,
        ..slices.bytes
    };
    let pairs = Pairs::new(params, row_count, output, count, bytes);
    by_width!(slice, |width, copy_slice| {
        let prefetch_bytes = SliceBytes {
            params_slice: width,
            ..bytes
        };
        let prefetch = |k| slices.prefetch.before(params, rows, k, prefetch_bytes);
        copy_each(pairs, prefetch, rows.first(count), copy_slice)
    })
}

/// The copy loop. `prefetch` prefetches for the copy of a row, by its number in `rows`.
#[inline(always)]
pub(super) fn copy_each<P, R: SelectedRows>(
    mut pairs: Pairs<'_, P>,
    prefetch: impl Fn(usize),
    rows: R,
    mut copy_slice: impl FnMut(&[P], &mut [Byte]),
) -> usize {
    let count = rows.len();
    for output_row in 0..count {
        prefetch(output_row);
        let row = rows.row(output_row);
        match row.and_then(|row| pairs.get(row, output_row)) {
            Some((slice, room)) => copy_slice(slice, room),
            None => return output_row,
        }
    }
    count
}

/// Copies a slice of `N` bytes.
#[inline(always)]
pub(super) fn array<const N: usize>(from: &[Byte], to: &mut [Byte]) {
    to[..N].copy_from_slice(&from[..N]);
}

/// Copies a slice of `N` to `2 * N` bytes as two halves that may overlap.
#[inline(always)]
pub(super) fn halves<const N: usize>(from: &[Byte], to: &mut [Byte]) {
    let last = to.len() - N;
    to[..N].copy_from_slice(&from[..N]);
    to[last..].copy_from_slice(&from[last..]);
}
