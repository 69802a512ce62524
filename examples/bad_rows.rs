//! Bad rows (index rows out of range) on the GPU: their output rows are zeros, and a report counts them and names the
//! first. `Executor::gather` reads the report itself; here an app reads it when it likes.
//!
//! ```sh
//! cargo run --release --example bad_rows
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{
    BadIndices, BadRows, ElementTypes, Executor, GatherBuffers, GatherNd, Ranges, wgpu,
};

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };

    // 5 index rows of 2 values into a table of 3 x 3. The second and the fourth are out of range.
    let params = [11_i32, 12, 13, 21, 22, 23, 31, 32, 33];
    let indices = [0_i32, 0, 1, 3, 2, 2, -1, 0, 1, 1];
    let plan = GatherNd::new()
        .bad_indices(BadIndices::Error)
        .plan(&[3, 3], &[5, 2])?;

    let table = gpu.upload(&params, plan.params_shape())?;
    let rows = gpu.upload(&indices, plan.indices_shape())?;
    // The gather writes all of the output, so no -1 is left. A report is one more buffer, and is written whole too.
    let output = gpu.upload(&[-1_i32; 5], plan.output_shape())?;
    let report = gpu.zeros::<u8>(&[usize::try_from(BadRows::REPORT_BYTES)?])?;
    let buffers = GatherBuffers::new(
        ElementTypes::of::<i32, i32>(),
        Ranges {
            params: table.buffer()?.slice(..),
            indices: rows.buffer()?.slice(..),
            output: output.buffer()?.slice(..),
        },
    )
    .report(report.buffer()?.slice(..));

    let gather = gpu.gatherer()?.prepare(&plan, &buffers)?;
    let mut encoder = gpu
        .device()?
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    gather.encode(&mut encoder);
    gpu.queue()?.submit([encoder.finish()]);

    let output = output.download_blocking()?;
    println!("output {output:?}");
    assert_eq!(output, [11, 0, 33, 0, 22]);

    // The report may be read now, later or never. It costs the host nothing but the wait for it.
    let report = report.download_blocking()?;
    let Some(bad_rows) = gather.bad_rows(&report)? else {
        return Err("the report names no row".into());
    };
    println!("{} bad rows, the first of them:", bad_rows.count);
    println!("{}", bad_rows.first);
    assert_eq!((bad_rows.count, bad_rows.first.row), (2, 1));
    // The CPU gives an equal error.
    assert_eq!(plan.run(&params, &indices), Err(bad_rows.first.into()));
    Ok(())
}
