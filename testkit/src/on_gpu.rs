//! A runner that gathers on any GPU.

use wgpu_gather::{
    BadIndices, Encoded, Encoding, GatherIndex, GatherPlan, GatherRequest, Gpu, GpuError, RunError,
};

use super::encoded_tensors::EncodedTensors;
use super::samples::{Element, Runner};
use super::waits::params_shape;

/// Gathers by a request that is awaited if `awaits` is set, and waited for if not.
pub struct OnGpu<'a> {
    pub gpu: &'a Gpu,
    pub awaits: bool,
}

pub fn blocking(gpu: &Gpu) -> OnGpu<'_> {
    OnGpu { gpu, awaits: false }
}

impl OnGpu<'_> {
    fn output<T: Element>(&self, request: GatherRequest<'_, T>) -> Result<Vec<T>, RunError> {
        let gathered = match self.awaits {
            true => pollster::block_on(request),
            false => request.wait(),
        };
        gathered.map_err(|error| match error {
            GpuError::Run(error) => error,
            error => panic!("{error}"),
        })
    }
}

impl Runner for OnGpu<'_> {
    const DEVICE_DEFAULT: BadIndices = BadIndices::Fill;

    fn gather<T: Element, I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let shape = params_shape(plan, params.len());
        let table = self.gpu.upload(params, &shape).unwrap();
        self.output(self.gpu.gather(plan, &table, indices))
    }

    fn gather_decoded<I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        encoding: Encoding,
        params: Encoded<&[u8]>,
        indices: &[I],
    ) -> Result<Vec<f32>, RunError> {
        let upload = |bytes: &[u8], shape: &[usize]| self.gpu.upload(bytes, shape).unwrap();
        let tensors = EncodedTensors::new(plan, encoding, params, upload);
        let request = (self.gpu).gather_decoded(plan, encoding, tensors.params(), indices);
        self.output(request)
    }
}
