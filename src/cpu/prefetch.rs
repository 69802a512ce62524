//! The one unsafe block of this crate: hints, for which no index has to be good.

#![allow(unsafe_code, reason = "the only use, which reads and writes nothing")]

/// Slices of fewer bytes the core has enough of in flight by itself.
const MIN_BYTES: usize = 4;

/// How many bytes ahead slices are asked for, and between how few and how many rows.
const BYTES_AHEAD: usize = 8192;
const MIN_ROWS_AHEAD: usize = 4;
const MAX_ROWS_AHEAD: usize = 64;

/// Whether slices of so many bytes are worth asking for, from any params.
#[inline(always)]
pub(super) const fn can_pay(slice_bytes: usize) -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && slice_bytes >= MIN_BYTES
}

/// Whether slices of so many bytes are worth asking for from params of so many, which lie in no cache that is near
/// enough: the shorter slices are, the more of them the core has in flight by itself.
pub(super) const fn pays(params_bytes: usize, slice_bytes: usize) -> bool {
    let near_bytes = match slice_bytes {
        0..=4 => 24 << 20,
        5..=32 => 12 << 20,
        _ => 1 << 20,
    };
    params_bytes > near_bytes
}

/// How many rows ahead slices of so many bytes are asked for.
#[inline(always)]
pub(super) fn rows_ahead(slice_bytes: usize) -> usize {
    (BYTES_AHEAD / slice_bytes.max(1)).clamp(MIN_ROWS_AHEAD, MAX_ROWS_AHEAD)
}

/// Asks for the slice of `slice_len` elements that is row `row` of `params`, if that has it. The slice has no more
/// than `max_len` elements, which the compiler knows where it can.
#[inline(always)]
pub(super) fn prefetch<T>(params: &[T], row: u64, slice_len: usize, max_len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // Behind these of a slice, the core asks for the next ones by itself.
        const MAX_BYTES: usize = BYTES_AHEAD / MIN_ROWS_AHEAD;
        let bytes = (slice_len * size_of::<T>()).min(MAX_BYTES);
        let start = super::slices::in_memory(row).wrapping_mul(slice_len);
        let slice = params.as_ptr().wrapping_add(start).cast::<i8>();
        let last = bytes - 1;
        // SAFETY: a prefetch changes nothing but caches, and of an address that is not mapped it does nothing. Every
        // x86_64 has SSE.
        unsafe {
            let mut line = 0;
            if max_len == slice_len {
                while line < bytes {
                    _mm_prefetch::<_MM_HINT_T0>(slice.wrapping_add(line));
                    line += 64;
                }
            } else {
                // So many lines, even if some are the last one: no loop is left of it.
                while line < (max_len * size_of::<T>()).min(MAX_BYTES) {
                    _mm_prefetch::<_MM_HINT_T0>(slice.wrapping_add(line.min(last)));
                    line += 64;
                }
            }
            // A slice that begins within a line may end in one more.
            if bytes > align_of::<T>() {
                _mm_prefetch::<_MM_HINT_T0>(slice.wrapping_add(last));
            }
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (params, row, slice_len, max_len);
}
