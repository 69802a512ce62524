//! The loops over index rows: how slices are selected and copied.

use super::prefetch;
use crate::element::GatherIndex;

/// How slices are copied: by what the compiler knows of their length.
pub(super) trait Slices {
    /// Their length, if the compiler knows it.
    const LEN: Option<usize>;

    /// Copies slices of `slice_len` elements until the output is full or a row is bad. Returns how many.
    fn copy<T: Copy, I: GatherIndex, const DEPTH: usize>(
        params: &[T],
        indices: &[I],
        dims: [u64; DEPTH],
        from_end: bool,
        looks_ahead: bool,
        slice_len: usize,
        output: &mut [T],
    ) -> usize;
}

/// Slices of any length, each copied by a call of memcpy.
pub(super) struct AnySlices;

impl Slices for AnySlices {
    const LEN: Option<usize> = None;

    #[inline(always)]
    fn copy<T: Copy, I: GatherIndex, const DEPTH: usize>(
        params: &[T],
        indices: &[I],
        dims: [u64; DEPTH],
        from_end: bool,
        looks_ahead: bool,
        slice_len: usize,
        output: &mut [T],
    ) -> usize {
        let mut rows = 0;
        for (index, slice) in indices
            .chunks_exact(DEPTH)
            .zip(output.chunks_exact_mut(slice_len))
        {
            if looks_ahead {
                look_ahead(params, indices, rows, dims, from_end, slice_len);
            }
            let Some(row) = selected(index, dims, from_end, 0) else {
                return rows;
            };
            slice.copy_from_slice(&params[in_memory(row) * slice_len..][..slice_len]);
            rows += 1;
        }
        rows
    }
}

/// Slices of `LEN` elements, for which no call is made.
pub(super) struct Arrays<const LEN: usize>;

impl<const LEN: usize> Slices for Arrays<LEN> {
    const LEN: Option<usize> = Some(LEN);

    #[inline(always)]
    fn copy<T: Copy, I: GatherIndex, const DEPTH: usize>(
        params: &[T],
        indices: &[I],
        mut dims: [u64; DEPTH],
        from_end: bool,
        looks_ahead: bool,
        _slice_len: usize,
        output: &mut [T],
    ) -> usize {
        let elements = params;
        let (params, _) = params.as_chunks::<LEN>();
        let (output, _) = output.as_chunks_mut::<LEN>();
        // What has 32 bits and is out of range in the first dim selects a row behind params, whatever the second: no
        // product of it and 32 bits of columns comes round to one in params. That spares a comparison.
        let compared_from = if size_of::<I>() == 4 { DEPTH - 1 } else { 0 };
        if DEPTH == 1 {
            // The same number, but one that bounds params too, so that rows are compared once.
            dims[0] = params.len() as u64;
        }
        let mut rows = 0;
        for (index, slice) in indices.chunks_exact(DEPTH).zip(output) {
            if looks_ahead {
                look_ahead(elements, indices, rows, dims, from_end, LEN);
            }
            match selected(index, dims, from_end, compared_from) {
                Some(row) if row < params.len() as u64 => {
                    let from = &params[in_memory(row)];
                    if LEN == 1 {
                        // A float as one, not as an integer: those registers are fewer than rows could be in flight.
                        slice[0] = from[0];
                    } else {
                        *slice = *from;
                    }
                }
                _ => return rows,
            }
            rows += 1;
        }
        rows
    }
}

/// Asks for the slice of a row that is soon to be copied. Whether it is in range is seen when its turn comes.
#[inline(always)]
fn look_ahead<T, I: GatherIndex, const DEPTH: usize>(
    params: &[T],
    indices: &[I],
    row: usize,
    dims: [u64; DEPTH],
    from_end: bool,
    slice_len: usize,
) {
    if !prefetch::can_pay(slice_len * size_of::<T>()) {
        return;
    }
    let ahead = row + prefetch::ROWS_AHEAD;
    if let Some(index) = indices.get(ahead * DEPTH..(ahead + 1) * DEPTH)
        && let Some(row) = selected(index, dims, from_end, DEPTH)
    {
        prefetch::prefetch(params, row, slice_len);
    }
}

/// The row that an index row selects, if its values from this one on are in range.
#[inline(always)]
fn selected<I: GatherIndex, const DEPTH: usize>(
    index: &[I],
    dims: [u64; DEPTH],
    from_end: bool,
    compared_from: usize,
) -> Option<u64> {
    let mut row = 0_u64;
    for (k, (index, dim)) in index.iter().zip(dims).enumerate() {
        let position = index.position(dim, from_end);
        if k >= compared_from && position >= dim {
            return None;
        }
        row = row.wrapping_mul(dim).wrapping_add(position);
    }
    Some(row)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a row that params holds is in memory"
)]
pub(super) fn in_memory(row: u64) -> usize {
    row as usize
}
