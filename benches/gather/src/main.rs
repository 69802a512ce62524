//! The benchmark: times each workload on the CPU and on a GPU, beside copies of its output's bytes in the same run.
//!
//! ```sh
//! cargo run --release -p wgpu-gather-bench -- --workload W1,W3 --device gpu --json out.jsonl
//! ```

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "figures, and sizes within memory"
)]

mod cpu;
mod data;
mod gpu;
mod report;
mod timing;

use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use testkit::bench::workloads::{Workload, blocks, encoded, large, other, usual};

use data::{Data, Number, Visit, visit};
use report::Report;
use wgpu_gather::{Element, Index};

/// Times each workload on the CPU and on a GPU, beside copies of its output's bytes in the same run.
#[derive(Parser)]
#[command(name = "cargo run --release -p wgpu-gather-bench --", after_help = WORKLOADS_HELP)]
struct Options {
    /// Times these workloads only.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    workload: Vec<String>,
    /// Times on this device only.
    #[arg(long)]
    device: Option<Device>,
    /// Times these sets of workloads on the GPU.
    #[arg(long, value_name = "SET", value_delimiter = ',', default_values_t = [Set::Usual])]
    set: Vec<Set>,
    /// Samples of each figure: 15 on the CPU, 9 on a GPU, unless given.
    #[arg(long, value_name = "N")]
    rounds: Option<NonZeroUsize>,
    /// Begins no figure of the GPU after so many seconds.
    #[arg(long, value_name = "N", default_value = "3600")]
    seconds: u64,
    /// Divides the sizes of the GPU's large tables and outputs: 64 suits a software adapter.
    #[arg(long, value_name = "N", default_value = "1")]
    scale: NonZeroUsize,
    /// Times changed shaders too, `ours:NAME`. The file is JSON: [{"name": .., "shader": a part of a module's label,
    /// "from": .., "to": ..}, ..]. All edits of one name are made together.
    #[arg(long, value_name = "FILE")]
    edits: Option<PathBuf>,
    /// Writes a line for each figure to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only writes the GPU's workloads to this file, a line each.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Only writes the naive kernels of the GPU's workloads to this folder, as SPIR-V.
    #[arg(long, value_name = "FOLDER")]
    naive: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Device {
    Cpu,
    Gpu,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    /// W1 to W10, E1 to K2, L8, L64, B1, B2
    Usual,
    /// Tables of 1.5 GiB and outputs of up to 512 MiB; their names end in "+"
    Large,
    /// Rows of each encoding
    Encoded,
    /// Assigns and sums of rows of 16 to 1,024 floats, also in shapes of PyTorch's users
    Scatter,
}

impl std::fmt::Display for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

const WORKLOADS_HELP: &str = "Workloads:
  W1 to W10        single words, rows of 16 bytes to 2 KiB, batches, i64 indices
  E1, E2, E3       gather_elements along the last dim, the first, and the last of 10 columns
  P1, P4           u8 indices into 256 slices of 4 and 16 bytes
  D3               index rows of three values
  O1               rows of 1,001 f16
  X1               ten columns of a table
  K1, K2           rows of 4,112 and of 8,192 bytes
  L8, L64          few slices, of 8 MiB and 1 MiB
  B1, B2           a million blocks, of one slice of 16 bytes and of two of 64
  R1+ to R65536+   rows of so many bytes, W1+ .. the others with large tables; set large
  D:Q4_K ..        rows of 2,048 values, D256: of 256; D:Q4_K:f16 into halves; set encoded

On a GPU, times are of one call among many between two timestamps, with indices and outputs that rotate. Beside each
workload stand copies of the output's bytes, this crate with wgpu's checks and without them, and a kernel as a user would
write it (naive), where its buffers can be bound. Outputs are compared with the CPU's before they are timed. The adapter is
the one that WGPU_BACKEND and WGPU_ADAPTER_NAME ask for.";

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The workloads with these names; all if there are none.
fn named(all: Vec<Workload>, names: &[String]) -> Vec<Workload> {
    let is_named = |of: &Workload| names.is_empty() || names.contains(&of.name);
    all.into_iter().filter(is_named).collect()
}

impl Options {
    fn of_cpu(&self) -> Vec<Workload> {
        named([usual(), blocks(), other()].concat(), &self.workload)
    }

    fn of_gpu(&self) -> Vec<Workload> {
        let scale = self.scale.get();
        let sets = self.set.iter().map(|set| match set {
            Set::Usual => [usual(), other(), blocks()].concat(),
            Set::Large => large(scale),
            Set::Encoded => encoded(scale),
            Set::Scatter => Vec::new(),
        });
        named(sets.flatten().collect(), &self.workload)
    }
}

fn create(path: &Path) -> Result<File, String> {
    File::create(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn run(options: &Options) -> Result<(), String> {
    let (on_cpu, on_gpu) = (options.of_cpu(), options.of_gpu());
    let are_known = |name: &&String| {
        [&on_cpu, &on_gpu]
            .iter()
            .any(|of| of.iter().any(|of| of.name == **name))
    };
    if let Some(unknown) = options.workload.iter().find(|name| !are_known(name)) {
        return Err(format!("the sets have no workload {unknown:?}"));
    }
    if let Some(list) = &options.list {
        let mut list = create(list)?;
        if options.set.contains(&Set::Scatter) {
            gpu::list_scatters(options.scale.get(), &mut list)?;
        }
        return gpu::list(&on_gpu, &mut list);
    }
    if let Some(folder) = &options.naive {
        return gpu::write_spirv(&on_gpu, folder);
    }
    let mut json = options.json.as_deref().map(create).transpose()?;
    if options.device != Some(Device::Gpu) {
        let rounds = options.rounds.map_or(15, NonZeroUsize::get);
        let mut report = Report::new(json.as_mut());
        for (number, workload) in (1..).zip(&on_cpu) {
            eprintln!("{number} of {}: {}", on_cpu.len(), workload.name);
            let report = &mut report;
            let mut measured = OnCpu {
                rounds,
                report,
                result: Ok(()),
            };
            visit(workload, &mut measured);
            measured.result?;
        }
    }
    if options.device != Some(Device::Cpu) {
        let of_gpu = gpu::Options {
            rounds: options.rounds.map_or(9, NonZeroUsize::get),
            scale: options.scale.get(),
            end: Instant::now() + Duration::from_secs(options.seconds),
            edits: match &options.edits {
                Some(file) => gpu::Edits::read(file)?,
                None => Vec::new(),
            },
            scatters: options.set.contains(&Set::Scatter),
        };
        gpu::run(&on_gpu, &of_gpu, json.as_mut())?;
    }
    Ok(())
}

/// Times the workload that it visits.
struct OnCpu<'a, 'r> {
    rounds: usize,
    report: &'a mut Report<'r>,
    result: Result<(), String>,
}

impl Visit for OnCpu<'_, '_> {
    fn visit<T: Number + Element, I: Number + Index>(&mut self, data: &Data<T, I>) {
        self.report.workload::<T>(&data.workload);
        let timed = cpu::measure(data, self.rounds);
        self.result = self.report.figures(&data.workload, timed);
    }
}
