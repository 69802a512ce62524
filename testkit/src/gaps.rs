//! Samples whose rows have gaps after them.

use crate::samples::{Sample, pattern};

impl Sample {
    /// This sample with gaps of so many elements after the slices of params and after those of the output; of encoded
    /// params, so many blocks or whole rows, beside which scales and zero points have gaps too. `output` stays without gaps.
    pub fn with_gaps(&self, gaps: [u64; 2]) -> Self {
        let slice_len = self.plan.slice_len();
        let params_gap = gaps[0] * self.part_len();
        let plan = self.plan.with_params_stride(slice_len + params_gap);
        let plan = plan.and_then(|plan| plan.with_output_stride(slice_len + gaps[1]));
        let gapped = |bytes: &[u8], slice_bytes: usize| {
            let gap = slice_bytes as u64 * params_gap / slice_len.max(1);
            let gap = pattern(usize::try_from(gap).expect("in memory"));
            let slices: Vec<_> = bytes.chunks(slice_bytes.max(1)).collect();
            slices.join(&gap[..])
        };
        Self {
            plan: plan.expect("short gaps"),
            ..self.with_operands(slice_len, gapped)
        }
    }
}
