//! `wgpu-gather bench`: times a few gathers, after a check of each output, and copies of as many bytes. The
//! library's `cargo bench` times more.

use std::time::{Duration, Instant};

use wgpu_gather::{
    BadIndices, ElementTypes, GatherBuffers, GatherNd, GatherPlan, Gpu, GpuError, GpuOptions, wgpu,
};

use crate::adapters::{find, size};
use crate::table::Table;
use wgpu_gather_cli::arrays::Result;

/// Each workload: the rows of params, the f32 in a row, and the output rows.
const WORKLOADS: [(usize, usize, usize); 4] = [
    (4 << 20, 1, 1 << 20),
    (1 << 19, 16, 1 << 19),
    (1 << 16, 128, 1 << 16),
    (1 << 14, 512, 1 << 14),
];

/// Timed calls, whose median is shown.
const ROUNDS: usize = 7;

pub fn run(adapter: Option<&str>) -> Result<String> {
    let gpu = match adapter {
        Some(_) => Some(pollster::block_on(Gpu::open(&GpuOptions {
            adapter: Some(find(adapter)?[0].clone()),
            ..Default::default()
        }))?),
        None => match pollster::block_on(Gpu::open(&GpuOptions::from_env())) {
            Err(GpuError::NoAdapter(_)) => None,
            gpu => Some(gpu?),
        },
    };
    let device = gpu
        .as_ref()
        .map_or("no adapter found".to_owned(), ToString::to_string);
    let mut table = Table::new(&["device", "slices", "output"], &["ms", "GB/s", "x copy"]);
    for (row_count, slice_len, gathered) in WORKLOADS {
        let work = Work::new(row_count, slice_len, gathered)?;
        let mut row = |device: &str, (gather, copy): (Duration, Duration)| {
            let seconds = gather.as_secs_f64();
            table.row(vec![
                device.to_owned(),
                size(slice_len as u64 * 4),
                size(work.expected.len() as u64 * 4),
                format!("{:.3}", seconds * 1e3),
                format!("{:.2}", work.expected.len() as f64 * 4e-9 / seconds),
                format!("{:.2}", seconds / copy.as_secs_f64()),
            ]);
        };
        row("CPU", work.on_cpu()?);
        if let Some(gpu) = &gpu {
            row("GPU", work.on_gpu(gpu)?);
        }
    }
    Ok(format!("GPU: {device}\n\n{table}"))
}

/// A gather with its data and its expected output.
struct Work {
    plan: GatherPlan,
    params: Vec<u32>,
    indices: Vec<i32>,
    expected: Vec<u32>,
}

impl Work {
    fn new(row_count: usize, slice_len: usize, gathered: usize) -> Result<Self> {
        let plan = GatherNd::new()
            .bad_indices(BadIndices::Zero)
            .plan(&[row_count, slice_len], &[gathered, 1])?;
        let params: Vec<u32> = (1..).take(row_count * slice_len).collect();
        // Weyl's sequence: spread over all of params, in an order that does not help prefetching.
        let rows = (0..gathered).map(|n| n.wrapping_mul(2_654_435_769) % row_count);
        let rows: Vec<usize> = rows.collect();
        let indices = rows.iter().map(|&row| i32::try_from(row));
        let slices = rows
            .iter()
            .map(|row| &params[row * slice_len..][..slice_len]);
        Ok(Self {
            indices: indices.collect::<std::result::Result<_, _>>()?,
            expected: slices.flatten().copied().collect(),
            plan,
            params,
        })
    }

    /// The times of `run_into` and of memcpy on one thread.
    fn on_cpu(&self) -> Result<(Duration, Duration)> {
        let mut output = vec![0; self.expected.len()];
        self.plan
            .run_into(&self.params, &self.indices, &mut output)?;
        self.check(&output)?;
        let gather = median(|| {
            Ok(self
                .plan
                .run_into(&self.params, &self.indices, &mut output)?)
        })?;
        let copy = median(|| {
            output.copy_from_slice(std::hint::black_box(&self.expected));
            std::hint::black_box(&mut output);
            Ok(())
        })?;
        Ok((gather, copy))
    }

    /// The times of the gather and of a copy of the output, both in GPU memory, from submission to completion.
    fn on_gpu(&self, gpu: &Gpu) -> Result<(Duration, Duration)> {
        let (params, indices) = (gpu.upload(&self.params)?, gpu.upload(&self.indices)?);
        let output = gpu.upload(&vec![0_u32; self.expected.len()])?;
        let buffers = GatherBuffers::new(ElementTypes::of::<u32, i32>())
            .params(params.buffer()?.slice(..))
            .indices(indices.buffer()?.slice(..))
            .output(output.buffer()?.slice(..));
        let prepared = gpu.gatherer().prepare(&self.plan, &buffers)?;
        submit(gpu, |encoder| prepared.encode(encoder))?;
        self.check(&output.download().wait()?)?;

        let gather = median(|| submit(gpu, |encoder| prepared.encode(encoder)))?;
        let copied = gpu.upload(&self.expected)?;
        let (from, to) = (copied.buffer()?, output.buffer()?);
        let copy = median(|| {
            submit(gpu, |encoder| {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            })
        })?;
        Ok((gather, copy))
    }

    fn check(&self, output: &[u32]) -> Result<()> {
        let differs = output.iter().zip(&self.expected).position(|(a, b)| a != b);
        match differs {
            None => Ok(()),
            Some(at) => Err(format!(
                "{}: output element {at} is {}, expected {}",
                self.plan, output[at], self.expected[at]
            )
            .into()),
        }
    }
}

fn submit(gpu: &Gpu, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    record(&mut encoder);
    gpu.queue().submit([encoder.finish()]);
    gpu.device().poll(wgpu::PollType::wait_indefinitely())?;
    Ok(())
}

/// The median time of [`ROUNDS`] calls, after a warm-up call.
fn median(mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    work()?;
    let mut samples = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work()?;
        samples.push(start.elapsed());
    }
    samples.sort();
    Ok(samples[ROUNDS / 2])
}
