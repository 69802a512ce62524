//! The one unsafe expression of this crate: a hint, for which no index has to be good.

#![allow(unsafe_code, reason = "the only use, which reads and writes nothing")]

/// Slices of fewer bytes the core has enough of in flight by itself.
const MIN_BYTES: usize = 64;

/// Params of no more bytes lie in a cache that is near enough.
const NEAR_BYTES: usize = 1 << 20;

/// How many rows ahead slices are asked for.
pub(super) const ROWS_AHEAD: usize = 16;

/// Whether slices of so many bytes are worth asking for, from any params.
#[inline(always)]
pub(super) const fn can_pay(slice_bytes: usize) -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && slice_bytes >= MIN_BYTES
}

/// Whether slices are worth asking for from params of so many bytes.
pub(super) const fn pays(params_bytes: usize) -> bool {
    params_bytes > NEAR_BYTES
}

/// Asks for the slice of `slice_len` elements that is row `row` of `params`, if that has it.
#[inline(always)]
pub(super) fn prefetch<T>(params: &[T], row: u64, slice_len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // What follows the first lines of a slice, the core asks for by itself.
        const MAX_BYTES: usize = 128;
        let start = super::slices::in_memory(row).wrapping_mul(slice_len);
        let slice = params.as_ptr().wrapping_add(start).cast::<i8>();
        for line in (0..(slice_len * size_of::<T>()).min(MAX_BYTES)).step_by(64) {
            // SAFETY: a prefetch changes nothing but caches, and of an address that is not mapped it does nothing.
            // Every x86_64 has SSE.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.wrapping_add(line)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (params, row, slice_len);
}
