//! Samples whose rows have gaps after them.

use wgpu_gather::Encoding;

use crate::samples::{Sample, pattern};

impl Sample {
    /// This sample with gaps of so many elements after the slices of params and after those of the output; of encoded
    /// params, so many blocks. `output` stays without gaps.
    pub fn with_gaps(&self, gaps: [u64; 2]) -> Self {
        let slice_len = self.plan.slice_len();
        let params_gap = gaps[0] * self.encoding.map_or(1, Encoding::block_len);
        let plan = self.plan.with_params_stride(slice_len + params_gap);
        let plan = plan.and_then(|plan| plan.with_output_stride(slice_len + gaps[1]));
        let slice_bytes = self.params_bytes(slice_len);
        let gap = pattern(self.params_bytes(params_gap));
        let slices: Vec<_> = self.params.chunks(slice_bytes.max(1)).collect();
        Self {
            plan: plan.expect("short gaps"),
            params: slices.join(&gap[..]),
            ..self.clone()
        }
    }
}
