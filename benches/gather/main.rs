//! The benchmark: each workload on the CPU and on the GPU, beside copies of the same bytes in the same run.
//!
//! ```sh
//! cargo bench --bench gather -- --workload W1,W3 --device gpu --json out.jsonl
//! ```

#![allow(clippy::cast_precision_loss, reason = "figures")]

mod bare_loop;
mod cpu;
mod gpu;
mod report;
mod timing;
mod workloads;

use std::fs::File;
use std::process::ExitCode;

use report::Report;
use wgpu_gather::{GatherElement, GatherIndex};
use workloads::{Data, Number, Visit, WORKLOADS, Workload};

const USAGE: &str = "usage: cargo bench --bench gather -- [--workload W1,W2,...] [--device cpu|gpu] [--rounds N] [--json FILE]

Times the workloads W1 to W10, S12 to S1200 (slices of 12 to 1,200 bytes), and G4 to G256 (rows of 512 bytes,
outputs of 4 to 256 MiB). Outputs are checked
before anything is timed, and after. The adapter is the one that WGPU_BACKEND and WGPU_ADAPTER_NAME ask for.";

fn main() -> ExitCode {
    match run() {
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
    rounds: usize,
    json: Option<File>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        workloads: WORKLOADS.to_vec(),
        cpu: true,
        gpu: true,
        rounds: 15,
        json: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument} wants a value\n\n{USAGE}"))
        };
        match argument.as_str() {
            // What cargo passes to every benchmark.
            "--bench" => {}
            "--workload" => {
                let named = |name: &str| {
                    let workload = WORKLOADS.iter().find(|workload| workload.name == name);
                    workload
                        .copied()
                        .ok_or(format!("there is no workload {name:?}\n\n{USAGE}"))
                };
                options.workloads = value()?.split(',').map(named).collect::<Result<_, _>>()?;
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

fn run() -> Result<(), String> {
    let options = options()?;
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
            rounds: options.rounds,
            report: &mut report,
            result: Ok(()),
        };
        workload.visit(&mut measured);
        measured.result?;
    }
    report.summary();
    Ok(())
}

struct Measure<'a> {
    cpu: bool,
    gpu: Option<&'a gpu::Bench>,
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
        Ok(())
    }
}

impl Visit for Measure<'_> {
    fn visit<T: Number + GatherElement, I: Number + GatherIndex>(&mut self, data: &Data<T, I>) {
        self.result = self.measure(data);
    }
}
