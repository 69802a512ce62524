//! `wgpu-gather bench`: checks each output of a few gathers, then times them beside equally large copies. `wgpu-gather-bench`, in
//! the library's repository, times more.

use std::time::Instant;

use serde_json::{Value, json};
use wgpu_gather::{
    BadIndices, ElementTypes, Executor, GatherBuffers, GatherNd, GatherPlan, GpuError, Ranges,
    Tensor, wgpu,
};

use crate::adapters::size;
use crate::args::Bench;
use crate::choose::open;
use crate::progress::of_steps;
use crate::table::Table;
use wgpu_gather_cli::arrays::Result;

/// For each workload: bytes per slice, params in MiB, output in MiB.
const WORKLOADS: [(usize, usize, usize); 4] =
    [(4, 16, 4), (64, 32, 32), (512, 32, 32), (2048, 32, 32)];

pub fn run(args: &Bench) -> Result<String> {
    let choice = &args.choice;
    let adapter = choice.adapter.as_deref();
    let gpu = match pollster::block_on(open(adapter)) {
        Err(GpuError::NoAdapter(_)) if adapter.is_none() => None,
        gpu => Some(gpu?),
    };
    let mut workloads = WORKLOADS.to_vec();
    if let Some(slice_bytes) = args.slice {
        workloads = vec![(slice_bytes, 32, 32)];
    }
    if let Some(mib) = args.mib {
        let mib = mib as usize;
        for (_, params, output) in &mut workloads {
            (*params, *output) = (mib, mib);
        }
    }
    let bar = of_steps(workloads.len() as u64);
    let mut rows = Vec::new();
    for (slice_bytes, params, output) in workloads {
        bar.set_message(format!("slices of {}", size(slice_bytes as u64)));
        let slices = |mib: usize| ((mib << 20) / slice_bytes).max(1);
        let work = Work::new(slices(params), slice_bytes / 4, slices(output), args.runs)?;
        rows.push(work.row("CPU", work.on_cpu()?));
        if let Some(gpu) = &gpu {
            rows.push(work.row("GPU", work.on_gpu(gpu)?));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let gpu = gpu.as_ref().map(ToString::to_string);
    Ok(if choice.form.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        format!("{:#}", json!({ "gpu": gpu, "gathers": rows }))
    } else {
        let gpu = gpu.unwrap_or("no adapter found".to_owned());
        let mut table = Table::new(
            &["device", "slices", "output"],
            &["ms", "spread", "GB/s", "x copy"],
        );
        rows.iter().for_each(|row| table.row(row.cells()));
        format!("GPU: {gpu}\n\n{table}")
    })
}

/// One workload, timed on one device.
struct Row {
    device: &'static str,
    slice_bytes: u64,
    output_bytes: u64,
    gather: Times,
    copy: Times,
}

/// Run times in seconds.
struct Times {
    median: f64,
    fastest: f64,
    slowest: f64,
}

impl Times {
    fn spread(&self) -> f64 {
        self.slowest / self.fastest
    }
}

impl Row {
    fn gigabytes_per_second(&self) -> f64 {
        self.output_bytes as f64 * 1e-9 / self.gather.median
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.device.to_owned(),
            size(self.slice_bytes),
            size(self.output_bytes),
            format!("{:.3}", self.gather.median * 1e3),
            format!("{:.2}", self.gather.spread()),
            format!("{:.2}", self.gigabytes_per_second()),
            format!("{:.2}", self.gather.median / self.copy.median),
        ]
    }

    fn json(&self) -> Value {
        json!({
            "device": self.device,
            "slice_bytes": self.slice_bytes,
            "output_bytes": self.output_bytes,
            "seconds": self.gather.median,
            "fastest_seconds": self.gather.fastest,
            "slowest_seconds": self.gather.slowest,
            "copy_seconds": self.copy.median,
            "gigabytes_per_second": self.gigabytes_per_second(),
        })
    }
}

/// A gather, its data and its expected output.
struct Work {
    plan: GatherPlan,
    params: Vec<u32>,
    indices: Vec<i32>,
    expected: Vec<u32>,
    runs: u32,
}

impl Work {
    fn new(row_count: usize, slice_len: usize, gathered: usize, runs: u32) -> Result<Self> {
        let plan = GatherNd::new()
            .bad_indices(BadIndices::Fill)
            .plan(&[row_count, slice_len], &[gathered, 1])?;
        let params: Vec<u32> = (1..).take(row_count * slice_len).collect();
        // Weyl's sequence spreads the rows over all params, in an order that does not help prefetching.
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
            runs,
        })
    }

    fn row(&self, device: &'static str, (gather, copy): (Times, Times)) -> Row {
        Row {
            device,
            slice_bytes: self.plan.slice_len() * 4,
            output_bytes: self.plan.output_len() * 4,
            gather,
            copy,
        }
    }

    /// Times `run_into`, and memcpy on one thread.
    fn on_cpu(&self) -> Result<(Times, Times)> {
        let mut output = vec![0; self.expected.len()];
        self.plan
            .run_into(&self.params, &self.indices, &mut output)?;
        self.check(&output)?;
        let gather = self.times(|| {
            Ok(self
                .plan
                .run_into(&self.params, &self.indices, &mut output)?)
        })?;
        let copy = self.times(|| {
            output.copy_from_slice(std::hint::black_box(&self.expected));
            std::hint::black_box(&mut output);
            Ok(())
        })?;
        Ok((gather, copy))
    }

    /// Times the gather, and a copy as large as the output, both in GPU memory, from submission to completion.
    fn on_gpu(&self, gpu: &Executor) -> Result<(Times, Times)> {
        let (params, indices) = (upload(gpu, &self.params)?, upload(gpu, &self.indices)?);
        let output = gpu.zeros::<u32>(&[self.expected.len()])?;
        let buffers = GatherBuffers::new(
            ElementTypes::of::<u32, i32>(),
            Ranges {
                params: params.buffer()?.slice(..),
                indices: indices.buffer()?.slice(..),
                output: output.buffer()?.slice(..),
            },
        );
        let prepared = gpu.gatherer()?.prepare(&self.plan, &buffers)?;
        submit(gpu, |encoder| prepared.encode(encoder))?;
        self.check(&output.download_blocking()?)?;

        let gather = self.times(|| submit(gpu, |encoder| prepared.encode(encoder)))?;
        let copied = upload(gpu, &self.expected)?;
        let (from, to) = (copied.buffer()?, output.buffer()?);
        let copy = self.times(|| {
            submit(gpu, |encoder| {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
            })
        })?;
        Ok((gather, copy))
    }

    /// Warms up with one run, then times `runs` more.
    fn times(&self, mut work: impl FnMut() -> Result<()>) -> Result<Times> {
        work()?;
        let mut seconds = Vec::new();
        for _ in 0..self.runs {
            let start = Instant::now();
            work()?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        Ok(Times {
            median: seconds[seconds.len() / 2],
            fastest: seconds[0],
            slowest: seconds[seconds.len() - 1],
        })
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

fn upload<T: wgpu_gather::GatherElement>(gpu: &Executor, elements: &[T]) -> Result<Tensor<T>> {
    Ok(gpu.upload(elements, &[elements.len()])?)
}

fn submit(gpu: &Executor, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
    let mut encoder = gpu.device()?.create_command_encoder(&Default::default());
    record(&mut encoder);
    gpu.queue()?.submit([encoder.finish()]);
    gpu.device()?.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(())
}
