//! Two gathers in one submit: what the first one writes is the indices of the second, and never leaves the GPU.
//!
//! ```sh
//! cargo run --release --example chain
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{Gather, GatherBuffers, Gpu, wgpu};

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match pollster::block_on(Gpu::from_env()) {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };

    // Which product each line of a shop's orders is for, and what each product costs.
    let product_of_line = [3_u32, 0, 2, 3, 1, 0, 2, 2];
    let prices = [4.50_f32, 12.00, 0.75, 99.00];
    // The lines that someone asks about.
    let lines = [7_u32, 0, 4, 3, 1];

    let products_plan = Gather::new().plan(&[product_of_line.len()], &[lines.len()])?;
    let prices_plan = Gather::new().plan(&[prices.len()], &[lines.len()])?;

    let (product_of_line, prices) = (gpu.upload(&product_of_line)?, gpu.upload(&prices)?);
    let lines = gpu.upload(&lines)?;
    // Room for what the gathers write. The products are output of one and indices of the other: wgpu puts the
    // barrier between the two.
    let (products, output) = (gpu.upload(&[0_u32; 5])?, gpu.upload(&[0.0_f32; 5])?);

    let mut encoder = gpu
        .device()
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let buffers = GatherBuffers::new::<u32, u32>(
        product_of_line.buffer().slice(..),
        lines.buffer().slice(..),
        products.buffer().slice(..),
    );
    gpu.gatherer()
        .encode(&mut encoder, &products_plan, &buffers)?;
    let buffers = GatherBuffers::new::<f32, u32>(
        prices.buffer().slice(..),
        products.buffer().slice(..),
        output.buffer().slice(..),
    );
    gpu.gatherer()
        .encode(&mut encoder, &prices_plan, &buffers)?;
    gpu.queue().submit([encoder.finish()]);

    let output = gpu.download_blocking(&output)?;
    println!("lines    {:?}", gpu.download_blocking(&lines)?);
    println!("products {:?}", gpu.download_blocking(&products)?);
    println!("prices   {output:?}");
    assert_eq!(output, [0.75, 99.0, 12.0, 99.0, 4.5]);
    Ok(())
}
