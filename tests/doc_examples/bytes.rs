use wgpu_gather::{ElementTypes, Executor, Gather, IndexKind};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Executor::gpu_blocking()?;
    // A table of 3 rows of 2 elements of 2 bytes, as a file holds it, and the indices 2 and 0 as i64.
    let table = gpu.upload(b"aabbccddeeff", &[12])?;
    let indices = gpu.upload([2_i64, 0].map(i64::to_le_bytes).concat(), &[16])?;
    let types = ElementTypes::new(2, IndexKind::I64);
    let plan = Gather::new().plan(&[3, 2], &[2])?;
    let rows = gpu.gather_bytes(&plan, types, &table, &indices).wait()?;
    assert_eq!(rows, b"eeffaabb");
    Ok(())
}
