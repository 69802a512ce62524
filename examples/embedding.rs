//! Trains an embedding for one step, with an `Executor`. A gather looks up the tokens, a scatter that adds makes the table's
//! gradient, and another takes the step. Float sums have the same bits in each run, on a GPU and on the CPU.
//!
//! ```sh
//! cargo run --release --example embedding
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{Gather, Reduce};

/// How many rows the table has, and how many numbers a row.
const SHAPE: [usize; 2] = [5, 3];
const RATE: f32 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    let executor = common::executor()?;
    let table: Vec<f32> = (0_u8..15).map(|at| f32::from(at) * 0.3 - 2.0).collect();
    let mut table = executor.upload(table, &SHAPE)?;
    // A batch of tokens, padded with 0.
    let tokens = executor.upload(&[3_u32, 1, 3, 0, 4, 3, 0, 0], &[8])?;
    let wanted = [0.25_f32, -0.5, 1.0];

    let rows = executor.gather(Gather::new(), &table, &tokens).wait()?;
    // The app computes the gradient of its loss, a mean of squares; here on the host.
    let wanted = wanted.iter().cycle();
    let gradient_of_rows: Vec<f32> = (rows.iter().zip(wanted))
        .map(|(found, wanted)| 2.0 * (found - wanted) / 24.0)
        .collect();

    // Each table row gets the sum of the gradients of its copies.
    let plan = Gather::new().plan(&SHAPE, &[8])?;
    let mut gradient = executor.zeros::<f32>(&SHAPE)?;
    let updates = executor.upload(&gradient_of_rows, &[8, 3])?;
    let sum = executor.scatter(&plan, &updates, &tokens, &mut gradient);
    sum.reduce(Reduce::Add).wait()?;
    println!("gradient {:?}", gradient.download_blocking()?);

    // The step changes only rows that the batch selects.
    let steps: Vec<f32> = gradient_of_rows.iter().map(|of| -RATE * of).collect();
    let updates = executor.upload(&steps, &[8, 3])?;
    let step = executor.scatter(&plan, &updates, &tokens, &mut table);
    step.reduce(Reduce::Add).wait()?;
    println!("table    {:?}", table.download_blocking()?);
    Ok(())
}
