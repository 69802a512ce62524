//! Samples whose rows have gaps after them.

use crate::samples::{Sample, pattern};

impl Sample {
    /// This sample with gaps of so many elements after the slices of params and after those of the output. `output` stays
    /// without gaps.
    pub fn with_gaps(&self, gaps: [u64; 2]) -> Self {
        let slice_len = self.plan.slice_len();
        let plan = self.plan.with_params_stride(slice_len + gaps[0]);
        let plan = plan.and_then(|plan| plan.with_output_stride(slice_len + gaps[1]));
        let slice_bytes = usize::try_from(slice_len).expect("in memory") * self.element_bytes;
        let gap = pattern(usize::try_from(gaps[0]).expect("a short gap") * self.element_bytes);
        let slices: Vec<_> = self.params.chunks(slice_bytes.max(1)).collect();
        Self {
            plan: plan.expect("short gaps"),
            params: slices.join(&gap[..]),
            ..self.clone()
        }
    }
}
