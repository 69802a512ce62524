//! Times gathers on a GPU: many calls between two timestamps, with indices and outputs that rotate, beside copies of the
//! output's bytes and a kernel that a user would write. Outputs are compared with the CPU's before they are timed.

mod calls;
mod card;
mod copy;
mod edits;
mod figure;
mod gather;
mod naive;
mod scatter;

use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde_json::{Value, json};
use testkit::bench::workloads::Workload;
use wgpu_gather::wgpu;

use card::Card;
pub use edits::Edits;
use figure::time;
pub use naive::write_spirv;
pub use scatter::list as list_scatters;

/// The least bytes of a table, from which the large copies read.
const LEAST_TABLE_BYTES: u64 = 64 << 20;

/// Bytes of the copies that show how much the card can move.
const CEILING_BYTES: u64 = 1 << 30;

pub struct Options {
    pub rounds: usize,
    /// Divides the sizes of large tables and outputs.
    pub scale: usize,
    /// No figure begins after it.
    pub end: Instant,
    pub edits: Vec<Edits>,
    pub scatters: bool,
}

/// What all figures share: the options, the host's tables and the results file.
pub struct Bench<'a> {
    options: &'a Options,
    json: Option<&'a mut File>,
    adapter: String,
    /// Words that all plain tables share; all encoded ones share `encoded`.
    plain: Vec<u32>,
    encoded: Vec<u32>,
}

/// A device and its tables: each table is the start of a buffer.
pub struct Place {
    card: Card,
    plain: wgpu::Buffer,
    encoded: Option<wgpu::Buffer>,
}

impl Place {
    fn table(&self, workload: &Workload) -> &wgpu::Buffer {
        match workload.encoding {
            Some(_) => self.encoded.as_ref().expect("encoded workloads have one"),
            None => &self.plain,
        }
    }
}

/// A table's words, with only the bits in `mask`.
fn words(bytes: u64, mask: u32) -> Vec<u32> {
    let word = |at: u32| {
        let hash = (at + 1).wrapping_mul(0x9e37_79b1);
        (hash ^ (hash >> 15)) & mask
    };
    let count = u32::try_from(bytes.div_ceil(4)).expect("a table of a few GiB");
    (0..count).into_par_iter().map(word).collect()
}

/// Times the workloads on the adapter that the environment names.
pub fn run(
    workloads: &[Workload],
    options: &Options,
    json: Option<&mut File>,
) -> Result<(), String> {
    let adapter = card::adapter()?;
    let card = Card::new(&adapter)?;
    let info = adapter.get_info();
    let bytes_of = |is_encoded: bool| {
        let of = |of: &&Workload| of.encoding.is_some() == is_encoded;
        let bytes = |of: &Workload| of.params_bytes() / of.shards as u64;
        let most = workloads.iter().filter(of).map(bytes).max();
        most.map(|bytes| bytes.max(LEAST_TABLE_BYTES))
    };
    let mut bench = Bench {
        options,
        json,
        adapter: format!("{} {}", info.name, info.driver_info),
        plain: words(bytes_of(false).unwrap_or(LEAST_TABLE_BYTES), u32::MAX),
        // No scale is an infinity or a NaN.
        encoded: words(bytes_of(true).unwrap_or(0), 0xbfbf_bfbf),
    };
    println!(
        "gpu: {} ({:?}, {}), binding {} B, buffer {} B, timed by {}, period {} ns",
        bench.adapter,
        info.device_type,
        info.driver,
        card.device.limits().max_storage_buffer_binding_size,
        card.device.limits().max_buffer_size,
        card.clock(),
        card.queue.get_timestamp_period(),
    );
    let place = bench.place(card);
    warm(&place);
    bench.ceiling(&place)?;
    bench.small_calls(&place)?;
    if options.scatters {
        bench.scatters(&place)?;
    }
    for workload in workloads {
        if bench.is_time_left(&workload.name) {
            bench.measure(&place, workload)?;
        }
    }
    Ok(())
}

/// Keeps the card busy for a while, so that its clocks are up.
fn warm(place: &Place) {
    let size = place.plain.size() / 2 / 4 * 4;
    let start = Instant::now();
    let target = place.card.storage(size);
    while start.elapsed() < Duration::from_millis(300) {
        let mut encoder = place.card.encoder();
        encoder.copy_buffer_to_buffer(&place.plain, 0, &target, 0, size);
        place.card.submit_and_wait(encoder);
    }
}

impl Bench<'_> {
    fn place(&self, card: Card) -> Place {
        let upload = |words: &[u32]| {
            let buffer = card.storage(size_of_val(words) as u64);
            card.upload(&buffer, 0, bytemuck::cast_slice(words));
            buffer
        };
        Place {
            plain: upload(&self.plain),
            encoded: (!self.encoded.is_empty()).then(|| upload(&self.encoded)),
            card,
        }
    }

    fn host_table(&self, workload: &Workload) -> &[u8] {
        bytemuck::cast_slice(match workload.encoding {
            Some(_) => &self.encoded,
            None => &self.plain,
        })
    }

    /// True if time is left; else prints what is left out.
    fn is_time_left(&self, name: &str) -> bool {
        let is_left = Instant::now() < self.options.end;
        if !is_left {
            println!("{name}: no time is left");
        }
        is_left
    }

    /// Writes a line of JSON.
    fn line(&mut self, line: Value) -> Result<(), String> {
        match &mut self.json {
            Some(json) => {
                writeln!(json, "{line}").map_err(|error| format!("the JSON file: {error}"))
            }
            None => Ok(()),
        }
    }

    /// Times large copies, and a dispatch that does nothing.
    fn ceiling(&mut self, place: &Place) -> Result<(), String> {
        let card = &place.card;
        let bytes = CEILING_BYTES
            .min(place.plain.size())
            .min(card.binding_bytes());
        let target = card.storage(bytes);
        let mut figures = Vec::from(copy::copies(card, &place.plain, &target, &[0], bytes));
        figures.push(copy::empty(card));
        for of in time(&figures, self.options.rounds) {
            let moved = if of.measure == "empty_dispatch" {
                0
            } else {
                2 * bytes
            };
            let gbps = moved as f64 / of.median_us / 1e3;
            println!(
                "ceiling  {:<26}{:>10.2} us{gbps:>9.0} GB/s",
                of.measure, of.median_us
            );
            self.line(json!({
                "workload": "ceiling", "set": "ceiling", "measure": of.measure,
                "median_us": of.median_us, "min_us": of.min_us, "calls": of.calls, "resting": of.resting,
                "moved_bytes": moved, "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }
}

/// Writes the workloads as JSON lines, for the other libraries.
pub fn list(workloads: &[Workload], file: &mut File) -> Result<(), String> {
    for of in workloads {
        let (op, axis) = match of.axis() {
            None => ("nd", 0),
            Some(axis) if of.element_stride() > 0 => ("elements", axis),
            Some(axis) => ("gather", axis),
        };
        let line = json!({
            "name": of.name, "op": op, "axis": axis, "batch_dims": of.batch_dims,
            "params": of.params_shape, "indices": of.indices_shape,
            "element_bytes": of.element.bytes(), "index": of.index.to_string(),
            "encoding": of.encoding.map(|of| of.to_string()), "shards": of.shards,
            "is_large": of.name.contains('+'),
        });
        writeln!(file, "{line}").map_err(|error| error.to_string())?;
    }
    Ok(())
}
