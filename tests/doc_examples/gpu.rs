use wgpu_gather::{Executor, Gather};

fn main() -> Result<(), wgpu_gather::GpuError> {
    let gpu = Executor::gpu_blocking()?; // or Executor::gpu().await, or Executor::from_parts(device, queue)
    let table = gpu.upload(&[10.0_f32, 11.0, 20.0, 21.0, 30.0, 31.0], &[3, 2])?; // stays on the GPU
    let rows = gpu.gather(Gather::new(), &table, &[2, 0, 7]).wait()?; // or .await
    assert_eq!(rows, [30.0, 31.0, 10.0, 11.0, 0.0, 0.0]); // 7 is out of range: zeros
    Ok(())
}
