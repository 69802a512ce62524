//! The CPU path, with one thread and with all, beside a memcpy of the output.

use std::hint::black_box;

use wgpu_gather::{BadIndices, GatherElement, GatherIndex};

use crate::timing::{Figure, Timed, time, took};
use crate::workloads::{Data, Number};

pub const DEVICE: &str = "cpu";

/// A call of so few bytes is timed a thousand at a time.
const SMALL_BYTES: usize = 1 << 20;

pub fn measure<T, I>(data: &Data<T, I>, rounds: usize) -> Vec<Timed>
where
    T: Number + GatherElement,
    I: Number + GatherIndex,
{
    let plan = data.workload.plan(BadIndices::Error);
    let Data {
        params, indices, ..
    } = data;
    let expected = plan.run(params, indices).expect("the indices are in range");
    check(data, &expected);
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let pools = [1, all].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        (threads, pool.expect("threads"))
    });
    let calls = if size_of_val(&expected[..]) < SMALL_BYTES {
        1000
    } else {
        1
    };

    let blank = || vec![T::from_u32(7); expected.len()];
    let (mut output_copy, mut outputs) = (blank(), [blank(), blank()]);
    let output_copy = &mut output_copy;
    let mut figures = vec![Figure {
        device: DEVICE,
        threads: 1,
        measure: "copy",
        calls,
        sample: Box::new(|| {
            took(|| {
                for _ in 0..calls {
                    output_copy.copy_from_slice(black_box(&expected));
                    black_box(&mut *output_copy);
                }
            })
        }),
    }];
    for ((threads, pool), output) in pools.iter().zip(&mut outputs) {
        figures.push(Figure {
            device: DEVICE,
            threads: *threads,
            measure: "run_into",
            calls,
            sample: Box::new(|| {
                pool.install(|| {
                    took(|| {
                        for _ in 0..calls {
                            let run = plan.run_into(params, indices, black_box(output));
                            run.expect("the indices are in range");
                        }
                    })
                })
            }),
        });
        figures.push(Figure {
            device: DEVICE,
            threads: *threads,
            measure: "run",
            calls,
            sample: Box::new(|| {
                pool.install(|| {
                    took(|| {
                        for _ in 0..calls {
                            black_box(plan.run(params, indices)).expect("in range");
                        }
                    })
                })
            }),
        });
    }
    let timed = time(figures, rounds);
    for output in outputs {
        assert!(output == expected, "run_into differs from run");
    }
    timed
}

/// The formula, written out.
fn check<T: Number, I: Number + GatherIndex>(data: &Data<T, I>, output: &[T]) {
    let plan = data.workload.plan(BadIndices::Error);
    let dims = plan.dims();
    let size = |size: u64| usize::try_from(size).expect("in memory");
    let depth = dims.index_depth();
    let (index_count, outer, rows) = (
        size(dims.index_count),
        size(dims.outer_size),
        size(dims.row_count),
    );
    for (place, slice) in output.chunks_exact(size(dims.slice_len)).enumerate() {
        let part = place / index_count;
        let index_row = part / outer * index_count + place % index_count;
        let index = &data.indices[index_row * depth..][..depth];
        let row = index
            .iter()
            .zip(&dims.indexed_dims)
            .fold(0, |row, (index, &dim)| {
                let bytes = bytemuck::bytes_of(index);
                // The values are below 2^31.
                let low = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                row * size(dim) + low as usize
            });
        let start = (part * rows + row) * slice.len();
        assert!(
            *slice == data.params[start..start + slice.len()],
            "row {place} differs"
        );
    }
}
