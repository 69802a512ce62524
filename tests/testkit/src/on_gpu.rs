//! A runner that gathers on any device.

use wgpu_gather::{
    BadIndices, Encoded, Executor, Float, GatherPlan, GpuError, Index, Request, RunError,
};

use super::gpu::Gpu;
use super::samples::{Element, Runner, dense};
use super::waits::{encoded_shape, params_shape};

/// Gathers by a request; awaits it if `awaits` is set, and blocks if not.
pub struct OnGpu<'a> {
    pub executor: &'a Executor,
    pub awaits: bool,
    /// The bytes of an element that fills bad rows, or nothing.
    pub fill: &'a [u8],
}

pub fn blocking(gpu: &Gpu) -> OnGpu<'_> {
    OnGpu {
        executor: gpu,
        awaits: false,
        fill: &[],
    }
}

impl OnGpu<'_> {
    fn output<T: Element>(&self, mut request: Request<'_, T>) -> Result<Vec<T>, RunError> {
        if !self.fill.is_empty() {
            request = request.fill(bytemuck::checked::pod_read_unaligned(self.fill));
        }
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

    fn gather<T: Element, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let shape = params_shape(plan, params.len());
        let table = self.executor.upload(params, &shape).unwrap();
        self.output(self.executor.gather(dense(plan), &table, indices))
    }

    fn gather_decoded<T: Element + Float, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &Encoded<&[u8], T>,
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let shape = encoded_shape(plan, params);
        let table = self.executor.upload_encoded(params, &shape).unwrap();
        self.output(self.executor.gather(dense(plan), &table, indices))
    }
}
