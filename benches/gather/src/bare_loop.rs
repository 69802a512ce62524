//! The simplest gather of bytes: one block, one i32 per index row, and a stop at the first bad row. If this crate's loop
//! takes longer, that is the cost of everything else it can do.

#![expect(unsafe_code, reason = "the least has no checks but that of the row")]

use std::mem::MaybeUninit;

use rayon::prelude::*;

type Byte = MaybeUninit<u8>;

/// Output bytes per task.
const TASK_BYTES: usize = 1 << 18;

/// Copies params row `indices[k]` to output row `k`, for all `k`, on the current pool's threads. Rows have `width` bytes.
/// Panics at a bad row.
pub fn gather(params: &[u8], indices: &[i32], output: &mut [u8], width: usize) {
    assert_eq!(output.len(), indices.len() * width);
    let rows_per_task = match rayon::current_num_threads() {
        1 => indices.len(),
        _ => (TASK_BYTES / width).max(1),
    };
    if output.len() < 4 * TASK_BYTES || rows_per_task == indices.len() {
        return copy(params, indices, output, width);
    }
    output
        .par_chunks_mut(rows_per_task * width)
        .zip(indices.par_chunks(rows_per_task))
        .for_each(|(output, indices)| copy(params, indices, output, width));
}

fn copy(params: &[u8], indices: &[i32], output: &mut [u8], width: usize) {
    let rows = params.len() / width;
    let ahead = match params.len() > 8 << 20 && width > 1 {
        true => ((8 << 10) / width).clamp(4, 64),
        false => 0,
    };
    let (params, output) = (params.as_ptr().cast(), output.as_mut_ptr().cast());
    // SAFETY: the output holds `width` bytes for each index. Params holds `rows` rows of `width` bytes.
    let copied = unsafe {
        match width {
            1 => fixed::<1>(params, rows, indices, output, ahead),
            2 => fixed::<2>(params, rows, indices, output, ahead),
            4 => fixed::<4>(params, rows, indices, output, ahead),
            8 => fixed::<8>(params, rows, indices, output, ahead),
            16 => fixed::<16>(params, rows, indices, output, ahead),
            32 => fixed::<32>(params, rows, indices, output, ahead),
            64 => fixed::<64>(params, rows, indices, output, ahead),
            _ => any(params, rows, indices, output, width, ahead),
        }
    };
    assert_eq!(copied, indices.len(), "a bad row");
}

/// Copies rows of `N` bytes up to a bad row, and returns how many. Prefetches the row `ahead` indices later, unless `ahead`
/// is 0.
///
/// # Safety
///
/// Params has `rows` rows of `N` bytes, and the output one for each index.
unsafe fn fixed<const N: usize>(
    params: *const Byte,
    rows: usize,
    indices: &[i32],
    output: *mut Byte,
    ahead: usize,
) -> usize {
    for (k, &index) in indices.iter().enumerate() {
        if ahead > 0 && k + ahead < indices.len() {
            let start = params.wrapping_add(wrapped(indices[k + ahead]).wrapping_mul(N));
            prefetch(start);
            prefetch(start.wrapping_add(N - 1));
        }
        let row = wrapped(index);
        if row >= rows {
            return k;
        }
        // SAFETY: params has the row, and the output a row for this index.
        unsafe {
            *output.add(k * N).cast::<[Byte; N]>() = *params.add(row * N).cast::<[Byte; N]>()
        };
    }
    indices.len()
}

/// Like [`fixed`], for rows of any width.
///
/// # Safety
///
/// Params has `rows` rows of `width` bytes, and the output one for each index.
unsafe fn any(
    params: *const Byte,
    rows: usize,
    indices: &[i32],
    output: *mut Byte,
    width: usize,
    ahead: usize,
) -> usize {
    for (k, &index) in indices.iter().enumerate() {
        if ahead > 0 && k + ahead < indices.len() {
            let start = params.wrapping_add(wrapped(indices[k + ahead]).wrapping_mul(width));
            for line in (0..width.min(256)).step_by(64) {
                prefetch(start.wrapping_add(line));
            }
        }
        let row = wrapped(index);
        if row >= rows {
            return k;
        }
        for piece in (0..width).step_by(2048) {
            let len = (width - piece).min(2048);
            // SAFETY: params has the row, and the output a row for this index.
            unsafe {
                let from = params.add(row * width + piece);
                from.copy_to_nonoverlapping(output.add(k * width + piece), len);
            }
        }
    }
    indices.len()
}

/// The row number of an index. A negative index becomes larger than any row.
fn wrapped(index: i32) -> usize {
    (index as isize).cast_unsigned()
}

fn prefetch(at: *const Byte) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
