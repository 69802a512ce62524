//! The three kinds of mistakes and how to tell them apart: shapes that fit no gather, an index that is out of
//! range, and buffers that a device cannot gather with.
//!
//! ```sh
//! cargo run --release --example errors
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{
    ElementTypes, Executor, Gather, GatherBuffers, GatherError, GatherNd, Operand, PlanError,
    Ranges, RunError, wgpu,
};

fn main() -> Result<(), Box<dyn Error>> {
    // Shapes: a plan is refused before there is any data.
    let error = GatherNd::new().plan(&[4, 5], &[10, 3]);
    let Err(PlanError::IndexDepthAboveRank { index_depth, max }) = error else {
        return Err(format!("expected too deep index rows, found {error:?}").into());
    };
    println!("PlanError: index rows of {index_depth} values for {max} dims");

    // An error's text names the operand, the expected value and the found value.
    match Gather::new().axis(2).plan(&[4, 5], &[10]) {
        Err(error) => println!("PlanError: {error}"),
        Ok(plan) => return Err(format!("expected an error, found {plan}").into()),
    }

    // Operands: their lengths, ...
    let plan = Gather::new().plan(&[3], &[2, 2])?;
    match plan.run(&[10, 20], &[0, 1, 2, 0]) {
        Err(RunError::Length {
            operand: Operand::Params,
            expected,
            found,
        }) => println!("RunError: {found} elements instead of {}", expected.start()),
        other => return Err(format!("expected a wrong length, found {other:?}").into()),
    }
    // ... and index values. The error names the first bad row, by its position in indices and its values.
    match plan.run(&[10, 20, 30], &[0, 1, 3, -1]) {
        Err(RunError::BadIndex(bad)) => {
            println!("RunError: {:?} at {:?}", bad.index, bad.position);
            println!("RunError: {bad}");
            assert_eq!((bad.index, bad.position), (vec![3], vec![1, 0]));
        }
        other => return Err(format!("expected a bad index, found {other:?}").into()),
    }

    // Buffers: the gather checks them, records nothing, and wgpu reports no error.
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };
    let table = gpu.upload(&[10, 20, 30], plan.params_shape())?;
    let rows = gpu.upload(&[0, 1, 2, 0], plan.indices_shape())?;
    let short = gpu.upload(&[0; 3], &[3])?;
    let (table, rows, short) = (table.buffer()?, rows.buffer()?, short.buffer()?);
    let mut encoder = gpu
        .device()?
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let gatherer = gpu.gatherer()?;
    let mut encode_into = |output: &wgpu::Buffer| {
        let (params, indices) = (table.slice(..), rows.slice(..));
        let buffers = GatherBuffers::new(
            ElementTypes::of::<i32, i32>(),
            Ranges {
                params,
                indices,
                output: output.slice(..),
            },
        );
        gatherer.encode(&mut encoder, &plan, &buffers)
    };
    match encode_into(short) {
        Err(error @ GatherError::RangeTooShort { .. }) => println!("GatherError: {error}"),
        other => return Err(format!("expected a short range, found {other:?}").into()),
    }
    match encode_into(rows) {
        Err(GatherError::Overlap { operand, with, .. }) => {
            println!("GatherError: {operand} would overwrite {with}");
            assert_eq!((operand, with), (Operand::Output, Operand::Indices));
        }
        other => return Err(format!("expected an overlap, found {other:?}").into()),
    }
    Ok(())
}
