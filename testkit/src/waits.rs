//! Results that come back from a GPU. A call blocks this thread or, on wasm, where no thread may block, is awaited.

use wgpu_gather::{GatherElement, GatherIndex, GatherPlan, Gpu, GpuError, Tensor};

pub async fn gather<T: GatherElement, I: GatherIndex>(
    gpu: &Gpu,
    plan: &GatherPlan,
    table: &Tensor<T>,
    indices: &[I],
) -> Result<Vec<T>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    let output = gpu.gather(plan, table, indices).wait();
    #[cfg(target_arch = "wasm32")]
    let output = gpu.gather(plan, table, indices).await;
    output
}

pub async fn download<T: GatherElement>(table: &Tensor<T>) -> Result<Vec<T>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    let elements = table.download().wait();
    #[cfg(target_arch = "wasm32")]
    let elements = table.download().await;
    elements
}

/// The shape of `len` elements of params: the plan's, unless the plan is for a shard or has gaps between its rows.
pub fn params_shape(plan: &GatherPlan, len: usize) -> Vec<usize> {
    let shape = plan.params_shape();
    match shape.iter().product::<usize>() == len {
        true => shape.to_vec(),
        false => vec![len],
    }
}
