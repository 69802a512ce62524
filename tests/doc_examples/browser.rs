use wgpu_gather::{BadIndices, Executor, Gather, GpuError};

/// The colours of a palette that pixels name: on the browser's GPU if there is one, else on the CPU, in wasm.
pub async fn colours(pixels: &[u32]) -> Result<Vec<[u8; 4]>, GpuError> {
    let executor = Executor::gpu_or_cpu().await;
    let palette = executor.upload(&[[255, 0, 0, 255], [0, 0, 255, 255]], &[2])?;
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    executor.gather(gather, &palette, pixels).await
}
