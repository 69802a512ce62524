//! Encoded params as tensors.

use wgpu_gather::{Encoded, Encoding, GatherPlan, Tensor};

use crate::encoded::row_bytes;

/// Encoded params as tensors of bytes.
pub struct EncodedTensors {
    params: Tensor<u8>,
    qparams: [Option<Tensor<u8>>; 2],
}

impl EncodedTensors {
    /// The last dim of params is the bytes of a row, unless the plan is for a shard or has gaps between its rows.
    pub fn new(
        plan: &GatherPlan,
        encoding: Encoding,
        params: Encoded<&[u8]>,
        upload: impl Fn(&[u8], &[usize]) -> Tensor<u8>,
    ) -> Self {
        let Encoded {
            rows,
            scales,
            zero_points,
            ..
        } = params;
        let mut shape = plan.params_shape().to_vec();
        if let Some(last) = shape.last_mut() {
            [*last, ..] = row_bytes(encoding, *last as u64);
        }
        if shape.iter().product::<usize>() != rows.len() {
            shape = vec![rows.len()];
        }
        Self {
            params: upload(rows, &shape),
            qparams: [scales, zero_points]
                .map(|bytes| bytes.map(|bytes| upload(bytes, &[bytes.len()]))),
        }
    }

    pub fn params(&self) -> Encoded<&Tensor<u8>> {
        let mut params = Encoded::new(&self.params);
        if let Some(scales) = &self.qparams[0] {
            params = params.scales(scales);
        }
        if let Some(zero_points) = &self.qparams[1] {
            params = params.zero_points(zero_points);
        }
        params
    }
}
