//! Runs an ONNX model's node `ScatterND` with an `Executor`: on the GPU if there is one, else on the CPU. A GPU has every
//! reduction but float products, which run on the CPU.
//!
//! ```sh
//! cargo run --release --example scatter_nd
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{Executor, GatherError, GatherNd, GpuError, NegativeIndices, Reduce};

/// A node with its inputs, as the model's file has it.
struct ScatterNd {
    /// The attribute `reduction`: none, add, mul, min or max.
    reduction: &'static str,
    data: (Vec<f32>, Vec<usize>),
    indices: (Vec<i64>, Vec<usize>),
    updates: Vec<f32>,
}

impl ScatterNd {
    fn run(&self, executor: &Executor) -> Result<Vec<f32>, GpuError> {
        let scatter = GatherNd::new().negative_indices(NegativeIndices::FromEnd);
        let (data, shape) = &self.data;
        let (indices, indices_shape) = &self.indices;
        let mut target = executor.upload(data, shape)?;
        let updates = executor.upload(&self.updates, &[self.updates.len()])?;
        let request = executor.scatter(scatter, &updates, (indices, indices_shape), &mut target);
        match self.reduction {
            "none" => request.wait()?,
            name => {
                let reduce: Reduce = name.parse()?;
                request.reduce(reduce).wait()?;
            }
        }
        target.download_blocking()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = common::executor()?;
    let node = |reduction| ScatterNd {
        reduction,
        data: (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], vec![4, 2]),
        // Rows 3 and 0, and the last row again.
        indices: (vec![3, 0, -1], vec![3, 1]),
        updates: vec![9.0, 10.0, 11.0, 12.0, 0.5, 20.0],
    };
    for reduction in ["none", "add", "mul", "max"] {
        let node = node(reduction);
        let output = match node.run(&gpu) {
            // Float products.
            Err(GpuError::Gather(GatherError::UnsupportedReduce { .. })) => {
                node.run(&Executor::cpu())?
            }
            output => output?,
        };
        println!("{reduction:4} {output:?}");
    }
    Ok(())
}
