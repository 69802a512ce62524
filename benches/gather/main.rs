//! The benchmark: times each workload on the CPU and on the GPU, beside copies of its output's bytes in the same run.
//!
//! ```sh
//! cargo bench --bench gather -- --workload W1,W3 --device gpu --json out.jsonl
//! ```

#![allow(clippy::cast_precision_loss, reason = "figures")]

mod bare_loop;
mod cpu;
mod gpu;
mod machine;
mod report;
mod summary;
mod timing;
mod workloads;

use std::fs::File;
use std::process::ExitCode;

use gpu::checks::{Checks, NAME as CHECKS};
use report::Report;
use wgpu_gather::{GatherElement, GatherIndex};
use workloads::{Data, FIRST, Number, Visit, WORKLOADS, Workload};

const USAGE: &str = "usage: cargo bench --bench gather -- [--workload W1,W2,...] [--device cpu|gpu] [--rounds N] [--json FILE]

Workloads:
  W1 to W10        single words, rows of 16 bytes to 2 KiB, batches, i64 indices
  S12 to S1200     slices of 12 to 1,200 bytes
  L8, L64, L512    few slices, of 8 MiB, 1 MiB and 32 KiB
  T3               1,000,003 rows of 64 bytes
  B1, B2           a million blocks, of one slice of 16 bytes and of two of 64
  G1               256 MiB of rows out of a table of 1 GiB
  G4 to G256       rows of 512 bytes, outputs of 4 to 256 MiB
  first            the first gather of a process on the GPU, with the driver's cache off
  checks           W1, W3, W4, L64 and B1 on a Vulkan device with all checks, only the driver's, and none; only if named

On the GPU each workload is timed beside a buffer copy of the output's bytes (x copy) and two naive kernels: one with an
invocation a unit of 4 or 16 bytes, one with an invocation a row. A dash stands for a naive kernel that cannot run: an
operand is larger than a binding, or a slice longer than the loops of a software adapter.
Outputs are checked before anything is timed, and this crate's after. The adapter is the one that WGPU_BACKEND and
WGPU_ADAPTER_NAME ask for.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments[..] {
        [argument, kind] if argument == gpu::first::ARGUMENT => gpu::first::sample(kind),
        _ => run(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    workloads: Vec<Workload>,
    cpu: bool,
    gpu: bool,
    /// True to time the first gather of a process.
    first: bool,
    /// True to time gathers without bounds checks.
    checks: bool,
    rounds: usize,
    json: Option<File>,
}

fn options(arguments: Vec<String>) -> Result<Options, String> {
    let mut options = Options {
        workloads: WORKLOADS.to_vec(),
        cpu: true,
        gpu: true,
        first: true,
        checks: false,
        rounds: 15,
        json: None,
    };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument} wants a value\n\n{USAGE}"))
        };
        match argument.as_str() {
            // Cargo passes this to every benchmark.
            "--bench" => {}
            "--workload" => {
                let named = |name: &str| {
                    let workload = WORKLOADS.iter().find(|workload| workload.name == name);
                    workload
                        .copied()
                        .ok_or(format!("there is no workload {name:?}\n\n{USAGE}"))
                };
                let value = value()?;
                let (others, names): (Vec<&str>, Vec<&str>) = value
                    .split(',')
                    .partition(|&name| [FIRST.name, CHECKS].contains(&name));
                options.first = others.contains(&FIRST.name);
                options.checks = others.contains(&CHECKS);
                options.workloads = names.into_iter().map(named).collect::<Result<_, _>>()?;
            }
            "--device" => match value()?.as_str() {
                "cpu" => options.gpu = false,
                "gpu" => options.cpu = false,
                other => return Err(format!("there is no device {other:?}\n\n{USAGE}")),
            },
            "--rounds" => {
                let rounds = value()?.parse().ok().filter(|&rounds| rounds > 0);
                options.rounds = rounds.ok_or(format!("--rounds wants a number\n\n{USAGE}"))?;
            }
            "--json" => {
                let path = value()?;
                let file = File::create(&path).map_err(|error| format!("{path}: {error}"))?;
                options.json = Some(file);
            }
            "--help" => {
                println!("{USAGE}");
                std::process::exit(0);
            }
            other => return Err(format!("unknown argument {other:?}\n\n{USAGE}")),
        }
    }
    Ok(options)
}

fn run(arguments: Vec<String>) -> Result<(), String> {
    let options = options(arguments)?;
    let gpu = match options.gpu.then(gpu::Bench::new) {
        Some(Err(error)) => {
            println!("no GPU: {error}");
            None
        }
        gpu => gpu.and_then(Result::ok),
    };
    let adapter = gpu.as_ref().map(gpu::Bench::adapter);
    let mut report = Report::new(adapter, options.json);
    let count = options.workloads.len();
    for (number, workload) in options.workloads.iter().enumerate() {
        eprintln!("{} of {count}: {}", number + 1, workload.name);
        let mut measured = Measure {
            cpu: options.cpu,
            gpu: gpu.as_ref(),
            checks: None,
            rounds: options.rounds,
            report: &mut report,
            result: Ok(()),
        };
        workload.visit(&mut measured);
        measured.result?;
    }
    if let Some(gpu) = gpu.as_ref().filter(|_| options.checks) {
        let checks = gpu.checks()?;
        let is_checked = |workload: &&Workload| gpu::checks::WORKLOADS.contains(&workload.name);
        for workload in WORKLOADS.iter().filter(is_checked) {
            let mut measured = Measure {
                cpu: false,
                gpu: None,
                checks: Some(&checks),
                rounds: options.rounds,
                report: &mut report,
                result: Ok(()),
            };
            workload.visit(&mut measured);
            measured.result?;
        }
    }
    report.summary();
    if options.first && gpu.is_some() {
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
