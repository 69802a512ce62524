//! Figures with their ratios to the copy in the same run, and to the floor: the least time that memory allows.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use testkit::bench::last_level_cache;

use crate::data::Data;
use crate::peers::{COPY, Device};
use crate::timing::{Figure, Timed};

/// Bytes that a CPU, and a GPU, moves at once between memory and cache.
const CPU_SECTOR: usize = 64;
const GPU_SECTOR: usize = 32;

/// The lock file, which holds the versions of this build's libraries.
const LOCK: &str = include_str!("../Cargo.lock");

/// A figure with its bandwidth and ratios.
#[derive(Debug, Clone)]
pub struct Line {
    pub figure: Figure,
    pub out_gbps: f64,
    pub ratio_to_copy: f64,
    pub ratio_to_floor: f64,
}

/// A workload's figures, and the peers that cannot do it.
#[derive(Debug)]
pub struct Row {
    pub workload: String,
    pub lines: Vec<Line>,
    /// Peers that cannot do the workload, with the reason.
    pub refusals: Vec<(&'static str, String)>,
}

impl Row {
    pub fn new(data: &Data, timed: Timed) -> Self {
        let copies = timed.figures.iter().filter(|figure| figure.measure == COPY);
        let copies = copies.map(|figure| (figure.device, figure.median));
        let copies: Vec<_> = copies.collect();
        let floors = copies
            .iter()
            .map(|&(device, copy)| (device, floor(data, device, copy)));
        let floors: Vec<_> = floors.collect();
        let of = |times: &[(Device, Duration)], device| {
            let time = times.iter().find(|time| time.0 == device);
            time.expect("the copies are always timed").1
        };
        let line = |figure: Figure| Line {
            out_gbps: data.output_bytes() as f64 / figure.median.as_secs_f64() / 1e9,
            ratio_to_copy: ratio(figure.median, of(&copies, figure.device)),
            ratio_to_floor: ratio(figure.median, of(&floors, figure.device)),
            figure,
        };
        Self {
            workload: data.workload.name.clone(),
            lines: timed.figures.into_iter().map(line).collect(),
            refusals: timed.refusals,
        }
    }
}

/// A file with one line of JSON for each figure.
pub struct Json {
    file: File,
    adapter: Option<String>,
}

impl Json {
    pub fn create(path: &Path, adapter: Option<String>) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { file, adapter })
    }

    pub fn write(&mut self, row: &Row) -> Result<(), String> {
        for line in &row.lines {
            let figure = &line.figure;
            let object = json!({
                "workload": row.workload,
                "peer": figure.peer,
                "version": figure.package.and_then(version),
                "device": figure.device.name(),
                "threads": figure.threads,
                "measure": figure.measure,
                "median_ms": ms(figure.median),
                "min_ms": ms(figure.min),
                "out_gbps": line.out_gbps,
                "ratio_to_copy": line.ratio_to_copy,
                "ratio_to_floor": line.ratio_to_floor,
                "adapter": self.adapter,
            });
            let written = writeln!(self.file, "{object}");
            written.map_err(|error| format!("the JSON file: {error}"))?;
        }
        Ok(())
    }
}

/// The version of a package in this build. If there are several, it is the one that this crate itself depends on.
pub fn version(package: &str) -> Option<&'static str> {
    let (_, ours) = LOCK.split_once("name = \"wgpu-gather-peers\"")?;
    let (ours, _) = ours.split_once("[[package]]").unwrap_or((ours, ""));
    let chosen = ours.split_once(&format!("\"{package} "));
    let known = LOCK.split_once(&format!("name = \"{package}\"\nversion = \""));
    let (_, after) = chosen.or(known)?;
    after.split_once('"').map(|(version, _)| version)
}

/// The least time that a gather could take. It must move its indices, its output and every memory sector of params that it
/// touches, at a plain copy's bandwidth at most. Copying its output takes `copy`.
fn floor(data: &Data, device: Device, copy: Duration) -> Duration {
    let sector = match device {
        Device::Cpu => CPU_SECTOR,
        Device::Gpu => GPU_SECTOR,
    };
    let plan = &data.plan;
    let slices = plan.output_len() / plan.slice_len();
    let slice_bytes = data.slice_bytes();
    let sectors = (slice_bytes + sector - gcd(slice_bytes, sector)) / sector;
    let hit = (last_level_cache() as f64 / data.params.bytes().len() as f64).min(1.0);
    let indices_bytes = plan.indices_len() as u64 * data.workload.index.bytes();
    let read = (sector * slices * sectors) as f64 * (1.0 - hit);
    let bytes = read + (indices_bytes + (slices * slice_bytes) as u64) as f64;
    copy.mul_f64(bytes / (2.0 * data.output_bytes() as f64))
}

pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub fn ratio(time: Duration, to: Duration) -> f64 {
    time.as_secs_f64() / to.as_secs_f64()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
