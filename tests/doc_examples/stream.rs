use wgpu_gather::{Gather, Gpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new_blocking()?;
    // A table in host memory, of which the GPU holds a window at a time: 16 MiB of buffers in all.
    let table: Vec<u32> = (0..8 << 20).collect();
    let indices: Vec<u32> = (0..500_000).map(|n| n * 7_919 % (1 << 20)).collect();
    let plan = Gather::new().plan(&[1 << 20, 8], &[indices.len()])?;
    let mut output = Vec::new();
    for chunk in gpu.stream(&plan, &table, &indices, 16 << 20)? {
        output.extend(chunk?); // or to a file, a socket, ...
    }
    assert_eq!(output, plan.run(&table, &indices)?);
    Ok(())
}
