//! The printed tables, and a file with one line of JSON for each figure.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use serde_json::json;
use testkit::bench::machine::{cpu_name, last_level_cache};
use testkit::bench::workloads::{Workload, small};
use wgpu_gather::BadIndices;

use crate::gpu::naive::{NAIVE_ROW, NAIVE_UNIT};
use crate::summary::{Beside, Growth, Summary};
use crate::timing::{Timed, ms, ratio};

/// The workloads that differ in the size of their output only.
const GROWTH: [&str; 4] = ["G4", "G16", "G64", "G256"];

/// Bytes that a CPU, and a GPU, moves at once between memory and cache.
const CPU_SECTOR: u64 = 64;
const GPU_SECTOR: u64 = 32;

pub struct Report {
    /// `None` if the GPU is not measured.
    adapter: Option<String>,
    json: Option<File>,
    cache_bytes: u64,
    element_bytes: u64,
    summary: Summary,
}

impl Report {
    pub fn new(adapter: Option<String>, json: Option<File>) -> Self {
        let report = Self {
            adapter,
            json,
            cache_bytes: last_level_cache(),
            element_bytes: 0,
            summary: Summary::default(),
        };
        println!("cpu: {}", cpu_name());
        if let Some(adapter) = &report.adapter {
            println!("gpu: {adapter}");
        }
        println!("copy: the output's bytes, from buffer to buffer or by memcpy");
        println!(
            "floor: every memory sector that the gather must move, at the bandwidth of the copy, with a cache of {} MiB",
            report.cache_bytes >> 20
        );
        report
    }

    pub fn workload<T>(&mut self, workload: &Workload) {
        self.element_bytes = size_of::<T>() as u64;
        let plan = workload.plan(BadIndices::Error);
        println!(
            "\n{}  {} {}, {} indices: slices of {} B, output {:.1} MiB",
            workload.name,
            plan,
            workload.element,
            workload.index,
            plan.slice_len() * self.element_bytes,
            mib(self.output_bytes(workload)),
        );
        println!(
            "  {:<20}{:>11}{:>11}{:>9}{:>9}{:>9}{:>9}",
            "", "median ms", "min ms", "GB/s", "x copy", "x vec4", "x floor"
        );
    }

    pub fn figures(&mut self, workload: &Workload, timed: Vec<Timed>) -> Result<(), String> {
        let of = |measure| timed.iter().find(|figure| figure.measure == measure);
        let copy = of("copy").ok_or("no copy was timed")?.median;
        let vec4 = of("vec4_copy").map(|figure| figure.median);
        for figure in &timed {
            // A call that allocates its output is compared with a copy that allocates too.
            let copy = match figure.measure {
                "run" => of("copy_to_vec").map_or(copy, |copy| copy.median),
                _ => copy,
            };
            let floor = self.floor(workload, figure.device, copy);
            self.figure(workload, figure, copy, vec4, floor)?;
            let grows = matches!(figure.measure, "run_into" | "resident" | "vec4_copy");
            if grows && GROWTH.contains(&&workload.name[..]) {
                self.summary.growth.push(Growth {
                    name: name(figure.device, figure.threads, figure.measure),
                    mib: self.output_bytes(workload) >> 20,
                    to_copy: ratio(figure.median, copy),
                });
            }
        }
        let cpu = |measure, threads| {
            let mut of_cpu = timed
                .iter()
                .filter(|figure| figure.device == crate::cpu::DEVICE);
            of_cpu.find(|figure| figure.measure == measure && figure.threads == threads)
        };
        for run_into in timed.iter().filter(|figure| figure.measure == "run_into") {
            let threads = run_into.threads;
            if let Some(run) = cpu("run", threads) {
                let times = ratio(run.median, run_into.median);
                print!("  {threads}T: run takes {times:.2} times run_into");
            }
            match cpu("bare_loop", threads) {
                Some(bare) => println!(
                    ", run_into {:.2} times the bare loop",
                    ratio(run_into.median, bare.median)
                ),
                None => println!(),
            }
        }
        if let Some(resident) = of("resident") {
            let naive = |name| {
                let median = of(name).map(|figure| figure.median);
                if median.is_none() {
                    println!(
                        "  gpu {name:<16}{0:>11}{0:>11}{0:>9}{0:>9}{0:>9}{0:>9}",
                        "-"
                    );
                }
                median
            };
            let beside = Beside {
                workload: workload.name.clone(),
                ours: resident.median,
                copy,
                naive_unit: naive(NAIVE_UNIT),
                naive_row: naive(NAIVE_ROW),
            };
            println!("  {beside}");
            self.summary.beside.push(beside);
        }
        if let (Some(error), Some(plain)) = (of("bad_indices_error"), of("resident")) {
            println!(
                "  a report costs {:+.1} %",
                100.0 * (ratio(error.median, plain.median) - 1.0)
            );
        }
        if let [Some(many), Some(copy), Some(empty)] =
            ["recorded_50", "vec4_copy_50", "empty_50"].map(of)
        {
            println!(
                "  one of 50 calls takes {:.2} times an empty dispatch, a vec4 copy shader {:.2} times",
                ratio(many.median, empty.median),
                ratio(copy.median, empty.median)
            );
        }
        if let [Some(many), Some(apart), Some(empty)] =
            ["in_pass_50", "recorded_50", "empty_in_pass_50"].map(of)
        {
            println!(
                "  one of 50 in one pass takes {:.2} times one in a pass of its own, {:.2} times an empty dispatch",
                ratio(many.median, apart.median),
                ratio(many.median, empty.median)
            );
        }
        Ok(())
    }

    /// Reports the gather in windows, beside one dispatch.
    pub fn windows(&mut self, workload: &Workload, timed: Vec<Timed>) -> Result<(), String> {
        println!("  cut into windows:");
        self.beside_first(workload, timed, "ratio_to_uncut")
    }

    /// Reports the gather with fewer bounds checks, beside all checks.
    pub fn checks(&mut self, workload: &Workload, timed: Vec<Timed>) -> Result<(), String> {
        println!("  with all checks, only the driver's, and none:");
        self.beside_first(workload, timed, "ratio_to_all_checks")
    }

    fn beside_first(
        &mut self,
        workload: &Workload,
        timed: Vec<Timed>,
        key: &str,
    ) -> Result<(), String> {
        let first = &timed[0];
        for figure in &timed {
            let to_first = ratio(figure.median, first.median);
            println!(
                "  {:<20}{:>11.3}{:>11.3}   {to_first:.2} times {}",
                figure.measure,
                ms(figure.median),
                ms(figure.min),
                first.measure,
            );
            self.write(json!({
                "workload": workload.name,
                "device": figure.device,
                "threads": figure.threads,
                "measure": figure.measure,
                "median_ms": ms(figure.median),
                "min_ms": ms(figure.min),
                key: to_first,
                "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }

    pub fn summary(&self) {
        print!("{}", self.summary);
    }

    /// Reports the first gather of a process: this crate's time and the naive kernel's.
    pub fn first(&mut self, [ours, naive]: [Duration; 2]) -> Result<(), String> {
        println!(
            "\nfirst gather of a process, driver's cache off: ours {:.2} ms, naive kernel {:.2} ms ({:.2})",
            ms(ours),
            ms(naive),
            ratio(ours, naive)
        );
        for (measure, median) in [("resident", ours), (NAIVE_UNIT, naive)] {
            self.write(json!({
                "workload": small().name,
                "device": crate::gpu::DEVICE,
                "measure": measure,
                "median_ms": ms(median),
                "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }

    fn figure(
        &mut self,
        workload: &Workload,
        figure: &Timed,
        copy: Duration,
        vec4: Option<Duration>,
        floor: Duration,
    ) -> Result<(), String> {
        let bytes = self.output_bytes(workload);
        let gbps = bytes as f64 / figure.median.as_secs_f64() / 1e9;
        let vec4 = vec4.map(|vec4| ratio(figure.median, vec4));
        println!(
            "  {:<20}{:>11.4}{:>11.4}{:>9.2}{:>9.2}{:>9}{:>9.2}",
            name(figure.device, figure.threads, figure.measure),
            ms(figure.median),
            ms(figure.min),
            gbps,
            ratio(figure.median, copy),
            vec4.map_or(String::new(), |vec4| format!("{vec4:.2}")),
            ratio(figure.median, floor),
        );
        self.write(json!({
            "workload": workload.name,
            "device": figure.device,
            "threads": figure.threads,
            "measure": figure.measure,
            "median_ms": ms(figure.median),
            "min_ms": ms(figure.min),
            "out_gbps": gbps,
            "ratio_to_copy": ratio(figure.median, copy),
            "ratio_to_vec4_copy": vec4,
            "ratio_to_floor": ratio(figure.median, floor),
            "adapter": self.adapter,
        }))
    }

    fn write(&mut self, line: serde_json::Value) -> Result<(), String> {
        match &mut self.json {
            Some(json) => {
                writeln!(json, "{line}").map_err(|error| format!("the JSON file: {error}"))
            }
            None => Ok(()),
        }
    }

    fn output_bytes(&self, workload: &Workload) -> u64 {
        workload.plan(BadIndices::Error).output_len() * self.element_bytes
    }

    /// The floor of a gather on a device where a copy of its output takes `copy`; [`Report::new`] prints its meaning.
    fn floor(&self, workload: &Workload, device: &str, copy: Duration) -> Duration {
        let sector = if device == crate::cpu::DEVICE {
            CPU_SECTOR
        } else {
            GPU_SECTOR
        };
        let plan = workload.plan(BadIndices::Error);
        let slice_bytes = plan.slice_len() * self.element_bytes;
        let sectors = (slice_bytes + sector - gcd(slice_bytes, sector)) / sector;
        let slices = plan.output_len() / plan.slice_len();
        let params_bytes = plan.params_len() * self.element_bytes;
        let hit = (self.cache_bytes as f64 / params_bytes as f64).min(1.0);
        let index_bytes = workload.index.bytes();
        let bytes = (sector * slices * sectors) as f64 * (1.0 - hit)
            + (plan.indices_len() * index_bytes + slices * slice_bytes) as f64;
        let copied = 2.0 * self.output_bytes(workload) as f64;
        copy.mul_f64(bytes / copied)
    }
}

fn name(device: &str, threads: usize, measure: &str) -> String {
    match threads {
        0 => format!("{device} {measure}"),
        threads => format!("{device} {threads}T {measure}"),
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
