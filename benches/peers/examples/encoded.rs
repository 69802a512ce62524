//! Times gathers of encoded rows on the CPU: this crate's, candle's `QTensor::embedding`, and this crate's gather of f32
//! rows that give as many bytes. Outputs are compared before anything is timed.
//!
//! ```sh
//! cargo run --release --no-default-features --features candle --example encoded
//! python3 python/encoded.py      # gguf-py
//! ```

use std::time::Instant;

use candle_core::quantized::{GgmlDType, QStorage, QTensor};
use candle_core::{Device, Tensor};
use rayon::ThreadPoolBuilder;
use testkit::bench::timing::in_turn;
use wgpu_gather::{Encoded, Encoding, Gather};

const SAMPLES: usize = 21;
/// Values of the table, and of the output: those of W4.
const TABLE: usize = 100_000 * 128;
const OUTPUT: usize = 200_000 * 128;

fn main() {
    println!(
        "milliseconds, medians of {SAMPLES} samples; in brackets the ratio to f32 rows of this crate"
    );
    for threads in [1, 2] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("threads").install(|| run(threads));
    }
}

fn run(threads: usize) {
    for (encoding, dtype, len) in [
        (Encoding::Q8_0, GgmlDType::Q8_0, 128),
        (Encoding::Q4_0, GgmlDType::Q4_0, 128),
        (Encoding::Q4K, GgmlDType::Q4K, 256),
        (Encoding::Q6K, GgmlDType::Q6K, 256),
        (Encoding::F16, GgmlDType::F16, 128),
        (Encoding::Bf16, GgmlDType::BF16, 128),
    ] {
        let (rows, count) = (TABLE / len, OUTPUT / len);
        let row_bytes = encoding.row_bytes(len as u64).expect("whole blocks");
        let bytes = rows * usize::try_from(row_bytes).expect("a short row");
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        // Scales are finite.
        let table: Vec<u8> = (0..bytes)
            .map(|_| random().to_le_bytes()[0] & 0xbf)
            .collect();
        let ids: Vec<u32> = (0..count)
            .map(|_| u32::try_from(random() % rows as u64).expect("a row"))
            .collect();
        let plan = Gather::new().plan(&[rows, len], &[count]).expect("a plan");
        let floats = vec![1.5_f32; TABLE];

        let storage = QStorage::from_data(table.clone().into(), &Device::Cpu, dtype);
        let candle = QTensor::new(storage.expect("bytes"), (rows, len)).expect("a table");
        let candle_ids = Tensor::from_slice(&ids, count, &Device::Cpu).expect("ids");
        let table = Encoded::new(encoding, table);
        let expected = plan.run_decoded(&table, &ids).expect("rows");
        let embedding = || candle.embedding(&candle_ids).expect("rows");
        let found = embedding()
            .flatten_all()
            .and_then(|rows| rows.to_vec1::<f32>());
        let same = found
            .expect("f32")
            .iter()
            .zip(&expected)
            .all(|(a, b)| a == b);
        assert!(same, "candle's rows of {encoding} differ");

        let (mut into, mut float_into) = (vec![0.0_f32; OUTPUT], vec![0.0_f32; OUTPUT]);
        let mut time_f32 = || {
            let start = Instant::now();
            plan.run_into(&floats, &ids, &mut float_into).expect("rows");
            start.elapsed()
        };
        let mut time_into = || {
            let start = Instant::now();
            plan.run_decoded_into(&table, &ids, &mut into)
                .expect("rows");
            start.elapsed()
        };
        let mut time_run = || {
            let start = Instant::now();
            let _rows = plan.run_decoded(&table, &ids).expect("rows");
            start.elapsed()
        };
        let mut time_candle = || {
            let start = Instant::now();
            let _rows = embedding();
            start.elapsed()
        };
        let mut samplers: Vec<Box<dyn FnMut() -> std::time::Duration + '_>> = vec![
            Box::new(&mut time_f32),
            Box::new(&mut time_into),
            Box::new(&mut time_run),
            Box::new(&mut time_candle),
        ];
        let times = in_turn(&mut samplers, SAMPLES);
        let ms: Vec<f64> = times
            .iter()
            .map(|times| times.median.as_secs_f64() * 1e3)
            .collect();
        println!(
            "{encoding:<5} {threads} threads: f32 run_into {:.1}; run_decoded_into {:.1} ({:.2}); run_decoded {:.1}; candle {:.1}",
            ms[0],
            ms[1],
            ms[1] / ms[0],
            ms[2],
            ms[3]
        );
    }
}
