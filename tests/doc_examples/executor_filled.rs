use wgpu_gather::{BadIndices, Executor, Gather};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = Executor::new_blocking();
    let plan = Gather::new().bad_indices(BadIndices::Zero).plan(&[3], &[2])?;
    let output = executor.gather_filled_blocking(&plan, &[1.0_f32, 2.0, 3.0], &[2, 3], -1.0)?;
    assert_eq!(output, [3.0, -1.0]);
    Ok(())
}
