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

    let plain = PlainLoop::new(data);
    let blank = || vec![T::from_u32(7); expected.len()];
    let (mut output_copy, mut output_plain, mut outputs) = (blank(), blank(), [blank(), blank()]);
    let (output_copy, plain_output) = (&mut output_copy, &mut output_plain);
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
    figures.push(Figure {
        device: DEVICE,
        threads: 1,
        measure: "plain_loop",
        calls,
        sample: Box::new(|| {
            took(|| {
                for _ in 0..calls {
                    plain.run(data, black_box(plain_output));
                }
            })
        }),
    });
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
    assert!(output_plain == expected, "the plain loop differs from run");
    for output in outputs {
        assert!(output == expected, "run_into differs from run");
    }
    timed
}

/// What one would write without a library: safe, checked, a row at a time.
struct PlainLoop {
    depth: usize,
    dims: Vec<usize>,
    index_count: usize,
    outer_size: usize,
    row_count: usize,
    slice_len: usize,
}

impl PlainLoop {
    fn new<T: Number, I: Number>(data: &Data<T, I>) -> Self {
        let plan = data.workload.plan(BadIndices::Error);
        let dims = plan.dims();
        let size = |size: u64| usize::try_from(size).expect("in memory");
        Self {
            depth: dims.index_depth(),
            dims: dims.indexed_dims.iter().map(|&dim| size(dim)).collect(),
            index_count: size(dims.index_count),
            outer_size: size(dims.outer_size),
            row_count: size(dims.row_count),
            slice_len: size(dims.slice_len),
        }
    }

    fn run<T: Number, I: Number>(&self, data: &Data<T, I>, output: &mut [T]) {
        let parts = output.chunks_exact_mut(self.index_count * self.slice_len);
        for (part, output) in parts.enumerate() {
            let batch = part / self.outer_size * self.index_count;
            let indices = &data.indices[batch * self.depth..];
            let rows = indices.chunks_exact(self.depth);
            for (index, slice) in rows.zip(output.chunks_exact_mut(self.slice_len)) {
                let mut row = 0;
                for (index, &dim) in index.iter().zip(&self.dims) {
                    let index = index.to_usize();
                    assert!(index < dim);
                    row = row * dim + index;
                }
                let start = (part * self.row_count + row) * self.slice_len;
                slice.copy_from_slice(&data.params[start..start + self.slice_len]);
            }
        }
    }
}

/// The formula, for each element by itself.
fn check<T: Number, I: Number>(data: &Data<T, I>, output: &[T]) {
    let plain = PlainLoop::new(data);
    let PlainLoop {
        depth,
        index_count,
        outer_size,
        row_count,
        slice_len,
        ..
    } = plain;
    for (place, element) in output.iter().enumerate() {
        let (output_row, s) = (place / slice_len, place % slice_len);
        let (part, n) = (output_row / index_count, output_row % index_count);
        let index_row = part / outer_size * index_count + n;
        let index = &data.indices[index_row * depth..][..depth];
        let row = index
            .iter()
            .zip(&plain.dims)
            .fold(0, |row, (index, dim)| row * dim + index.to_usize());
        let expected = data.params[(part * row_count + row) * slice_len + s];
        assert!(*element == expected, "element {place} differs");
    }
}
