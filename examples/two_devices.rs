//! Splits a table over two devices: each gathers from the half that it holds, and the two outputs are combined.
//!
//! ```sh
//! cargo run --release --example two_devices
//! ```
//!
//! On a machine with one adapter, both devices use it.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, Write};

use wgpu_gather::{BadIndices, Executor, GatherNd, GpuError, RunError};

const ROWS: usize = 10_000;
const SLICE_LEN: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let params: Vec<f32> = (0..160_000_u32).map(|element| element as f32).collect();
    let indices: Vec<u32> = (0..5_000).map(|n| n * 7919 % 10_000).collect();
    let plan = GatherNd::new()
        .bad_indices(BadIndices::Error)
        .plan(&[ROWS, SLICE_LEN], &[indices.len(), 1])?;

    // Each device holds a shard, and runs the shard's plan.
    let mut output = vec![0; plan.output_len()];
    let mut shards = Vec::new();
    for rows in [0..ROWS / 2, ROWS / 2..ROWS] {
        let gpu = Executor::gpu_blocking()?;
        let held = &params[rows.start * SLICE_LEN..rows.end * SLICE_LEN];
        let table = gpu.upload(held, &[rows.len(), SLICE_LEN])?;
        say(format!("rows {rows:?} on {gpu}"));
        shards.push((plan.shard(rows.start..rows.end)?, gpu, table));
    }
    for (shard, gpu, table) in &shards {
        // A device writes zero bytes for the other shard's rows, so OR combines the outputs.
        for (whole, part) in output
            .iter_mut()
            .zip(gpu.gather(shard, table, &indices).wait()?)
        {
            *whole |= part.to_bits();
        }
    }
    let expected = plan.gather(&params, &indices)?;
    let expected: Vec<u32> = expected.into_iter().map(f32::to_bits).collect();
    assert_eq!(output, expected);
    say(format!(
        "{plan}: two halves, put together, are the CPU's answer, bit for bit"
    ));

    // An index out of range gives an equal error on both devices.
    let mut indices = indices;
    indices[4_321] = 10_000;
    for (shard, gpu, table) in &shards {
        match gpu.gather(shard, table, &indices).wait() {
            Err(GpuError::Run(RunError::BadIndex(bad))) => say(bad),
            other => return Err(format!("expected a bad index, found {other:?}").into()),
        }
    }
    Ok(())
}

/// Prints a line. A closed pipe is no error: `two_devices | head -1` reads one line only.
fn say(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}
