//! How long slices are copied, and what cores are told of memory: which slices they will be asked for, and that a long
//! output is not read soon. All unsafe code of this crate.

#![allow(
    unsafe_code,
    reason = "hints have no safe function, nor has what moves bytes past caches"
)]

/// Slices of fewer bytes the core has enough of in flight by itself.
const MIN_BYTES: usize = 4;

/// How many bytes ahead slices are asked for, and between how few and how many rows.
const BYTES_AHEAD: usize = 8192;
const MIN_ROWS_AHEAD: usize = 4;
const MAX_ROWS_AHEAD: usize = 64;

/// What one call of memcpy copies of a long slice, unless one element is more.
const MAX_PIECE_BYTES: usize = 2048;

/// An output of so many bytes is more than a cache has, or most of it, so whoever reads it finds little of it there.
const MIN_STREAMED_BYTES: usize = 32 << 20;

/// Slices of fewer bytes are copied sooner through caches.
const MIN_STREAMED_SLICE_BYTES: usize = 2048;

/// Whether slices of so many bytes are worth asking for, from any params.
#[inline(always)]
pub(super) const fn can_pay_to_ask(slice_bytes: usize) -> bool {
    cfg!(all(target_arch = "x86_64", not(miri))) && slice_bytes >= MIN_BYTES
}

/// Whether slices of so many bytes are worth asking for from params of so many, which lie in no cache that is near
/// enough: the shorter slices are, the more of them the core has in flight by itself.
pub(super) const fn pays_to_ask(params_bytes: usize, slice_bytes: usize) -> bool {
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

/// Asks for the beginning of the slice of `slice_len` elements that is row `row` of `params`, if that has it. The
/// slice has no more than `max_len` elements, which the compiler knows where it can.
#[inline(always)]
pub(super) fn prefetch<T>(params: &[T], row: u64, slice_len: usize, max_len: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // The rest of a long slice the core asks for by itself.
        const MAX_ASKED_BYTES: usize = 512;
        const LONG_SLICE_BYTES: usize = 1024;
        const ASKED_OF_LONG_BYTES: usize = 128;
        let slice_bytes = slice_len * size_of::<T>();
        let bytes = if slice_bytes > LONG_SLICE_BYTES {
            ASKED_OF_LONG_BYTES
        } else {
            slice_bytes.min(MAX_ASKED_BYTES)
        };
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
                while line < max_len * size_of::<T>() {
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

/// Copies a slice to another of its length, a long one in [`pieces`].
#[inline]
pub(super) fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    if size_of_val(to) <= MAX_PIECE_BYTES {
        to.copy_from_slice(from);
    } else {
        copy_in_pieces(from, to);
    }
}

#[inline(never)]
fn copy_in_pieces<T: Copy>(from: &[T], to: &mut [T]) {
    assert_eq!(from.len(), to.len());
    for (from, to) in pieces(from).zip(to.chunks_mut(piece_len::<T>())) {
        to.copy_from_slice(from);
    }
}

/// What is better copied one by one: glibc before 2.40 copies more than 2,112 bytes by `rep movsb` where the core calls
/// that fast. On a Zen 3 it took about 25 times as long where the output's place in its page of 4 KiB was 1, 4 or 16
/// bytes behind that of what is copied: 16 if params are mapped from a file and the output is malloc's.
pub(crate) fn pieces<T>(slice: &[T]) -> std::slice::Chunks<'_, T> {
    slice.chunks(piece_len::<T>())
}

fn piece_len<T>() -> usize {
    (MAX_PIECE_BYTES / size_of::<T>().max(1)).max(1)
}

/// Whether slices of so many bytes, of an output of so many, are sooner written past caches.
#[inline]
pub(super) const fn pays_to_stream(output_bytes: usize, slice_bytes: usize) -> bool {
    slice_bytes >= MIN_STREAMED_SLICE_BYTES && output_bytes >= MIN_STREAMED_BYTES
}

/// Copies a slice to another of its length, on x86_64 its whole lines past caches.
#[inline]
pub(super) fn stream<T: Copy>(from: &[T], to: &mut [T]) {
    assert_eq!(from.len(), to.len());
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    {
        // What a core writes to memory at once.
        const LINE_BYTES: usize = 64;
        let bytes = size_of_val(to);
        let (from, to) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
        let first_line = to.align_offset(LINE_BYTES).min(bytes);
        let end = bytes - (bytes - first_line) % LINE_BYTES;
        // SAFETY: both slices have so many bytes, and one of them is borrowed alone. Bytes are moved as they are, with
        // padding, by instructions that every x86_64 has; those that need an aligned address have one. The fence
        // orders these writes before all that follow, as others are by themselves.
        unsafe {
            to.copy_from_nonoverlapping(from, first_line);
            for line in (first_line..end).step_by(LINE_BYTES) {
                std::arch::asm!(
                    "movups {a}, [{from}]",
                    "movups {b}, [{from} + 16]",
                    "movups {c}, [{from} + 32]",
                    "movups {d}, [{from} + 48]",
                    "movntps [{to}], {a}",
                    "movntps [{to} + 16], {b}",
                    "movntps [{to} + 32], {c}",
                    "movntps [{to} + 48], {d}",
                    from = in(reg) from.add(line),
                    to = in(reg) to.add(line),
                    a = out(xmm_reg) _,
                    b = out(xmm_reg) _,
                    c = out(xmm_reg) _,
                    d = out(xmm_reg) _,
                    options(nostack, preserves_flags),
                );
            }
            std::arch::x86_64::_mm_sfence();
            to.add(end)
                .copy_from_nonoverlapping(from.add(end), bytes - end);
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri))))]
    copy(from, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_of_any_length_is_copied_whole() {
        let from: Vec<[u8; 3]> = (0..=250)
            .map(|byte| [byte, 1, byte ^ 7])
            .cycle()
            .take(5000)
            .collect();
        for len in [0, 1, 681, 682, 683, 684, 1364, 1365, 1366, 4096, 5000] {
            let mut output = [[255; 3]; 5001];
            copy(&from[..len], &mut output[..len]);
            assert_eq!(output[..len], from[..len]);
            assert!(output[len..].iter().all(|&found| found == [255; 3]));
        }
        assert!(pieces(&[0_u8; 5000]).all(|piece| piece.len() <= 2048));
        assert!(pieces(&from).all(|piece| size_of_val(piece) <= 2048));
        let mut output = [[0; 4096]; 3];
        copy(&[[1; 4096], [2; 4096], [3; 4096]], &mut output);
        assert_eq!(output, [[1; 4096], [2; 4096], [3; 4096]]);
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn slices_of_two_lengths_are_not_copied() {
        copy(&[1; 4096], &mut [0; 4095]);
    }

    #[track_caller]
    fn assert_streamed<T: Copy + PartialEq + std::fmt::Debug>(from: &[T], other: T) {
        for start in 0..70 {
            for len in [0, 1, 2, 15, 16, 63, 64, 65, 127, 128, 129, 200] {
                for place in [0, 1, 5] {
                    let mut output = [other; 300];
                    stream(&from[place..][..len], &mut output[start..][..len]);
                    assert!(output[..start].iter().all(|&found| found == other));
                    assert_eq!(output[start..][..len], from[place..][..len]);
                    assert!(output[start + len..].iter().all(|&found| found == other));
                }
            }
        }
    }

    #[test]
    fn a_slice_is_streamed_wherever_it_lies_and_nothing_beside_it() {
        let bytes: Vec<u8> = (0..=250).collect();
        assert_streamed(&bytes, 255);
        let of_three: Vec<[u8; 3]> = bytes.iter().map(|&byte| [byte, 1, byte ^ 7]).collect();
        assert_streamed(&of_three, [255; 3]);
        let padded: Vec<(u64, u8)> = bytes.iter().map(|&byte| (7 << (byte % 60), byte)).collect();
        assert_streamed(&padded, (0, 255));
        let words = ["a", "bc", "", "def"];
        let words: Vec<&str> = words.into_iter().cycle().take(250).collect();
        assert_streamed(&words, "?");
        assert_streamed(&[(); 250], ());
    }

    #[test]
    fn long_slices_of_a_long_output_are_streamed() {
        assert!(pays_to_stream(32 << 20, 2048));
        assert!(pays_to_stream(usize::MAX, usize::MAX));
        assert!(!pays_to_stream(usize::MAX, 2047));
        assert!(!pays_to_stream((32 << 20) - 1, 1 << 20));
    }

    #[test]
    #[should_panic(expected = "left == right")]
    fn slices_of_two_lengths_are_not_streamed() {
        stream(&[1, 2, 3], &mut [0; 2]);
    }
}
