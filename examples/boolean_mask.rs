//! Picks rows by a mask, as NumPy's `places[life >= 30]` and TensorFlow's `tf.boolean_mask` do: the particles that are alive.
//!
//! Only the GPU knows how many there are. One encoder records a comparison and a compaction of particle numbers, both from the
//! crate lampshade, and a gather that takes as many rows as the compaction counted.
//!
//! ```sh
//! cargo run --release --example boolean_mask
//! ```

mod common;

use std::error::Error;

use lampshade::U32Predicate;
use lampshade::pipeline::{GpuCount, GpuSlice, GpuSliceMut, Primitives, WorkspaceRequirements};
use wgpu_gather::{Buffers, ElementTypes, Executor, Gather, Ranges};

const PARTICLES: u32 = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };
    let (device, queue) = (gpu.device()?, gpu.queue()?);

    // A place and a life for each particle.
    let n = PARTICLES as usize;
    let places = (0..PARTICLES).flat_map(|id| [id as f32, id as f32 * 0.5, -1.0]);
    let life = (0..PARTICLES).map(|id| id * 37 % 101);
    let places = gpu.upload(places.collect::<Vec<f32>>(), &[n, 3])?;
    let life = gpu.upload(life.collect::<Vec<u32>>(), &[n])?;
    let ids = gpu.upload((0..PARTICLES).collect::<Vec<u32>>(), &[n])?;
    // Room for all particles, as each may be alive.
    let mask = gpu.zeros::<u32>(&[n])?;
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
    let mut primitives = Primitives::new_for_adapter(device, queue, &device.adapter_info());
    let workspace = WorkspaceRequirements::new(PARTICLES).predicate().compact();
    primitives.reserve_workspace(workspace)?;

    // Each frame.
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut recorder = primitives.record(&mut encoder);
    let mask = recorder.mask(
        GpuSlice::from_range(life.buffer()?, 0..PARTICLES)?,
        GpuSliceMut::from_range(mask.buffer()?, 0..PARTICLES)?,
        U32Predicate::GreaterThanOrEqual(30),
    )?;
    recorder.compact(
        GpuSlice::from_range(ids.buffer()?, 0..PARTICLES)?,
        mask,
        GpuSliceMut::from_range(alive.buffer()?, 0..PARTICLES)?,
        GpuCount::new(count.buffer()?)?,
    )?;
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
