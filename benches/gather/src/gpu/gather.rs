//! A workload on a card: its operands, its outputs beside the CPU's, and its figures.

use rayon::prelude::*;
use serde_json::json;
use testkit::bench::workloads::Workload;
use testkit::gpu::{buffers_of, buffers_of_shards};
use wgpu_gather::{BadIndices, GatherPlan, Gatherer, Prepared, wgpu};

use super::copy::copies;
use super::edits::gatherer;
use super::figure::{Figure, time};
use super::naive::{NAIVE, Naive};
use super::{Bench, Place};

/// Outputs rotate among ranges with this many bytes in all, more than a card caches, so that no output is still cached when
/// it is written again.
const ROTATED_BYTES: u64 = 384 << 20;

/// The most index sets.
const INDEX_SETS: u64 = 3;

/// A block of params up to this many bytes stays in a card's cache, and is read once.
const CACHED_BYTES: u64 = 30 << 20;

/// Random index values of `bytes` bytes each, for the `dims` in turn. Narrow ones select only in the part that they reach.
pub fn random_indices(values: usize, dims: &[usize], bytes: u64, seed: u64) -> Vec<u8> {
    const CHUNK: usize = 1 << 16;
    let bytes = bytes as usize;
    let reach = 1_u64 << (8 * bytes - 1).min(32);
    let mut all = vec![0_u8; values * bytes];
    let chunks = all.par_chunks_mut(CHUNK * dims.len() * bytes).enumerate();
    chunks.for_each(|(number, chunk)| {
        // xorshift64*: the high 32 bits are used.
        let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ seed.wrapping_mul(0xd134_2543_de82_ef95);
        let mut next = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
        };
        for (at, value) in chunk.chunks_exact_mut(bytes).enumerate() {
            let dim = (dims[at % dims.len()] as u64).min(reach);
            let index = (next() * dim) >> 32;
            value.copy_from_slice(&index.to_le_bytes()[..bytes]);
        }
    });
    all
}

/// The bytes of a workload's operands.
#[derive(Debug, Clone, Copy)]
struct Bytes {
    params: u64,
    indices: u64,
    output: u64,
    /// One slice in params.
    slice: u64,
    slices: u64,
}

impl Bytes {
    fn of(workload: &Workload, plan: &GatherPlan) -> Self {
        let bytes = |elements: usize| (elements * workload.element.bytes()) as u64;
        let slice_len = plan.slice_len();
        let slice = match workload.encoding {
            Some(encoding) => encoding.row_bytes(slice_len as u64).expect("whole blocks"),
            None => bytes(slice_len),
        };
        Self {
            params: workload.params_bytes(),
            indices: plan.indices_len() as u64 * workload.index.bytes(),
            output: bytes(plan.output_len()),
            slice,
            slices: (plan.output_len() / slice_len) as u64,
        }
    }

    /// The bytes that the gather moves if it reads memory in sectors of `sector` bytes. A params block up to
    /// [`CACHED_BYTES`] counts at most once, however many index rows select its rows.
    fn moved(self, workload: &Workload, sector: u64) -> u64 {
        let sectors = (self.slice + sector - gcd(self.slice, sector)) / sector;
        let random = sector * self.slices * sectors;
        let read = match self.params / workload.blocks() as u64 {
            ..=CACHED_BYTES => random.min(self.params),
            _ => random,
        };
        read + self.indices + self.output
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A workload's operands on a device: index sets and output ranges, which take turns.
struct Operands {
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
    index_starts: Vec<u64>,
    starts: Vec<u64>,
}

impl Operands {
    fn new(place: &Place, bytes: Bytes, sets: &[Vec<u8>], starts: &[u64]) -> Self {
        let card = &place.card;
        let stride = bytes.indices.next_multiple_of(256);
        let indices = card.storage(stride * sets.len() as u64);
        let index_starts = (0..sets.len() as u64).map(|number| number * stride);
        let index_starts: Vec<u64> = index_starts.collect();
        for (set, &start) in sets.iter().zip(&index_starts) {
            card.upload(&indices, start, set);
        }
        let last = starts.last().expect("an output");
        Self {
            indices,
            output: card.storage(last + bytes.output.next_multiple_of(256)),
            index_starts,
            starts: starts.to_vec(),
        }
    }

    /// Call `number`'s indices and output, each rounded up to whole words.
    fn ranges(&self, number: usize, bytes: Bytes) -> [wgpu::BufferSlice<'_>; 2] {
        let range = |buffer: &'_ wgpu::Buffer, start: u64, bytes: u64| {
            start..(start + bytes.next_multiple_of(4)).min(buffer.size())
        };
        let index_start = self.index_starts[number % self.index_starts.len()];
        let start = self.starts[number];
        [
            self.indices
                .slice(range(&self.indices, index_start, bytes.indices)),
            self.output.slice(range(&self.output, start, bytes.output)),
        ]
    }
}

/// Prepares a gather for each output range.
fn prepare(
    gatherer: &Gatherer,
    place: &Place,
    operands: &Operands,
    (workload, plan, bytes): (&Workload, &GatherPlan, Bytes),
) -> Result<Vec<Prepared>, String> {
    let table = place.table(workload);
    let shard_bytes = (bytes.params / workload.shards as u64).next_multiple_of(4);
    let rows = workload.params_shape[0] / workload.shards;
    let shard = (rows, table.slice(..shard_bytes));
    let shards = vec![shard; workload.shards];
    let prepare = |number| {
        let [indices, output] = operands.ranges(number, bytes);
        let types = workload.types();
        let buffers = match workload.shards {
            1 => buffers_of(types, [shard.1, indices, output]),
            _ => buffers_of_shards(types, &shards, [indices, output]),
        };
        let prepared = gatherer.prepare(plan, &buffers);
        prepared.map_err(|error| error.to_string())
    };
    (0..operands.starts.len()).map(prepare).collect()
}

/// How many output values differ from the CPU's, and by how many ulps at most.
#[derive(Debug, Clone, Copy, Default)]
struct Wrong {
    values: u64,
    most_ulps: u64,
}

/// Compares the first output with the CPU's, after `record` has written it. All its bits are ones before.
fn compare(
    place: &Place,
    operands: &Operands,
    expected: &[u8],
    record: impl FnOnce(&mut wgpu::CommandEncoder),
) -> Wrong {
    let card = &place.card;
    let ones = vec![u8::MAX; expected.len()];
    card.upload(&operands.output, operands.starts[0], &ones);
    let mut encoder = card.encoder();
    record(&mut encoder);
    card.submit_and_wait(encoder);
    let mut wrong = Wrong::default();
    let len = expected.len() as u64;
    card.download(&operands.output, operands.starts[0], len, |at, found| {
        let expected = &expected[at as usize..][..found.len()];
        for (found, expected) in found.chunks(4).zip(expected.chunks(4)) {
            if found != expected {
                let bits = |bytes: &[u8]| {
                    let mut word = [0; 4];
                    word[..bytes.len()].copy_from_slice(bytes);
                    u32::from_le_bytes(word)
                };
                let ulps = bits(found).abs_diff(bits(expected));
                wrong.values += 1;
                wrong.most_ulps = wrong.most_ulps.max(ulps.into());
            }
        }
    });
    wrong
}

/// A gather or another kernel to time: what records call `number`.
struct Timed<'a> {
    measure: String,
    record: Record<'a>,
}

type Record<'a> = Box<dyn Fn(&mut wgpu::ComputePass<'_>, usize) + 'a>;

impl Bench<'_> {
    /// Compares a workload's outputs with the CPU's, and times it. Prints how many values differ.
    pub fn measure(&mut self, place: &Place, workload: &Workload) -> Result<(), String> {
        let plan = workload.plan(BadIndices::Fill);
        let bytes = Bytes::of(workload, &plan);
        let limits = place.card.device.limits();
        let explained = plan.explain(workload.types(), &limits);
        if explained.contains("cannot run") && workload.shards == 1 {
            let reason = explained.lines().last().unwrap_or_default();
            println!("{}: {reason}", workload.name);
            return Ok(());
        }
        let is_told = |line: &&str| line.starts_with("kernel") || line.contains("dispatch");
        let told: Vec<_> = explained.lines().filter(is_told).collect();
        let kernel = told.join("; ");

        let stride = bytes.output.next_multiple_of(256);
        let ranges = ROTATED_BYTES.div_ceil(bytes.output.max(1)).clamp(2, 8);
        let ranges = ranges
            .min(limits.max_buffer_size.min(3 << 30) / stride)
            .max(1);
        let starts: Vec<u64> = (0..ranges).map(|number| number * stride).collect();
        let values = plan.indices_len();
        let sets = (1..=ranges.min(INDEX_SETS)).map(|seed| {
            random_indices(
                values,
                workload.indexed_dims(),
                workload.index.bytes(),
                seed,
            )
        });
        let sets: Vec<_> = sets.collect();
        let expected = self.expected(workload, &sets[0])?;
        let operands = Operands::new(place, bytes, &sets, &starts);

        let mut kinds = vec![
            ("ours".to_owned(), true, None),
            ("ours_unchecked".to_owned(), false, None),
        ];
        for edits in &self.options.edits {
            kinds.push((format!("ours:{}", edits.name), false, Some(edits)));
        }
        let mut timed = Vec::new();
        for (measure, is_checked, edits) in kinds {
            let gatherer = gatherer(&place.card, is_checked, edits);
            let of = (workload, &plan, bytes);
            match prepare(&gatherer, place, &operands, of) {
                Err(error) => println!("{} {measure}: {error}", workload.name),
                Ok(prepared) => timed.push(Timed {
                    measure,
                    record: Box::new(move |pass, number| prepared[number].encode_in_pass(pass)),
                }),
            }
        }
        if let Some(naive) = Naive::new(&place.card, workload) {
            let table = place.table(workload).slice(..bytes.params);
            let bind = |number| {
                let [indices, output] = operands.ranges(number, bytes);
                naive.bind(&place.card, [table, indices, output])
            };
            let bound: Vec<_> = (0..starts.len()).map(bind).collect();
            timed.push(Timed {
                measure: NAIVE.into(),
                record: Box::new(move |pass, number| naive.record(pass, &bound[number])),
            });
        }

        let mut wrong = Vec::new();
        for of in &timed {
            let found = compare(place, &operands, &expected, |encoder| {
                (of.record)(&mut encoder.begin_compute_pass(&Default::default()), 0);
            });
            if found.values > 0 {
                println!(
                    "{} {}: {} values differ from the CPU's, by at most {} ulps",
                    workload.name, of.measure, found.values, found.most_ulps
                );
            }
            wrong.push(json!({
                "measure": of.measure, "values": found.values, "most_ulps": found.most_ulps,
            }));
        }
        let (copied, plain) = (&operands.output, &place.plain);
        let mut figures = Vec::from(copies(&place.card, plain, copied, &starts, bytes.output));
        for of in &timed {
            figures.push(Figure {
                measure: of.measure.clone(),
                card: &place.card,
                record: Box::new(|encoder, calls| {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    (0..calls).for_each(|call| (of.record)(&mut pass, call % starts.len()));
                }),
            });
        }
        let measured = time(&figures, self.options.rounds);
        let copies = measured.iter().take(2).map(|of| of.median_us);
        let copy = copies.fold(f64::MAX, f64::min);
        for of in &measured {
            println!(
                "{:<9} {:<26}{:>10.2} us{:>9.0} GB/s of output{:>7.2} x copy   {}",
                workload.name,
                of.measure,
                of.median_us,
                bytes.output as f64 / of.median_us / 1e3,
                of.median_us / copy,
                if of.measure == "ours" { &kernel } else { "" },
            );
            self.line(json!({
                "workload": workload.name, "set": set_of(workload), "measure": of.measure,
                "median_us": of.median_us, "min_us": of.min_us, "calls": of.calls, "resting": of.resting,
                "out_bytes": bytes.output, "index_bytes": bytes.indices,
                "params_bytes": bytes.params, "slice_bytes": bytes.slice, "slices": bytes.slices,
                "moved_32": bytes.moved(workload, 32), "moved_64": bytes.moved(workload, 64),
                "kernel": kernel, "wrong": wrong, "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }

    /// The CPU's output. All shards hold the rows of the first.
    fn expected(&self, workload: &Workload, indices: &[u8]) -> Result<Vec<u8>, String> {
        let table = self.host_table(workload);
        let run = |workload: &Workload, indices: &[u8]| {
            let bytes = workload.params_bytes() as usize;
            let plan = workload.plan(BadIndices::Fill);
            let output = plan.gather_bytes(workload.types(), &table[..bytes], indices);
            output.map_err(|error| error.to_string())
        };
        if workload.shards == 1 {
            return run(workload, indices);
        }
        let mut one = workload.clone();
        one.shards = 1;
        one.params_shape[0] /= workload.shards;
        let rows = one.params_shape[0] as u32;
        let indices: Vec<u32> = bytemuck::pod_collect_to_vec(indices);
        let folded: Vec<u32> = indices.into_iter().map(|row| row % rows).collect();
        run(&one, bytemuck::cast_slice(&folded))
    }
}

/// "large" for workloads that no cache holds, whose names have a "+" or a ":".
fn set_of(workload: &Workload) -> &'static str {
    match workload.name.contains(['+', ':']) {
        true => "large",
        false => "usual",
    }
}
