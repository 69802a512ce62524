//! Picks rows by a mask, as NumPy's `places[life > 0]` and TensorFlow's `tf.boolean_mask` do: the particles that are alive.
//!
//! Only the GPU knows how many there are. One encoder records the numbers of those whose life is not 0, and a gather that takes
//! as many rows.
//!
//! ```sh
//! cargo run --release --example boolean_mask
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{Buffers, ElementTypes, Executor, Gather, Mask, Nonzero, Ranges};

const PARTICLES: u32 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };
    let (device, queue) = (gpu.device()?, gpu.queue()?);

    // A place and what is left of its life for each particle.
    let n = PARTICLES as usize;
    let places = (0..PARTICLES).flat_map(|id| [id as f32, id as f32 * 0.5, -1.0]);
    let life = (0..PARTICLES).map(|id| (id * 37 % 101).saturating_sub(29));
    let places = gpu.upload(places.collect::<Vec<f32>>(), &[n, 3])?;
    let life = gpu.upload(life.collect::<Vec<u32>>(), &[n])?;
    // Room for all particles, as each may be alive.
    let alive = gpu.zeros::<u32>(&[n])?;
    let count = gpu.zeros::<u32>(&[1])?;
    let output = gpu.zeros::<f32>(&[n, 3])?;

    // Once: the plan has the largest number of rows, and the count says how many each run has.
    let plan = Gather::new().plan(&[n, 3], &[n])?;
    let buffers = Buffers::gather(
        ElementTypes::of::<f32, u32>(),
        Ranges {
            params: places.buffer()?.slice(..),
            indices: alive.buffer()?.slice(..),
            output: output.buffer()?.slice(..),
        },
    )
    .index_count(count.buffer()?.slice(..));
    let gather = gpu.gatherer()?.prepare(&plan, &buffers)?;
    let nonzero = gpu.gatherer()?.prepare_nonzero(&Nonzero {
        mask: Mask::words(life.buffer()?.slice(..), n),
        numbers: alive.buffer()?.slice(..),
        count: count.buffer()?.slice(..),
        fill: None,
    })?;

    // Each frame.
    let mut encoder = device.create_command_encoder(&Default::default());
    nonzero.encode(&mut encoder);
    gather.encode(&mut encoder);
    queue.submit([encoder.finish()]);

    // The rows from the count on are left as they were.
    let count = count.download_blocking()?[0] as usize;
    let rows = output.download_blocking()?;
    let (rows, _) = rows[..3 * count].as_chunks::<3>();
    println!("{count} of {n} particles are alive");
    println!("the first {:?}", &rows[..3]);
    println!("the last {:?}", rows[count - 1]);
    // The checksum of NumPy's result, which tests/data/recipes.py computes.
    assert_eq!(common::adler32(bytemuck::cast_slice(rows)), 0x3382_e70f);
    Ok(())
}
