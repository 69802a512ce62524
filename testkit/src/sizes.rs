//! Numbers and forms of gathering that follow from the library's.

use std::ops::Range;

use wgpu_gather::{GatherIndex, GatherPlan, RunError};

/// The dispatches of a prepared gather, which its Debug prints.
#[cfg(feature = "gpu")]
pub fn dispatches(prepared: &wgpu_gather::PreparedGather) -> usize {
    let text = format!("{prepared:?}");
    let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
    digits.parse().expect("a number of dispatches")
}

/// The elements of each slice of an output that the caller gives, which may have gaps.
pub fn output_slices(plan: &GatherPlan) -> impl Iterator<Item = Range<usize>> {
    let dense: usize = plan.output_shape().iter().product();
    let slice_len = usize::try_from(plan.slice_len()).expect("in memory");
    let rows = dense.checked_div(slice_len).unwrap_or(0);
    let with_gaps = usize::try_from(plan.output_len()).expect("in memory");
    // The last slice has no gap after it.
    let stride = match rows {
        0 | 1 => slice_len,
        _ => (with_gaps - slice_len) / (rows - 1),
    };
    (0..rows).map(move |row| row * stride..row * stride + slice_len)
}

/// The output on the CPU with `fill` in bad rows, in a new vector.
pub fn run_filled<T: Copy + Default + Send + Sync, I: GatherIndex>(
    plan: &GatherPlan,
    params: &[T],
    indices: &[I],
    fill: T,
) -> Result<Vec<T>, RunError> {
    let len = usize::try_from(plan.output_len()).expect("in memory");
    let mut output = vec![T::default(); len];
    plan.run_into_with_fill(params, indices, fill, &mut output)?;
    Ok(output)
}
