use wgpu_gather::{GatherNd, Gpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new_blocking()?; // or Gpu::new().await, or Gpu::from_parts(device, queue)
    let table = gpu.upload(&[10.0_f32, 11.0, 20.0, 21.0, 30.0, 31.0])?; // stays on the GPU
    let plan = GatherNd::new().plan(&[3, 2], &[4, 1])?;
    let rows = gpu.gather_blocking(&plan, &table, &[2, 0, 2, 7])?; // or gather(..).await
    assert_eq!(rows, [30.0, 31.0, 10.0, 11.0, 30.0, 31.0, 0.0, 0.0]); // 7 is out of range: zeros
    Ok(())
}
