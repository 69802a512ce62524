//! Numbers and forms of gathering that follow from the library's.

use wgpu_gather::{GatherIndex, GatherPlan, RunError};

/// The dispatches of a prepared gather, which its Debug prints.
#[cfg(feature = "gpu")]
pub fn dispatches(prepared: &wgpu_gather::PreparedGather) -> usize {
    let text = format!("{prepared:?}");
    let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
    digits.parse().expect("a number of dispatches")
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
