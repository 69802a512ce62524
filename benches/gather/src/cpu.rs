//! Times the CPU path with one thread and with all. `gather_into` stands beside loops and a copy that also write to an
//! existing output, `gather` beside a copy that also allocates.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use wgpu_gather::{BadIndices, Element, Index};

use crate::data::{Data, Number};
use crate::timing::{Figure, Timed, time, took};

/// A sample is 1,000 calls if the output has fewer bytes than this.
const SMALL_BYTES: usize = 1 << 20;

pub fn measure<T, I>(data: &Data<T, I>, rounds: usize) -> Vec<Timed>
where
    T: Number + Element,
    I: Number + Index,
{
    let plan = data.workload.plan(BadIndices::Error);
    let Data {
        params, indices, ..
    } = data;
    let expected = plan
        .gather(params, indices)
        .expect("the indices are in range");
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
    // All calls that fill an output share one, because its place in memory changes times.
    let output = RefCell::new(vec![T::from_u32(7); expected.len()]);
    let output = &output;
    let figure = |threads, measure, sample| Figure {
        threads,
        measure,
        calls,
        sample,
    };
    // The time of one sample.
    let filled = |fill: &(dyn Fn(&mut [T]) + Sync)| {
        let output = &mut *output.borrow_mut();
        took(|| (0..calls).for_each(|_| fill(black_box(output))))
    };
    let copy = |output: &mut [T]| output.copy_from_slice(black_box(&expected));
    let plain_loop = |output: &mut [T]| plain.run(data, output);
    let gather_into = |output: &mut [T]| {
        let run = plan.gather_into(params, indices, output);
        run.expect("the indices are in range");
    };
    let run = || drop(black_box(plan.gather(params, indices)).expect("in range"));
    let copy_to_vec = || drop(black_box(black_box(&expected).clone()));

    let mut figures = vec![
        figure(
            1,
            "copy",
            Box::new(|| filled(&copy)) as Box<dyn FnMut() -> Duration>,
        ),
        figure(1, "plain_loop", Box::new(|| filled(&plain_loop))),
    ];
    // Calls that allocate are timed apart: they change the caches for the call after them.
    let copies_to_vec = || took(|| (0..calls).for_each(|_| copy_to_vec()));
    let mut allocating = vec![figure(
        1,
        "copy_to_vec",
        Box::new(copies_to_vec) as Box<dyn FnMut() -> Duration>,
    )];
    for (threads, pool) in &pools {
        let gather_into = || {
            let output = &mut output.borrow_mut()[..];
            pool.install(|| took(|| (0..calls).for_each(|_| gather_into(black_box(output)))))
        };
        let run = || pool.install(|| took(|| (0..calls).for_each(|_| run())));
        figures.push(figure(*threads, "gather_into", Box::new(gather_into)));
        allocating.push(figure(*threads, "gather", Box::new(run)));
    }
    for figure in &mut figures {
        output.borrow_mut().fill(T::from_u32(7));
        (figure.sample)();
        let measure = figure.measure;
        assert!(*output.borrow() == expected, "{measure} differs from run");
    }
    let mut timed = time(figures, rounds);
    timed.extend(time(allocating, rounds));
    timed
}

/// The loop you would write without a library: safe, checked, one row at a time.
struct PlainLoop {
    depth: usize,
    dims: Vec<usize>,
    index_count: usize,
    outer_size: usize,
    row_count: usize,
    slice_len: usize,
    /// 0 unless it is a gather_elements.
    element_stride: usize,
}

impl PlainLoop {
    fn new<T: Number, I: Number>(data: &Data<T, I>) -> Self {
        let plan = data.workload.plan(BadIndices::Error);
        let workload = &data.workload;
        Self {
            depth: workload.index_depth(),
            dims: workload.indexed_dims().to_vec(),
            index_count: workload.index_count(),
            outer_size: workload.outer_size(),
            row_count: workload.params_rows() / workload.blocks(),
            slice_len: plan.slice_len(),
            element_stride: workload.element_stride(),
        }
    }

    /// The row, within its block, that is copied to the block's output row `n`.
    fn row<I: Number>(&self, index: &[I], n: usize) -> usize {
        let row = index.iter().zip(&self.dims).fold(0, |row, (index, &dim)| {
            let index = index.to_usize();
            assert!(index < dim);
            row * dim + index
        });
        match self.element_stride {
            0 => row,
            stride => row * stride + n % stride,
        }
    }

    fn run<T: Number, I: Number>(&self, data: &Data<T, I>, output: &mut [T]) {
        let parts = output.chunks_exact_mut(self.index_count * self.slice_len);
        for (part, output) in parts.enumerate() {
            let batch = part / self.outer_size * self.index_count;
            let indices = &data.indices[batch * self.depth..];
            let rows = indices.chunks_exact(self.depth);
            let slices = output.chunks_exact_mut(self.slice_len);
            for (n, (index, slice)) in rows.zip(slices).enumerate() {
                let row = self.row(index, n);
                let start = (part * self.row_count + row) * self.slice_len;
                slice.copy_from_slice(&data.params[start..start + self.slice_len]);
            }
        }
    }
}

/// Checks each output element against the formula.
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
        let row = plain.row(index, n);
        let expected = data.params[(part * row_count + row) * slice_len + s];
        assert!(*element == expected, "element {place} differs");
    }
}
