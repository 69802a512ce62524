//! The benchmark: times each workload on the CPU and on the GPU, beside copies of its output's bytes in the same run.
//!
//! ```sh
//! cargo run --release -p wgpu-gather-bench -- --workload W1,W3 --device gpu --json out.jsonl
//! ```

#![allow(clippy::cast_precision_loss, reason = "figures")]

mod bare_loop;
mod cpu;
mod data;
mod gpu;
mod report;
mod summary;
mod timing;

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use testkit::bench::workloads::{Workload, of_gpus, other, small, usual};

use data::{Data, Number, Visit, visit};
use gpu::checks::{Checks, NAME as CHECKS};
use report::Report;
use wgpu_gather::{GatherElement, GatherIndex};

/// Times each workload on the CPU and on the GPU, beside copies of its output's bytes in the same run.
#[derive(Parser)]
#[command(name = "cargo run --release -p wgpu-gather-bench --", after_help = WORKLOADS_HELP)]
struct Options {
    /// Times these workloads only.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    workload: Vec<String>,
    /// Times on this device only.
    #[arg(long)]
    device: Option<Device>,
    /// Samples of each figure.
    #[arg(long, value_name = "N", default_value = "15")]
    rounds: NonZeroUsize,
    /// Writes a line for each figure to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Takes one sample of the first gather of a process, of this kind.
    #[arg(long, hide = true)]
    first_gather: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Device {
    Cpu,
    Gpu,
}

const WORKLOADS_HELP: &str = "Workloads:
  W1 to W10        single words, rows of 16 bytes to 2 KiB, batches, i64 indices
  S12 to S1200     slices of 12 to 1,200 bytes
  L8, L64, L512    few slices, of 8 MiB, 1 MiB and 32 KiB
  T3               1,000,003 rows of 64 bytes
  B1, B2           a million blocks, of one slice of 16 bytes and of two of 64
  G1               256 MiB of rows out of a table of 1 GiB
  G4 to G256       rows of 512 bytes, outputs of 4 to 256 MiB
  E1, E2, E3       gather_elements along the last dim, the first, and the last of 10 columns
  P1, P4           u8 indices into 256 slices of 4 and 16 bytes
  D3               index rows of three values
  O1               rows of 1,001 f16
  X1               ten columns of a table
  K1, K2           rows of 4,112 and of 8,192 bytes
  first            the first gather of a process on the GPU, with the driver's cache off
  checks           W1, W3, W4, L64 and B1 on a Vulkan device with all checks, only the driver's, and none; only if named

On the GPU each workload is timed beside a buffer copy of the output's bytes (x copy) and two naive kernels: one with an
invocation a unit of 4 or 16 bytes, one with an invocation a row. A dash stands for a naive kernel that cannot run: an
operand is larger than a binding, or a slice longer than the loops of a software adapter.
Outputs are checked before anything is timed, and this crate's after. The adapter is the one that WGPU_BACKEND and
WGPU_ADAPTER_NAME ask for.";

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match &options.first_gather {
        Some(kind) => gpu::first::sample(kind),
        None => run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The workloads of these names; all if there is no name.
fn named(names: &[String]) -> Result<Vec<Workload>, String> {
    let all = [usual(), of_gpus(), other()].concat();
    let others = [&small().name[..], CHECKS];
    let is_known = |name: &String| {
        others.contains(&&name[..]) || all.iter().any(|workload| workload.name == *name)
    };
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return Err(format!("there is no workload {unknown:?}"));
    }
    let is_named = |workload: &Workload| names.is_empty() || names.contains(&workload.name);
    Ok(all.into_iter().filter(is_named).collect())
}

fn run(options: &Options) -> Result<(), String> {
    let workloads = named(&options.workload)?;
    let has = |name: &str| options.workload.iter().any(|named| named == name);
    let times_first = options.workload.is_empty() || has(&small().name);
    let rounds = options.rounds.get();
    let gpu = match (options.device != Some(Device::Cpu)).then(gpu::Bench::new) {
        Some(Err(error)) => {
            println!("no GPU: {error}");
            None
        }
        gpu => gpu.and_then(Result::ok),
    };
    let create =
        |path: &PathBuf| File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let json = options.json.as_ref().map(create).transpose()?;
    let adapter = gpu.as_ref().map(gpu::Bench::adapter);
    let mut report = Report::new(adapter, json);
    let count = workloads.len();
    for (number, workload) in workloads.iter().enumerate() {
        eprintln!("{} of {count}: {}", number + 1, workload.name);
        let mut measured = Measure {
            cpu: options.device != Some(Device::Gpu),
            gpu: gpu.as_ref(),
            checks: None,
            rounds,
            report: &mut report,
            result: Ok(()),
        };
        visit(workload, &mut measured);
        measured.result?;
    }
    if let Some(gpu) = gpu.as_ref().filter(|_| has(CHECKS)) {
        let checks = gpu.checks()?;
        let is_checked =
            |workload: &&Workload| gpu::checks::WORKLOADS.contains(&&workload.name[..]);
        for workload in [usual(), of_gpus()].concat().iter().filter(is_checked) {
            let mut measured = Measure {
                cpu: false,
                gpu: None,
                checks: Some(&checks),
                rounds,
                report: &mut report,
                result: Ok(()),
            };
            visit(workload, &mut measured);
            measured.result?;
        }
    }
    report.summary();
    if times_first && gpu.is_some() {
        report.first(gpu::first::measure()?)?;
    }
    Ok(())
}

struct Measure<'a> {
    cpu: bool,
    gpu: Option<&'a gpu::Bench>,
    checks: Option<&'a Checks>,
    rounds: usize,
    report: &'a mut Report,
    result: Result<(), String>,
}

impl Measure<'_> {
    fn measure<T, I>(&mut self, data: &Data<T, I>) -> Result<(), String>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        self.report.workload::<T>(&data.workload);
        if self.cpu {
            self.report
                .figures(&data.workload, cpu::measure(data, self.rounds))?;
        }
        if let Some(gpu) = self.gpu {
            self.report
                .figures(&data.workload, gpu.measure(data, self.rounds)?)?;
            if data.workload.name == "W3" {
                let windows = gpu.measure_windows(data, self.rounds)?;
                self.report.windows(&data.workload, windows)?;
            }
        }
        if let Some(checks) = self.checks {
            let timed = checks.measure(data, self.rounds)?;
            self.report.checks(&data.workload, timed)?;
        }
        Ok(())
    }
}

impl Visit for Measure<'_> {
    fn visit<T: Number + GatherElement, I: Number + GatherIndex>(&mut self, data: &Data<T, I>) {
        self.result = self.measure(data);
    }
}
