//! Prints the CPU's tables, and writes a JSON line for each figure to a file.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use serde_json::json;
use testkit::bench::workloads::Workload;
use testkit::bench::{cpu_name, last_level_cache};
use wgpu_gather::BadIndices;

use crate::timing::{Timed, ms, ratio};

/// Bytes that a CPU moves at once between memory and cache.
const SECTOR: usize = 64;

pub struct Report<'a> {
    json: Option<&'a mut File>,
    cache_bytes: u64,
    element_bytes: usize,
}

impl<'a> Report<'a> {
    pub fn new(json: Option<&'a mut File>) -> Self {
        let report = Self {
            json,
            cache_bytes: last_level_cache(),
            element_bytes: 0,
        };
        println!("cpu: {}", cpu_name());
        println!("copy: the output's bytes, by memcpy");
        println!(
            "floor: every memory sector that the gather must move, at the bandwidth of the copy, with a cache of {} MiB",
            report.cache_bytes >> 20
        );
        report
    }

    pub fn workload<T>(&mut self, workload: &Workload) {
        self.element_bytes = size_of::<T>();
        let plan = workload.plan(BadIndices::Error);
        println!(
            "\n{}  {} {}, {} indices: slices of {} B, output {:.1} MiB",
            workload.name,
            plan,
            workload.element,
            workload.index,
            plan.slice_len() * self.element_bytes,
            self.output_bytes(workload) as f64 / f64::from(1 << 20),
        );
        println!(
            "  {:<20}{:>11}{:>11}{:>9}{:>9}{:>9}",
            "", "median ms", "min ms", "GB/s", "x copy", "x floor"
        );
    }

    pub fn figures(&mut self, workload: &Workload, timed: Vec<Timed>) -> Result<(), String> {
        let of = |measure| timed.iter().find(|figure| figure.measure == measure);
        let copy = of("copy").ok_or("no copy was timed")?.median;
        for figure in &timed {
            // A call that allocates its output is compared with a copy that allocates too.
            let copy = match figure.measure {
                "gather" => of("copy_to_vec").map_or(copy, |copy| copy.median),
                _ => copy,
            };
            self.figure(workload, figure, copy)?;
        }
        let with = |measure, threads| {
            let mut timed = timed.iter();
            timed.find(|figure| figure.measure == measure && figure.threads == threads)
        };
        for gather_into in timed
            .iter()
            .filter(|figure| figure.measure == "gather_into")
        {
            let threads = gather_into.threads;
            if let Some(gather) = with("gather", threads) {
                let times = ratio(gather.median, gather_into.median);
                println!("  {threads}T: gather takes {times:.2} times gather_into");
            }
        }
        Ok(())
    }

    fn figure(
        &mut self,
        workload: &Workload,
        figure: &Timed,
        copy: Duration,
    ) -> Result<(), String> {
        let bytes = self.output_bytes(workload);
        let gbps = bytes as f64 / figure.median.as_secs_f64() / 1e9;
        let floor = self.floor(workload, copy);
        println!(
            "  {:<20}{:>11.4}{:>11.4}{:>9.2}{:>9.2}{:>9.2}",
            format!("{}T {}", figure.threads, figure.measure),
            ms(figure.median),
            ms(figure.min),
            gbps,
            ratio(figure.median, copy),
            ratio(figure.median, floor),
        );
        let line = json!({
            "workload": workload.name,
            "device": "cpu",
            "threads": figure.threads,
            "measure": figure.measure,
            "median_ms": ms(figure.median),
            "min_ms": ms(figure.min),
            "out_gbps": gbps,
            "ratio_to_copy": ratio(figure.median, copy),
            "ratio_to_floor": ratio(figure.median, floor),
        });
        match &mut self.json {
            Some(json) => {
                writeln!(json, "{line}").map_err(|error| format!("the JSON file: {error}"))
            }
            None => Ok(()),
        }
    }

    fn output_bytes(&self, workload: &Workload) -> usize {
        workload.plan(BadIndices::Error).output_len() * self.element_bytes
    }

    /// The floor of a gather if copying its output takes `copy`; [`Report::new`] prints what a floor is.
    fn floor(&self, workload: &Workload, copy: Duration) -> Duration {
        let plan = workload.plan(BadIndices::Error);
        let slice_bytes = plan.slice_len() * self.element_bytes;
        let sectors = (slice_bytes + SECTOR - gcd(slice_bytes, SECTOR)) / SECTOR;
        let slices = plan.output_len() / plan.slice_len();
        let params_bytes = plan.params_len() * self.element_bytes;
        let hit = (self.cache_bytes as f64 / params_bytes as f64).min(1.0);
        let indices_bytes = plan.indices_len() as u64 * workload.index.bytes();
        let bytes = (SECTOR * slices * sectors) as f64 * (1.0 - hit)
            + (indices_bytes + (slices * slice_bytes) as u64) as f64;
        let copied = 2.0 * self.output_bytes(workload) as f64;
        copy.mul_f64(bytes / copied)
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
