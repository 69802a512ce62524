use wgpu_gather::{BadIndices, Executor, Gather};

fn main() -> Result<(), wgpu_gather::GpuError> {
    let executor = Executor::new_blocking(); // or Executor::new().await
    println!("gathering on {executor}");
    let table = executor.upload(&[1.0_f32, 2.0, 3.0], &[3])?; // on the GPU, or in host memory
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    let output = executor.gather(gather, &table, &[2, 3]).fill(-1.0).wait()?;
    assert_eq!(output, [3.0, -1.0]);
    Ok(())
}
