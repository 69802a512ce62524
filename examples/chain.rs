//! Chains two gathers: the first one's output stays on the GPU, and the second takes it as indices.
//!
//! ```sh
//! cargo run --release --example chain
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{Executor, Gather};

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };

    // Which product each order line of a shop names, and what each product costs.
    let product_of_line = gpu.upload(&[3_u32, 0, 2, 3, 1, 0, 2, 2], &[8])?;
    let prices = gpu.upload(&[4.50_f32, 12.00, 0.75, 99.00], &[4])?;
    // The lines whose prices are looked up.
    let lines = gpu.upload(&[7_u32, 0, 4, 3, 1], &[5])?;

    // Nothing is read back between the gathers. Each is planned for the shapes of its tensors.
    let products = gpu.gather(Gather::new(), &product_of_line, &lines);
    let products = products.on_gpu().wait()?;
    let output = gpu.gather(Gather::new(), &prices, &products).wait()?;

    println!("lines    {:?}", lines.download_blocking()?);
    println!("products {:?}", products.download_blocking()?);
    println!("prices   {output:?}");
    assert_eq!(output, [0.75, 99.0, 12.0, 99.0, 4.5]);
    Ok(())
}
