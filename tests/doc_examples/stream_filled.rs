use wgpu_gather::{BadIndices, Gather, Gpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new_blocking()?;
    let plan = Gather::new().bad_indices(BadIndices::Zero).plan(&[3], &[2])?;
    let stream = gpu.stream(&plan, &[10, 20, 30], &[2, 3], 1 << 20)?;
    let chunks: Result<Vec<_>, _> = stream.fill(-1)?.collect();
    assert_eq!(chunks?.concat(), [30, -1]);
    Ok(())
}
