//! Results that come back from a GPU. A call blocks this thread or, on wasm, where no thread may block, is awaited.

use wgpu_gather::{GatherElement, GatherIndex, GatherPlan, Gpu, GpuError, GpuTable};

pub async fn gather<T: GatherElement, I: GatherIndex>(
    gpu: &Gpu,
    plan: &GatherPlan,
    table: &GpuTable<T>,
    indices: &[I],
) -> Result<Vec<T>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    let output = gpu.gather_blocking(plan, table, indices);
    #[cfg(target_arch = "wasm32")]
    let output = gpu.gather(plan, table, indices).await;
    output
}

pub async fn download<T: GatherElement>(
    gpu: &Gpu,
    table: &GpuTable<T>,
) -> Result<Vec<T>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    let elements = gpu.download_blocking(table);
    #[cfg(target_arch = "wasm32")]
    let elements = gpu.download(table).await;
    elements
}
