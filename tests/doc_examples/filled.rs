use wgpu_gather::{Gather, Gpu};

fn main() -> Result<(), wgpu_gather::GpuError> {
    let gpu = Gpu::new_blocking()?;
    let rows = gpu.gather(Gather::new(), &[1.0_f32, 2.0, 3.0], &[2, 3]).fill(-1.0).wait()?;
    assert_eq!(rows, [3.0, -1.0]);
    Ok(())
}
