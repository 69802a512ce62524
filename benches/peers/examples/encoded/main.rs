//! Times gathers of encoded rows on the CPU: this crate's and ggml's `get_rows`. Outputs are compared before anything is timed,
//! and all are sampled in turn.
//!
//! ```sh
//! CFLAGS=-march=native CXXFLAGS=-march=native \
//!     cargo run --release --features ggml --example encoded    # cmake and clang
//! ```

#[cfg(feature = "ggml")]
mod ggml;

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use testkit::bench::timing::in_turn;
use testkit::bench::workloads::Random;
use wgpu_gather::{Encoded, Encoding, Gather, GatherPlan};

const SAMPLES: usize = 21;
/// Values in the table, and in the output, as in W4.
const TABLE: usize = 100_000 * 128;
const OUTPUT: usize = 200_000 * 128;

const ENCODINGS: [Encoding; 16] = [
    Encoding::F16,
    Encoding::Bf16,
    Encoding::Q8_0,
    Encoding::Q4_0,
    Encoding::Q4_1,
    Encoding::Q5_0,
    Encoding::Q5_1,
    Encoding::Q2K,
    Encoding::Q3K,
    Encoding::Q4K,
    Encoding::Q5K,
    Encoding::Q6K,
    Encoding::Iq4Nl,
    Encoding::Iq4Xs,
    Encoding::Mxfp4,
    Encoding::F8E4M3,
];

/// An encoded table's bytes, and the numbers of the rows to gather.
struct Workload {
    encoding: Encoding,
    /// Rows, and values per row.
    shape: [usize; 2],
    table: Vec<u8>,
    ids: Vec<i32>,
}

impl Workload {
    fn new(encoding: Encoding) -> Self {
        let len = usize::try_from(encoding.block_len().max(128)).expect("a short block");
        let row_bytes = encoding.row_bytes(len as u64).expect("whole blocks");
        let row_bytes = usize::try_from(row_bytes).expect("a short row");
        let (rows, mut random) = (TABLE / len, Random::new());
        let mut below = |end: usize| random.below(u32::try_from(end).expect("a u32"));
        Self {
            encoding,
            shape: [rows, len],
            // Every byte's bit 6 is 0. It is a float's top exponent bit, so no scale is an infinity or a NaN.
            table: (0..rows * row_bytes)
                .map(|_| below(256).to_le_bytes()[0] & 0xbf)
                .collect(),
            ids: (0..OUTPUT / len)
                .map(|_| below(rows).cast_signed())
                .collect(),
        }
    }

    fn plan(&self) -> GatherPlan {
        let plan = Gather::new().plan(&self.shape, &[self.ids.len()]);
        plan.expect("a plan")
    }
}

fn main() {
    let pools = [1, 2].map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads")
    });
    println!(
        "Milliseconds, medians of {SAMPLES} samples. -: ggml lacks the encoding, or is not in the build.\n"
    );
    println!(
        "| encoding | `gather_encoded_into`, 1 and 2 threads | ggml's `get_rows` | `gather_encoded`, 1 and 2 threads |"
    );
    println!("|---|---|---|---|");
    for encoding in ENCODINGS {
        run(&Workload::new(encoding), &pools);
    }
}

/// A timed call.
type Sample<'a> = Box<dyn FnMut() -> Duration + 'a>;

fn run(workload: &Workload, pools: &[ThreadPool; 2]) {
    let plan = workload.plan();
    let table = Encoded::new(workload.encoding, &workload.table[..]);
    let expected = plan.gather_encoded(&table, &workload.ids).expect("rows");
    let mut outputs = [(); 3].map(|()| vec![0.0_f32; OUTPUT]);
    let [first, second, of_ggml] = &mut outputs;
    let mut samples: Vec<Sample> = Vec::new();
    for (pool, output) in pools.iter().zip([first, second]) {
        let (plan, table) = (&plan, &table);
        samples.push(Box::new(move || {
            let start = Instant::now();
            pool.install(|| plan.gather_encoded_into(table, &workload.ids, output))
                .expect("rows");
            start.elapsed()
        }));
        samples.push(Box::new(move || {
            let start = Instant::now();
            let rows = pool.install(|| plan.gather_encoded(table, &workload.ids));
            let time = start.elapsed();
            drop(rows.expect("rows"));
            time
        }));
    }
    samples.extend(ggml(workload, of_ggml, &expected));
    let times = in_turn(&mut samples, SAMPLES);
    let ms = |number: usize| format!("{:.1}", times[number].median.as_secs_f64() * 1e3);
    let ggml = times.get(4).map_or("-".to_owned(), |_| ms(4));
    println!(
        "| {} | {}, {} | {ggml} | {}, {} |",
        workload.encoding,
        ms(0),
        ms(2),
        ms(1),
        ms(3)
    );
}

/// ggml's `get_rows` on its CPU back end, into an existing output.
#[cfg(feature = "ggml")]
fn ggml<'a>(workload: &'a Workload, output: &'a mut [f32], expected: &[f32]) -> Option<Sample<'a>> {
    let mut graph = ggml::GetRows::new(
        workload.encoding,
        workload.shape,
        &workload.table,
        &workload.ids,
        output,
    )?;
    assert!(
        graph.compute() == expected,
        "ggml's rows of {} differ",
        workload.encoding
    );
    Some(Box::new(move || {
        let start = Instant::now();
        graph.compute();
        start.elapsed()
    }))
}

#[cfg(not(feature = "ggml"))]
fn ggml<'a>(_: &'a Workload, _: &'a mut [f32], _: &[f32]) -> Option<Sample<'a>> {
    None
}
