//! Each row of the table in src/guide/frameworks.md, on the CPU and on the GPU. The expected results are printed by the
//! other library's documentation, or were made by running that library.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;

use common::device::gpu_trial;
use libtest_mimic::{Arguments, Trial};
use wgpu_gather::BadIndices::{self, Clamp, DeviceDefault, Error, Zero};
use wgpu_gather::NegativeIndices::{self, FromEnd, Invalid};
use wgpu_gather::{Gather, GatherElements, GatherNd, GatherPlan, Gpu, GpuError, RunError};

/// The table's column `here`: an operation and its attributes.
#[derive(Clone, Copy)]
enum Here {
    Gather(Option<i64>, i64, NegativeIndices, BadIndices),
    GatherNd(i64, NegativeIndices, BadIndices),
    GatherElements(i64, NegativeIndices, BadIndices),
}

use Here::{Gather as G, GatherElements as E, GatherNd as Nd};

/// One call and its output. Without an output, a bad index is expected.
struct Call {
    params: Array<f32>,
    indices: Array<i64>,
    fill: f32,
    output: Option<Array<f32>>,
}

/// Shape and values.
type Array<T> = (&'static [usize], &'static [T]);

struct Row {
    there: &'static str,
    here: Here,
    calls: Vec<Call>,
}

fn row(there: &'static str, here: Here, calls: impl IntoIterator<Item = Call>) -> Row {
    Row {
        there,
        here,
        calls: calls.into_iter().collect(),
    }
}

fn call(params: Array<f32>, indices: Array<i64>, output: Array<f32>) -> Call {
    Call {
        params,
        indices,
        fill: 0.0,
        output: Some(output),
    }
}

fn filled(fill: f32, call: Call) -> Call {
    Call { fill, ..call }
}

fn error(params: Array<f32>, indices: Array<i64>) -> Call {
    Call {
        params,
        indices,
        fill: 0.0,
        output: None,
    }
}

const TENS: Array<f32> = (
    &[4, 3],
    &[0., 1., 2., 10., 11., 12., 20., 21., 22., 30., 31., 32.],
);
const ONE_TO_SIX: Array<f32> = (&[3, 2], &[1., 2., 3., 4., 5., 6.]);
const ONE_TO_TWELVE: Array<f32> = (
    &[2, 3, 2],
    &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.],
);
const ZERO_TO_SEVEN: Array<f32> = (&[2, 2, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
const THREE: Array<f32> = (&[3], &[1., 2., 3.]);
const NUMPY: Array<f32> = (&[6], &[4., 3., 5., 7., 6., 8.]);
const NAN: f32 = f32::NAN;

fn rows() -> Vec<Row> {
    let around: Array<i64> = (&[5], &[-1, -4, 0, 2, 3]);
    vec![
        row(
            "`tf.gather(params, indices, axis=1)`",
            G(Some(1), 0, Invalid, DeviceDefault),
            [call(
                TENS,
                (&[2], &[2, 1]),
                (&[4, 2], &[2., 1., 12., 11., 22., 21., 32., 31.]),
            )],
        ),
        row(
            "`tf.gather(params, indices, batch_dims=1)`",
            G(None, 1, Invalid, DeviceDefault),
            [call(
                (&[2, 4], &[0., 0., 1., 0., 2., 0., 3., 0.]),
                (&[2, 1], &[2, 0]),
                (&[2, 1], &[1., 2.]),
            )],
        ),
        row(
            "`tf.gather` on a CPU, index out of range",
            G(None, 0, Invalid, Error),
            [error(THREE, (&[2], &[0, 3])), error(THREE, (&[1], &[-1]))],
        ),
        row(
            "`tf.gather` on a GPU, index out of range",
            G(None, 0, Invalid, Zero),
            [call(THREE, (&[3], &[0, 3, -1]), (&[3], &[1., 0., 0.]))],
        ),
        row(
            "`tf.compat.v1.batch_gather(params, indices)`, indices of rank 3",
            G(None, 2, Invalid, DeviceDefault),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 2, 1], &[1, 0, 0, 1]),
                (&[2, 2, 1], &[1., 2., 4., 7.]),
            )],
        ),
        row(
            "`tf.nn.embedding_lookup(params, ids)`",
            G(None, 0, Invalid, DeviceDefault),
            [call(
                ONE_TO_SIX,
                (&[2, 2], &[0, 2, 2, 1]),
                (&[2, 2, 2], &[1., 2., 5., 6., 5., 6., 3., 4.]),
            )],
        ),
        row(
            "`tf.gather_nd(params, indices)`",
            Nd(0, Invalid, DeviceDefault),
            [
                call(
                    ZERO_TO_SEVEN,
                    (&[2, 3], &[0, 0, 1, 1, 0, 1]),
                    (&[2], &[1., 5.]),
                ),
                call(
                    ZERO_TO_SEVEN,
                    (&[1, 1], &[1]),
                    (&[1, 2, 2], &[4., 5., 6., 7.]),
                ),
            ],
        ),
        row(
            "`tf.gather_nd(params, indices, batch_dims=1)`",
            Nd(1, Invalid, DeviceDefault),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 1], &[1, 0]),
                (&[2, 2], &[2., 3., 4., 5.]),
            )],
        ),
        row(
            "`tf.gather_nd(params, indices, bad_indices_policy=\"IGNORE\")`",
            Nd(0, Invalid, Zero),
            [call(
                ZERO_TO_SEVEN,
                (&[3, 2], &[0, 1, 2, 0, 0, -1]),
                (&[3, 2], &[2., 3., 0., 0., 0., 0.]),
            )],
        ),
        row(
            "`paddle.gather(x, index, axis=0)`",
            G(None, 0, FromEnd, DeviceDefault),
            [
                call(ONE_TO_SIX, (&[2], &[1, 2]), (&[2, 2], &[3., 4., 5., 6.])),
                call(ONE_TO_SIX, (&[], &[0]), (&[2], &[1., 2.])),
            ],
        ),
        row(
            "`paddle.gather_nd(x, index)`",
            Nd(0, FromEnd, DeviceDefault),
            [
                call(ONE_TO_TWELVE, (&[1, 2], &[0, 1]), (&[1, 2], &[3., 4.])),
                call(ONE_TO_TWELVE, (&[1, 2], &[-1, -1]), (&[1, 2], &[11., 12.])),
                call(ONE_TO_TWELVE, (&[1, 3], &[1, 2, 0]), (&[1], &[11.])),
            ],
        ),
        row(
            "ONNX `Gather`, axis 1",
            G(Some(1), 0, FromEnd, DeviceDefault),
            [
                call(
                    (&[3, 3], &[1.0, 1.2, 1.9, 2.3, 3.4, 3.9, 4.5, 5.7, 5.9]),
                    (&[1, 2], &[0, 2]),
                    (&[3, 1, 2], &[1.0, 1.9, 2.3, 3.9, 4.5, 5.9]),
                ),
                call(
                    (&[1, 10], &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]),
                    (&[3], &[0, -9, -10]),
                    (&[1, 3], &[0., 1., 0.]),
                ),
            ],
        ),
        row(
            "ONNX `GatherND`, batch_dims 1",
            Nd(1, FromEnd, DeviceDefault),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 1], &[1, 0]),
                (&[2, 2], &[2., 3., 4., 5.]),
            )],
        ),
        row(
            "`numpy.take(a, indices, axis=0)`",
            G(Some(0), 0, FromEnd, Error),
            [
                call(NUMPY, (&[3], &[0, 1, 4]), (&[3], &[4., 3., 6.])),
                call(
                    NUMPY,
                    (&[2, 2], &[0, 1, 2, 3]),
                    (&[2, 2], &[4., 3., 5., 7.]),
                ),
                call(NUMPY, (&[1], &[-6]), (&[1], &[4.])),
                error(NUMPY, (&[1], &[-7])),
                error(NUMPY, (&[1], &[6])),
            ],
        ),
        row(
            "`numpy.take(a, indices, axis=0, mode=\"clip\")`",
            G(Some(0), 0, Invalid, Clamp),
            [call(THREE, around, (&[5], &[1., 1., 1., 3., 3.]))],
        ),
        row(
            "NumPy `a[i, j]`",
            Nd(0, FromEnd, Error),
            [
                call(TENS, (&[2, 2], &[0, 2, 3, -1]), (&[2], &[2., 32.])),
                error(TENS, (&[1, 2], &[4, 0])),
            ],
        ),
        row(
            "`jax.numpy.take(a, indices, axis=0)`",
            G(Some(0), 0, FromEnd, Zero),
            [filled(
                NAN,
                call(THREE, around, (&[5], &[3., NAN, 1., 3., NAN])),
            )],
        ),
        row(
            "`jax.numpy.take(a, indices, axis=0, mode=\"clip\")`",
            G(Some(0), 0, Invalid, Clamp),
            [call(THREE, around, (&[5], &[1., 1., 1., 3., 3.]))],
        ),
        row(
            "JAX `a[indices]`, `a.at[indices].get(mode=\"clip\")`",
            G(None, 0, FromEnd, Clamp),
            [call(THREE, around, (&[5], &[3., 1., 1., 3., 3.]))],
        ),
        row(
            "JAX `a.at[indices].get(mode=\"fill\", fill_value=-9)`",
            G(None, 0, FromEnd, Zero),
            [filled(
                -9.,
                call(THREE, around, (&[5], &[3., -9., 1., 3., -9.])),
            )],
        ),
        row(
            "XLA `Gather`, whole slices",
            Nd(0, Invalid, Clamp),
            [
                call(
                    (&[10], &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]),
                    (&[1, 1], &[11]),
                    (&[1], &[9.]),
                ),
                call(TENS, (&[2, 2], &[-5, 1, 9, 9]), (&[2], &[1., 32.])),
            ],
        ),
        row(
            "`torch.index_select(input, 1, index)`",
            G(Some(1), 0, Invalid, Error),
            [
                call(
                    TENS,
                    (&[2], &[0, 2]),
                    (&[4, 2], &[0., 2., 10., 12., 20., 22., 30., 32.]),
                ),
                error(TENS, (&[1], &[-1])),
            ],
        ),
        row(
            "`torch.nn.functional.embedding(input, weight)`",
            G(None, 0, Invalid, Error),
            [call(
                ONE_TO_SIX,
                (&[2, 2], &[0, 2, 2, 1]),
                (&[2, 2, 2], &[1., 2., 5., 6., 5., 6., 3., 4.]),
            )],
        ),
        row(
            "`torch.take(input, index)`",
            G(None, 0, FromEnd, Error),
            [call(
                (&[6], &[4., 3., 5., 6., 7., 8.]),
                (&[4], &[0, 2, 5, -1]),
                (&[4], &[4., 5., 8., 8.]),
            )],
        ),
        row(
            "PyTorch `input[i, j]`",
            Nd(0, FromEnd, Error),
            [call(
                (&[2, 3], &[4., 3., 5., 6., 7., 8.]),
                (&[2, 2], &[0, 2, 1, -1]),
                (&[2], &[5., 8.]),
            )],
        ),
        row(
            "ONNX `GatherElements`, axis 1",
            E(1, FromEnd, Error),
            [call(
                (&[2, 2], &[1., 2., 3., 4.]),
                (&[2, 2], &[0, 0, 1, 0]),
                (&[2, 2], &[1., 1., 4., 3.]),
            )],
        ),
        row(
            "ONNX `GatherElements`",
            E(0, FromEnd, Error),
            [
                call(
                    (&[3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]),
                    (&[2, 3], &[1, 2, 0, 2, 0, 0]),
                    (&[2, 3], &[4., 8., 3., 7., 2., 3.]),
                ),
                call(
                    (&[3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]),
                    (&[2, 3], &[-1, -2, 0, -2, 0, 0]),
                    (&[2, 3], &[7., 5., 3., 4., 2., 3.]),
                ),
                error(ONE_TO_SIX, (&[1, 2], &[1, 3])),
            ],
        ),
        row(
            "`numpy.take_along_axis(arr, indices, axis=1)`",
            E(1, FromEnd, Error),
            [
                call(
                    (&[2, 3], &[10., 30., 20., 60., 40., 50.]),
                    (&[2, 3], &[0, 2, 1, 1, 2, 0]),
                    (&[2, 3], &[10., 20., 30., 40., 50., 60.]),
                ),
                call(
                    (&[2, 3], &[10., 30., 20., 60., 40., 50.]),
                    (&[2, 1], &[1, 0]),
                    (&[2, 1], &[30., 60.]),
                ),
                error(ONE_TO_SIX, (&[3, 1], &[0, 2, 0])),
            ],
        ),
        row(
            "`torch.gather(input, 1, index)`",
            E(1, Invalid, Error),
            [
                call(
                    (&[2, 2], &[1., 2., 3., 4.]),
                    (&[2, 2], &[0, 0, 1, 0]),
                    (&[2, 2], &[1., 1., 4., 3.]),
                ),
                error(ONE_TO_SIX, (&[1, 2], &[0, -1])),
            ],
        ),
        row(
            "burn `tensor.select(1, indices)`",
            G(Some(1), 0, Invalid, DeviceDefault),
            [call(
                (&[2, 3], &[1., -2., 3., 4., 5., 6.]),
                (&[3], &[1, 1, 0]),
                (&[2, 3], &[-2., -2., 1., 5., 5., 4.]),
            )],
        ),
        row(
            "candle `tensor.index_select(&indexes, 1)`",
            G(Some(1), 0, Invalid, Error),
            [call(
                TENS,
                (&[4], &[0, 1, 0, 1]),
                (
                    &[4, 4],
                    &[
                        0., 1., 0., 1., 10., 11., 10., 11., 20., 21., 20., 21., 30., 31., 30., 31.,
                    ],
                ),
            )],
        ),
        row(
            "ndarray `array.select(Axis(1), &indices)`",
            G(Some(1), 0, Invalid, Error),
            [call(
                TENS,
                (&[2], &[0, 2]),
                (&[4, 2], &[0., 2., 10., 12., 20., 22., 30., 32.]),
            )],
        ),
    ]
}

impl Here {
    fn plan(self, call: &Call) -> GatherPlan {
        let (params, indices) = (call.params.0, call.indices.0);
        let plan = match self {
            Self::Gather(axis, batch_dims, negative, bad) => {
                let gather = axis.map_or(Gather::new(), |axis| Gather::new().axis(axis));
                let gather = gather.batch_dims(batch_dims).negative_indices(negative);
                gather.bad_indices(bad).plan(params, indices)
            }
            Self::GatherNd(batch_dims, negative, bad) => GatherNd::new()
                .batch_dims(batch_dims)
                .negative_indices(negative)
                .bad_indices(bad)
                .plan(params, indices),
            Self::GatherElements(axis, negative, bad) => GatherElements::new()
                .axis(axis)
                .negative_indices(negative)
                .bad_indices(bad)
                .plan(params, indices),
        };
        plan.unwrap()
    }
}

#[track_caller]
fn check(row: &Row, run: impl Fn(&GatherPlan, &Call) -> Result<Vec<f32>, RunError>) {
    assert!(!row.calls.is_empty());
    let bits = |values: &[f32]| {
        values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    for call in &row.calls {
        let plan = row.here.plan(call);
        match (run(&plan, call), call.output) {
            (Ok(found), Some((shape, expected))) => {
                assert_eq!(plan.output_shape(), shape, "{}", row.there);
                assert_eq!(bits(&found), bits(expected), "{}: {found:?}", row.there);
            }
            (found, None) => {
                assert!(
                    matches!(found, Err(RunError::BadIndex(_))),
                    "{}: {found:?}",
                    row.there
                );
            }
            (Err(error), Some(_)) => panic!("{}: {error}", row.there),
        }
    }
}

fn on_gpu(gpu: &Gpu, plan: &GatherPlan, call: &Call) -> Result<Vec<f32>, RunError> {
    let table = gpu.upload(call.params.1).unwrap();
    let gathered = gpu.gather_filled_blocking(plan, &table, call.indices.1, call.fill);
    gathered.map_err(|error| match error {
        GpuError::Run(error) => error,
        error => panic!("{error}"),
    })
}

/// The column `there` of the guide's table.
fn documented() -> BTreeSet<&'static str> {
    let lines = include_str!("../src/guide/frameworks.md").lines();
    let rows = lines.filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    rows.filter(|&cell| cell != "there").collect()
}

fn main() {
    let mut trials = vec![Trial::test("the_table_has_these_rows", || {
        let rows = rows();
        let tested: BTreeSet<_> = rows.iter().map(|row| row.there).collect();
        assert_eq!(tested.len(), rows.len(), "a row twice");
        assert_eq!(documented(), tested);
        Ok(())
    })];
    for (number, row) in rows().into_iter().enumerate() {
        trials.push(Trial::test(format!("cpu::{}", row.there), move || {
            check(&row, |plan, call| {
                plan.run_filled(call.params.1, call.indices.1, call.fill)
            });
            Ok(())
        }));
        let name = format!("gpu::{}", rows()[number].there);
        trials.push(gpu_trial(name, move |gpu| {
            check(&rows()[number], |plan, call| on_gpu(gpu, plan, call));
            Ok(())
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
