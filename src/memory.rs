//! All unsafe code of this crate: elements lent as bytes, integers read as others of their width, vectors that a gather fills,
//! huge pages, slices found by a single bounds check, prefetch, loops for AVX2, half floats by F16C, and bits of bytes by SSE2. Also
//! the parts in which long slices are copied.

#![expect(
    unsafe_code,
    reason = "bytes without values, memory that is not yet written, huge pages, a check less for each slice, prefetch, loops for \
              AVX2, half floats by F16C, bits of bytes by SSE2"
)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// The number of the width of a `usize`.
#[cfg(target_pointer_width = "64")]
pub(crate) type SizeNumber = u64;
#[cfg(target_pointer_width = "32")]
pub(crate) type SizeNumber = u32;

/// A byte of an element. It may be padding, which has no value, or part of a pointer.
pub(crate) type Byte = MaybeUninit<u8>;

/// The bytes of some elements.
pub(crate) fn bytes<T: Copy>(elements: &[T]) -> &[Byte] {
    // SAFETY: the elements are `size_of_val(elements)` bytes of one allocation, borrowed for as long as the result is.
    // A `Byte` needs neither alignment nor a value.
    unsafe { from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Functions that lend the bytes of elements that have no padding.
macro_rules! bytes_of {
    ($($name:ident: $from:ty,)*) => {
        $(
            pub(crate) fn $name(elements: &[$from]) -> &[u8] {
                // SAFETY: all `size_of_val(elements)` bytes of one allocation have values, and bytes need no alignment.
                unsafe { from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
            }
        )*
    };
}

bytes_of! {
    bools: bool,
    halfwords: u16,
    words: u32,
    longs: u64,
}

/// The bytes of a value. Without optimisation, this takes less time than `to_ne_bytes` and a conversion of each byte.
#[inline(always)]
pub(crate) fn value(value: f32) -> [Byte; 4] {
    // SAFETY: an `f32` is 4 bytes with values.
    unsafe { std::mem::transmute(value) }
}

/// Functions that read integers as others of their width.
macro_rules! integers {
    ($($name:ident: $from:ty => $to:ty,)*) => {
        $(
            pub(crate) fn $name(integers: &[$from]) -> &[$to] {
                // SAFETY: integers of one width have one size and one alignment, and all bits are a value of each.
                unsafe { from_raw_parts(integers.as_ptr().cast(), integers.len()) }
            }
        )*
    };
}

integers! {
    size_numbers: usize => SizeNumber,
    u8s: i8 => u8,
    u16s: i16 => u16,
    u32s: i32 => u32,
    u64s: i64 => u64,
}

/// Lends the bytes of an output to `gather`, which must write only whole elements of type `T` there.
pub(crate) fn write_into<T: Copy, R>(output: &mut [T], gather: impl FnOnce(&mut [Byte]) -> R) -> R {
    // SAFETY: the elements are `size_of_val(output)` bytes of one allocation, borrowed exclusively while `gather` runs.
    // `gather` copies slices of params or of updates, the zero and the fill to slices of the output: all are elements of type `T`.
    gather(unsafe { from_raw_parts_mut(output.as_mut_ptr().cast(), size_of_val(output)) })
}

/// Lends room for `len` elements after those of `vector` to `gather`; the vector must have that capacity. If `gather`
/// succeeds, it must have written each element, and the vector grows by them.
pub(crate) fn extend<T: Copy, E>(
    vector: &mut Vec<T>,
    len: usize,
    gather: impl FnOnce(&mut [Byte]) -> Result<(), E>,
) -> Result<(), E> {
    let room = &mut vector.spare_capacity_mut()[..len];
    ask_for_huge_pages(room);
    // SAFETY: the room is `size_of_val(room)` bytes of one allocation, borrowed exclusively while `gather` runs. The
    // bytes may be unwritten, as a `Byte` may.
    gather(unsafe { from_raw_parts_mut(room.as_mut_ptr().cast(), size_of_val(room)) })?;
    // SAFETY: the capacity has `len` more elements, and `gather` has written each of them as a whole `T`.
    unsafe { vector.set_len(vector.len() + len) };
    Ok(())
}

/// Asks Linux for huge pages in memory that is not yet written, of 4 MiB or more as in NumPy: first writes then cost a page fault
/// for each 2 MiB, not for each 4 KiB. Only whole huge pages inside the memory are asked for. The system may refuse.
pub(crate) fn ask_for_huge_pages<T>(room: &mut [MaybeUninit<T>]) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if size_of_val(room) >= 4 << 20 {
        const HUGE_PAGE_BYTES: usize = 2 << 20;
        let address = room.as_ptr().addr();
        let before = address.next_multiple_of(HUGE_PAGE_BYTES) - address;
        let bytes = (size_of_val(room) - before) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
        let first = room.as_mut_ptr().cast::<u8>().wrapping_add(before);
        // SAFETY: the pages lie in memory that is borrowed exclusively, and the call keeps their content.
        unsafe { libc::madvise(first.cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = room;
}

/// The bytes of a slice in the output and in params, and those from one slice to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SliceBytes {
    pub(crate) slice: usize,
    pub(crate) params_slice: usize,
    pub(crate) params_stride: usize,
    pub(crate) output_stride: usize,
}

/// Pairs of a params slice and the bytes of an output row, which the slice is copied or decoded to. Params are
/// `P`s of one byte each.
pub(crate) struct Pairs<'a, P> {
    params: *const P,
    row_count: u64,
    output: *mut Byte,
    output_rows: usize,
    bytes: SliceBytes,
    borrows: PhantomData<(&'a [P], &'a mut [Byte])>,
}

impl<'a, P> Pairs<'a, P> {
    /// Panics unless params has `row_count` slices and the output has room for `output_rows` slices.
    #[inline(always)]
    pub(crate) fn new(
        params: &'a [P],
        row_count: u64,
        output: &'a mut [Byte],
        output_rows: usize,
        bytes: SliceBytes,
    ) -> Self {
        let fits = |count: u64, stride: usize, slice: usize, len: usize| {
            let gaps = count.saturating_sub(1).checked_mul(stride as u64);
            let needed = gaps.and_then(|gaps| gaps.checked_add(slice as u64));
            count == 0 || needed.is_some_and(|needed| needed <= len as u64)
        };
        let (of, output_len) = (bytes, output.len());
        assert!(
            of.output_stride >= of.slice
                && fits(row_count, of.params_stride, of.params_slice, params.len())
                && fits(output_rows as u64, of.output_stride, of.slice, output_len)
        );
        Self {
            params: params.as_ptr(),
            row_count,
            output: output.as_mut_ptr(),
            output_rows,
            bytes,
            borrows: PhantomData,
        }
    }

    /// The slice of a params row and the bytes of an output row; `None` if params or the output has no such row.
    #[inline(always)]
    pub(crate) fn get(&mut self, row: u64, output_row: usize) -> Option<(&[P], &mut [Byte])> {
        if row >= self.row_count || output_row >= self.output_rows {
            return None;
        }
        // SAFETY: `new` has checked that params has `row_count` slices and the output `output_rows` of them, so both are in
        // bounds. Both operands are borrowed for as long as these pairs are, and the output exclusively.
        unsafe {
            let from = self.params.add(address(row) * self.bytes.params_stride);
            let to = self.output.add(output_row * self.bytes.output_stride);
            Some((
                from_raw_parts(from, self.bytes.params_slice),
                from_raw_parts_mut(to, self.bytes.slice),
            ))
        }
    }
}

/// True if [`prefetch`] has an effect.
pub(crate) const CAN_PREFETCH: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Prefetches the cache line of byte `at` of params; `at` may be any number.
#[inline(always)]
pub(crate) fn prefetch<P>(params: &[P], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // SAFETY: a prefetch changes only caches, and does nothing at an unmapped address. Every x86_64 has SSE.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(params.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (params, at);
}

/// True on an AMD processor: only they have SSE4a.
pub(crate) fn is_amd() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("sse4a");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Bytes up to which glibc before 2.40 copies without `rep movsb`. Above 2,112 it takes that if the core reports it as fast.
const MAX_BYTES_WITHOUT_REP_MOVSB: usize = 2048;

/// A copy of a slice of any length.
#[inline(always)]
pub(crate) fn copy_long(from: &[Byte], to: &mut [Byte]) {
    match from.len() <= MAX_BYTES_WITHOUT_REP_MOVSB {
        true => to.copy_from_slice(from),
        false => copy_longer(from, to),
    }
}

/// Stays apart, so that the copy loop keeps its values in registers.
///
/// In some places, `rep movsb` is slow on AMD's processors, so the slice is copied there in parts, which glibc copies without it.
/// On a Zen 3 with glibc 2.36, slices of 4 to 64 KiB take there, as multiples of the time of one call in other places: by one call
/// 3 to 4, in parts of 1 or 2 KiB 1.4, in parts of 256 bytes, which glibc copies without a loop, 0.9 to 1.1. On an Intel Xeon (Emerald
/// Rapids) one call takes as long in all places, and parts take 1.05 to 1.31 times as long.
#[inline(never)]
fn copy_longer(from: &[Byte], to: &mut [Byte]) {
    const PART_BYTES: usize = 256;
    let addresses = [from.as_ptr().addr(), to.as_ptr().addr()];
    if !(is_little_above(addresses) && is_amd()) {
        return to.copy_from_slice(from);
    }
    for (from, to) in from.chunks(PART_BYTES).zip(to.chunks_mut(PART_BYTES)) {
        to.copy_from_slice(from);
    }
}

/// True if the output's offset in its page of 4 KiB is 1 to 31 bytes above the source's: 16 if the source is mapped from a
/// file and the output comes from malloc.
fn is_little_above([source, output]: [usize; 2]) -> bool {
    (1..32).contains(&(output.wrapping_sub(source) % 4096))
}

/// A loop over values that is compiled for each level of processors. `run` and the functions that it calls are `#[inline(always)]`: a
/// function that stays apart is compiled for the lowest level only.
pub(crate) trait Leveled {
    fn run(self);
}

/// True if only the lowest level is called: so tests built with the variable see that levels differ in no value. A NaN of a sum
/// may have another payload.
#[cfg(target_arch = "x86_64")]
const IS_LOWEST_LEVEL: bool = option_env!("GATHER_LOWEST_LEVEL").is_some();

/// Runs at the best level of this processor. An x86_64 has two levels, with AVX2 and without; others have the target's only.
pub(crate) fn run_at_best_level(values: impl Leveled) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2(values: impl Leveled) {
            values.run();
        }
        if !IS_LOWEST_LEVEL && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { with_avx2(values) };
        }
    }
    values.run();
}

/// Processors that turn eight floats into half floats, or back, by one instruction: F16C, which every x86_64 with AVX2 has.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod f16c {
    use std::arch::x86_64::{
        __m128i, _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm_loadu_si128, _mm_storeu_si128,
        _mm256_and_si256, _mm256_andnot_si256, _mm256_castps_si256, _mm256_cmp_ps,
        _mm256_cmpgt_epi32, _mm256_cvtepu16_epi32, _mm256_cvtph_ps, _mm256_cvtps_ph,
        _mm256_loadu_ps, _mm256_movemask_ps, _mm256_or_ps, _mm256_set1_epi32, _mm256_setzero_ps,
        _mm256_slli_epi32, _mm256_storeu_si256,
    };

    use super::Byte;

    pub(super) fn is_there() -> bool {
        !super::IS_LOWEST_LEVEL
            && std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("f16c")
    }

    /// True if no value is a NaN: the halves of NaNs have other bits than ours.
    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn to_f16s(values: &[[f32; 8]], halves: &mut [[[Byte; 2]; 8]]) -> bool {
        let mut nans = _mm256_setzero_ps();
        for (values, halves) in values.iter().zip(halves) {
            // SAFETY: eight values, at any byte.
            let values = unsafe { _mm256_loadu_ps(values.as_ptr()) };
            nans = _mm256_or_ps(nans, _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
            let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values);
            // SAFETY: room for eight halves, at any byte.
            unsafe { _mm_storeu_si128(halves.as_mut_ptr().cast(), rounded) };
        }
        _mm256_movemask_ps(nans) == 0
    }

    #[target_feature(enable = "avx2,f16c")]
    pub(super) fn of_f16s(halves: &[[[u8; 2]; 8]], values: &mut [[[Byte; 4]; 8]]) {
        let (magnitude, infinity, quiet) = (
            _mm256_set1_epi32(0x7fff),
            _mm256_set1_epi32(0x7c00),
            _mm256_set1_epi32(0x200),
        );
        for (halves, values) in halves.iter().zip(values) {
            // SAFETY: eight halves, at any byte.
            let halves: __m128i = unsafe { _mm_loadu_si128(halves.as_ptr().cast()) };
            let bits = _mm256_castps_si256(_mm256_cvtph_ps(halves));
            // The instruction sets a NaN's quiet bit. Those that lack it stay as they are.
            let halves = _mm256_cvtepu16_epi32(halves);
            let is_nan = _mm256_cmpgt_epi32(_mm256_and_si256(halves, magnitude), infinity);
            let lacks = _mm256_and_si256(is_nan, _mm256_andnot_si256(halves, quiet));
            let bits = _mm256_andnot_si256(_mm256_slli_epi32::<13>(lacks), bits);
            // SAFETY: room for eight values, at any byte.
            unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), bits) };
        }
    }
}

/// Rounds the first values to half floats, as many as the processor does by itself, and returns their number: 0 if one is a NaN.
pub(crate) fn to_f16s(values: &[f32], halves: &mut [[Byte; 2]]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if f16c::is_there() {
        let (values, halves) = (values.as_chunks().0, halves.as_chunks_mut().0);
        // SAFETY: the processor has AVX2 and F16C.
        let are_right = unsafe { f16c::to_f16s(values, halves) };
        return if are_right {
            8 * values.len().min(halves.len())
        } else {
            0
        };
    }
    let _ = (values, halves);
    0
}

/// As [`to_f16s`], the other way. All bits of a NaN are kept.
pub(crate) fn of_f16s(halves: &[[u8; 2]], values: &mut [[Byte; 4]]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if f16c::is_there() {
        let (halves, values) = (halves.as_chunks().0, values.as_chunks_mut().0);
        // SAFETY: the processor has AVX2 and F16C.
        unsafe { f16c::of_f16s(halves, values) };
        return 8 * values.len().min(halves.len());
    }
    let _ = (halves, values);
    0
}

/// A bit for each byte, from the lowest on: 1 if it is not 0.
pub(crate) fn bits_of_bytes(bytes: &[u8; 64]) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{
            _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_setzero_si128,
        };
        #[inline]
        #[target_feature(enable = "sse2")]
        fn zeros_of(sixteen: &[u8; 16]) -> u32 {
            // SAFETY: sixteen bytes, at any address.
            let sixteen = unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) };
            _mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_setzero_si128())).cast_unsigned()
        }

        let sixteens = bytes.as_chunks::<16>().0.iter().enumerate();
        !sixteens.fold(0, |zeros, (at, sixteen)| {
            // SAFETY: each processor of the architecture has SSE2.
            zeros | u64::from(unsafe { zeros_of(sixteen) }) << (16 * at)
        })
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let eights = bytes.as_chunks::<8>().0.iter().enumerate();
        eights.fold(0, |bits, (at, &eight)| {
            let word = u64::from_le_bytes(eight);
            // The highest bit of each byte that is not 0; then these eight bits side by side.
            let high = (((word & LOW) + LOW) | word) & !LOW;
            bits | ((high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at)
        })
    }
}

/// A row number as a `usize`, to index with. The row of an operand in memory keeps its value. Any other number loses its high half
/// where a `usize` has 32 bits: prefetch and a scatter's counters take any number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a row that params has is in memory"
)]
pub(crate) fn address(row: u64) -> usize {
    row as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// True if huge pages are asked for in the mapping of an address.
    #[cfg(all(target_os = "linux", not(miri)))]
    fn asks_for_huge_pages(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
        let range = |line: &str| {
            let (start, end) = line.split_once(' ')?.0.split_once('-')?;
            let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16));
            Some(start.ok()?..end.ok()?)
        };
        let mut lines = maps.lines();
        lines.any(|line| range(line).is_some_and(|range| range.contains(&address)));
        let flags = lines.find_map(|line| line.strip_prefix("VmFlags:"));
        flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hg"))
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn only_new_memory_asks_for_huge_pages() {
        let has_huge_pages = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        let len = 48 << 20;
        let middle = |memory: &[u8]| memory.as_ptr().addr() + len / 2;
        let mut new: Vec<u8> = Vec::with_capacity(len);
        extend(&mut new, len, |bytes| {
            bytes.fill(MaybeUninit::new(7));
            Ok::<(), ()>(())
        })
        .expect("filled");
        assert_eq!(asks_for_huge_pages(middle(&new)), has_huge_pages);
        assert!(new.iter().all(|&byte| byte == 7));
        // The allocator may ask for huge pages itself.
        let mut old = vec![1_u8; len];
        let asks_itself = asks_for_huge_pages(middle(&old));
        write_into(&mut old, |bytes| bytes.fill(MaybeUninit::new(7)));
        assert_eq!(asks_for_huge_pages(middle(&old)), asks_itself);
    }

    /// Two output rows from two rows of five bytes, if the operands hold them.
    fn two_pairs(row_count: u64, output_len: usize, strides: [usize; 2]) -> Option<Vec<u8>> {
        let [params_stride, output_stride] = strides;
        let of_slice = SliceBytes {
            slice: 2,
            params_slice: 2,
            params_stride,
            output_stride,
        };
        let mut written = vec![0; output_len];
        let copied = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            write_into(&mut written, |output| {
                let params = bytes(&[1_u8, 2, 3, 4, 5]);
                let mut pairs = Pairs::new(params, row_count, output, 2, of_slice);
                for (row, output_row) in [(0, 1), (1, 0)] {
                    let (slice, room) = pairs.get(row, output_row).expect("two rows");
                    room.copy_from_slice(slice);
                }
                for (row, output_row) in [(2, 0), (u64::MAX, 0), (0, 2), (0, usize::MAX)] {
                    assert!(pairs.get(row, output_row).is_none());
                }
            });
        }));
        copied.is_ok().then_some(written)
    }

    #[test]
    fn pairs_lie_in_their_operands_and_others_are_refused() {
        assert_eq!(two_pairs(2, 5, [2, 2]), Some(vec![3, 4, 1, 2, 0]));
        assert_eq!(two_pairs(2, 6, [3, 4]), Some(vec![4, 5, 0, 0, 1, 2]));
        let refused = [
            (3, 4, [2, 2]),
            (2, 3, [2, 2]),
            (2, 6, [4, 4]),
            (2, 6, [3, 5]),
            (2, 6, [3, 1]),
            (u64::MAX, 6, [3, 4]),
        ];
        for (rows, output_len, strides) in refused {
            assert_eq!(
                two_pairs(rows, output_len, strides),
                None,
                "{rows} {strides:?}"
            );
        }
    }

    #[test]
    fn a_vector_grows_only_if_the_gather_succeeds() {
        let mut vector = Vec::with_capacity(4);
        vector.push(7_u16);
        let error = extend(&mut vector, 2, |bytes| {
            bytes[0].write(9);
            Err("half-way")
        });
        assert_eq!((error, &vector[..]), (Err("half-way"), &[7][..]));
        let done: Result<(), ()> = extend(&mut vector, 3, |bytes| {
            bytes.fill(MaybeUninit::new(1));
            Ok(())
        });
        assert_eq!((done, &vector[..]), (Ok(()), &[7, 257, 257, 257][..]));
    }

    #[test]
    fn an_output_is_a_little_above_its_source_at_31_offsets_in_a_page() {
        let [source, below] = [5 << 12 | 4090, 3 << 12 | 10];
        let offsets =
            |source| (0..4096).filter(move |above| is_little_above([source, source + above]));
        assert_eq!(offsets(source).collect::<Vec<_>>(), Vec::from_iter(1..32));
        assert!(is_little_above([source, below]) && !is_little_above([below, source]));
    }

    /// Between these offsets lie those at which an AMD processor copies a long slice in parts.
    #[test]
    fn long_slices_are_copied_at_any_offset_in_a_page() {
        let from: Vec<u8> = (0..5000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let mut to = vec![0; 3 * 4096];
        let start = from.as_ptr().addr().wrapping_sub(to.as_ptr().addr()) % 4096;
        for above in [0, 1, 16, 31, 32, 4095] {
            to.fill(0);
            let first = (start + above) % 4096;
            write_into(&mut to[first..][..5000], |to| copy_long(bytes(&from), to));
            assert_eq!(to[first..][..5000], from, "{above} bytes above");
        }
    }

    #[test]
    fn a_prefetch_of_any_address_is_harmless() {
        for at in [0, 3, 4, 1 << 40, usize::MAX / 2, usize::MAX] {
            prefetch(bytes(&[1_u32]), at);
        }
    }
}
