//! Sizes and calls that follow from the library's, and samples with gaps after rows.

use wgpu_gather::{GatherPlan, Index, RunError};

use crate::samples::{Sample, pattern};

/// A prepared gather's dispatches, which its Debug prints.
#[cfg(feature = "gpu")]
pub fn dispatches(prepared: &wgpu_gather::Prepared) -> usize {
    let text = format!("{prepared:?}");
    let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
    digits.parse().expect("a number of dispatches")
}

/// The CPU's output in a new vector, with `fill` in bad rows.
pub fn run_filled<T: Copy + Default + Send + Sync, I: Index>(
    plan: &GatherPlan,
    params: &[T],
    indices: &[I],
    fill: T,
) -> Result<Vec<T>, RunError> {
    let len = plan.output_len();
    let mut output = vec![T::default(); len];
    plan.fill(fill).gather_into(params, indices, &mut output)?;
    Ok(output)
}

impl Sample {
    /// This sample with gaps after slices: `gaps[0]` elements in params, `gaps[1]` in the output. In encoded params,
    /// `gaps[0]` counts blocks or whole rows, and scales and zero points have gaps too. `output` stays without gaps.
    pub fn with_gaps(&self, gaps: [usize; 2]) -> Self {
        let slice_len = self.plan.slice_len();
        let params_gap = gaps[0] * self.part_len();
        let plan = self.plan.with_params_stride(slice_len + params_gap);
        let plan = plan.and_then(|plan| plan.with_output_stride(slice_len + gaps[1]));
        let gapped = |bytes: &[u8], slice_bytes: usize| {
            let gap = pattern(slice_bytes * params_gap / slice_len.max(1));
            let slices: Vec<_> = bytes.chunks(slice_bytes.max(1)).collect();
            slices.join(&gap[..])
        };
        Self {
            plan: plan.expect("short gaps"),
            ..self.with_operands(slice_len, gapped)
        }
    }
}
