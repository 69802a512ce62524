//! Two gathers whose operands and outputs stay on the GPU: the output of the first is the indices of the second.
//!
//! ```sh
//! cargo run --release --example chain
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{Gather, Gpu, GpuOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match pollster::block_on(Gpu::open(&GpuOptions::from_env())) {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };

    // The product of each line of a shop's orders, and the price of each product.
    let product_of_line = gpu.upload(&[3_u32, 0, 2, 3, 1, 0, 2, 2])?;
    let prices = gpu.upload(&[4.50_f32, 12.00, 0.75, 99.00])?;
    // The lines whose prices are looked up.
    let lines = gpu.upload(&[7_u32, 0, 4, 3, 1])?;

    let plan = Gather::new().plan(product_of_line.shape(), lines.shape())?;
    let products = gpu
        .gather(&plan, &product_of_line, &lines)
        .on_gpu()
        .wait()?;
    let plan = Gather::new().plan(prices.shape(), products.shape())?;
    let output = gpu.gather(&plan, &prices, &products).on_gpu().wait()?;

    let output = output.download().wait()?;
    println!("lines    {:?}", lines.download().wait()?);
    println!("products {:?}", products.download().wait()?);
    println!("prices   {output:?}");
    assert_eq!(output, [0.75, 99.0, 12.0, 99.0, 4.5]);
    Ok(())
}
