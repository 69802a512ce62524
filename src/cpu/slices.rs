//! The loops over index rows: how slices are selected and copied.

use super::memory;
use crate::element::GatherIndex;

/// Index rows, and the part of params that they select slices from.
pub(super) struct Rows<'a, T, I, const DEPTH: usize> {
    pub(super) params: &'a [T],
    pub(super) indices: &'a [I],
    pub(super) dims: [u64; DEPTH],
    pub(super) slice_len: usize,
    pub(super) from_end: bool,
    /// Whether slices are asked for before they are copied.
    pub(super) looks_ahead: bool,
}

/// How slices are copied: by what the compiler knows of their length.
pub(super) trait Slices {
    /// Whether it knows the length of all.
    const ARE_ARRAYS: bool = false;

    /// What none is longer than, if it knows that.
    const MAX_LEN: Option<usize>;

    /// Copies one slice to another of its length.
    fn copy_slice<T: Copy>(from: &[T], to: &mut [T]);

    /// Copies slices until the output is full or a row is bad. Returns how many.
    #[inline(always)]
    fn copy<T: Copy, I: GatherIndex, const DEPTH: usize>(
        rows: Rows<'_, T, I, DEPTH>,
        output: &mut [T],
    ) -> usize {
        let slice_len = rows.slice_len;
        let mut copied = 0;
        for (index, slice) in rows
            .indices
            .chunks_exact(DEPTH)
            .zip(output.chunks_exact_mut(slice_len))
        {
            rows.look_ahead(copied, Self::MAX_LEN);
            let Some(row) = rows.selected(index, 0) else {
                return copied;
            };
            let from = &rows.params[in_memory(row) * slice_len..][..slice_len];
            Self::copy_slice(from, slice);
            copied += 1;
        }
        copied
    }
}

/// Slices of any length, each copied by calls of memcpy.
pub(super) struct AnySlices;

impl Slices for AnySlices {
    const MAX_LEN: Option<usize> = None;

    #[inline(always)]
    fn copy_slice<T: Copy>(from: &[T], to: &mut [T]) {
        memory::copy(from, to);
    }
}

/// Long slices of a long output, written past caches.
pub(super) struct StreamedSlices;

impl Slices for StreamedSlices {
    const MAX_LEN: Option<usize> = None;

    #[inline(always)]
    fn copy_slice<T: Copy>(from: &[T], to: &mut [T]) {
        memory::stream(from, to);
    }
}

/// Slices of `LEN` elements to twice as many: the first `LEN` and the last, for which no call is made.
pub(super) struct Overlapping<const LEN: usize>;

impl<const LEN: usize> Slices for Overlapping<LEN> {
    const MAX_LEN: Option<usize> = Some(2 * LEN);

    #[inline(always)]
    fn copy_slice<T: Copy>(from: &[T], to: &mut [T]) {
        let last = from.len() - LEN;
        to[..LEN].copy_from_slice(&from[..LEN]);
        to[last..][..LEN].copy_from_slice(&from[last..][..LEN]);
    }
}

/// Slices of `LEN` elements, for which no call is made.
pub(super) struct Arrays<const LEN: usize>;

impl<const LEN: usize> Slices for Arrays<LEN> {
    const ARE_ARRAYS: bool = true;
    const MAX_LEN: Option<usize> = Some(LEN);

    #[inline(always)]
    fn copy_slice<T: Copy>(from: &[T], to: &mut [T]) {
        if LEN == 1 {
            // A float as one, not as an integer: those registers are fewer than rows could be in flight.
            to[0] = from[0];
        } else {
            to.copy_from_slice(from);
        }
    }

    #[inline(always)]
    fn copy<T: Copy, I: GatherIndex, const DEPTH: usize>(
        mut rows: Rows<'_, T, I, DEPTH>,
        output: &mut [T],
    ) -> usize {
        rows.slice_len = LEN;
        let (params, _) = rows.params.as_chunks::<LEN>();
        let (output, _) = output.as_chunks_mut::<LEN>();
        // What has 32 bits and is out of range in the first dim selects a row behind params, whatever the second: no
        // product of it and 32 bits of columns comes round to one in params. That spares a comparison.
        let compared_from = if size_of::<I>() == 4 { DEPTH - 1 } else { 0 };
        if DEPTH == 1 {
            // The same number, but one that bounds params too, so that rows are compared once.
            rows.dims[0] = params.len() as u64;
        }
        let mut copied = 0;
        for (index, slice) in rows.indices.chunks_exact(DEPTH).zip(output) {
            rows.look_ahead(copied, Self::MAX_LEN);
            match rows.selected(index, compared_from) {
                Some(row) if row < params.len() as u64 => {
                    Self::copy_slice(&params[in_memory(row)], slice);
                }
                _ => return copied,
            }
            copied += 1;
        }
        copied
    }
}

impl<T, I: GatherIndex, const DEPTH: usize> Rows<'_, T, I, DEPTH> {
    /// The row that an index row selects, if its values from this one on are in range.
    #[inline(always)]
    fn selected(&self, index: &[I], compared_from: usize) -> Option<u64> {
        let mut row = 0_u64;
        for (k, (index, dim)) in index.iter().zip(self.dims).enumerate() {
            let position = index.position(dim, self.from_end);
            if k >= compared_from && position >= dim {
                return None;
            }
            row = row.wrapping_mul(dim).wrapping_add(position);
        }
        Some(row)
    }

    /// Asks for the slice of a row behind this one. Whether it is in range is seen when its turn comes.
    #[inline(always)]
    fn look_ahead(&self, row: usize, max_len: Option<usize>) {
        let slice_bytes = self.slice_len * size_of::<T>();
        if !self.looks_ahead || !memory::can_pay_to_ask(slice_bytes) {
            return;
        }
        let ahead = row + memory::rows_ahead(slice_bytes);
        if let Some(index) = self.indices.get(ahead * DEPTH..(ahead + 1) * DEPTH)
            && let Some(row) = self.selected(index, DEPTH)
        {
            let max_len = max_len.unwrap_or(self.slice_len);
            memory::prefetch(self.params, row, self.slice_len, max_len);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a row that params holds is in memory"
)]
pub(super) fn in_memory(row: u64) -> usize {
    row as usize
}
