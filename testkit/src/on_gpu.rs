//! A runner that gathers on any GPU.

use wgpu_gather::{BadIndices, GatherIndex, GatherPlan, Gpu, GpuError, RunError};

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
        let gathered = if self.awaits {
            pollster::block_on(self.gpu.gather(plan, &table, indices))
        } else {
            self.gpu.gather(plan, &table, indices).wait()
        };
        gathered.map_err(|error| match error {
            GpuError::Run(error) => error,
            error => panic!("{error}"),
        })
    }
}
