use wgpu_gather::{Executor, Gather};

fn main() -> Result<(), wgpu_gather::GpuError> {
    let gpu = Executor::gpu_blocking()?;
    let table = gpu.upload(&[1.0_f32, 2.0, 3.0], &[3])?;
    let rows = gpu.gather(Gather::new(), &table, &[2, 3]).fill(-1.0).wait()?; // 3 is out of range
    assert_eq!(rows, [3.0, -1.0]);
    Ok(())
}
