//! Rows of NumPy, CuPy, JAX, XLA, MLX, Nx and ndarray.

use wgpu_gather::BadIndices::{Clamp, DeviceDefault, Error, Fill, Wrap};
use wgpu_gather::NegativeIndices::{FromEnd, Invalid};

use crate::row::Here::{
    Broadcast as B, Gather as G, GatherElements as E, GatherNd as Nd, GatherNdAt as NdAt,
};
use crate::row::*;

pub fn rows() -> Vec<Row> {
    let around: Array<i64> = (&[5], &[-1, -4, 0, 2, 3]);
    vec![
        row(
            "NumPy `a[indices]`, `numpy.take(a, indices, axis=0)`",
            G(None, 0, FromEnd, Error),
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
            G(None, 0, Invalid, Clamp),
            [call(THREE, around, (&[5], &[1., 1., 1., 3., 3.]))],
        ),
        row(
            "`numpy.take(a, indices, axis=0, mode=\"wrap\")`",
            G(None, 0, Invalid, Wrap),
            [call(THREE, around, (&[5], &[3., 3., 1., 3., 1.]))],
        ),
        row(
            "NumPy `a[i, j]`",
            Nd(0, FromEnd, Error),
            [
                call(TENS, (&[2, 2], &[0, 2, 3, -1]), (&[2], &[2., 32.])),
                error(TENS, (&[1, 2], &[4, 0])),
                // Empty slices.
                call((&[3, 0], &[]), (&[2, 1], &[2, 0]), (&[2, 0], &[])),
            ],
        ),
        row(
            "NumPy `a[:, i, j]`",
            NdAt(1, FromEnd, Error),
            [
                call(
                    ZERO_TO_SEVEN,
                    (&[2, 2], &[0, 1, 1, -1]),
                    (&[2, 2], &[1., 3., 5., 7.]),
                ),
                error(ZERO_TO_SEVEN, (&[1, 2], &[2, 0])),
            ],
        ),
        row(
            "CuPy `a[indices]`, `cupy.take(a, indices, axis=0)`",
            G(None, 0, Invalid, Wrap),
            [
                call((&[3], &[0., 1., 2.]), (&[2], &[1, 3]), (&[2], &[1., 0.])),
                call(THREE, around, (&[5], &[3., 3., 1., 3., 1.])),
            ],
        ),
        row(
            "`jax.numpy.take(a, indices, axis=0)`",
            G(None, 0, FromEnd, Fill),
            [filled(
                NAN,
                call(THREE, around, (&[5], &[3., NAN, 1., 3., NAN])),
            )],
        ),
        row(
            "`jax.numpy.take(a, indices, axis=0, mode=\"clip\")`",
            G(None, 0, Invalid, Clamp),
            [call(THREE, around, (&[5], &[1., 1., 1., 3., 3.]))],
        ),
        row(
            "`jax.numpy.take(a, indices, axis=0, mode=\"wrap\")`",
            G(None, 0, Invalid, Wrap),
            [call(THREE, around, (&[5], &[3., 3., 1., 3., 1.]))],
        ),
        row(
            "JAX `a[indices]`, `a.at[indices].get(mode=\"clip\")`",
            G(None, 0, FromEnd, Clamp),
            [call(THREE, around, (&[5], &[3., 1., 1., 3., 3.]))],
        ),
        row(
            "JAX `a.at[indices].get(mode=\"fill\", fill_value=-9)`",
            G(None, 0, FromEnd, Fill),
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
            "`numpy.take_along_axis(arr, indices, axis=1)`",
            B(1, FromEnd, Error),
            [
                // One indices row for all rows, and one params row for all rows.
                call(
                    (&[2, 3], &[10., 30., 20., 60., 40., 50.]),
                    (&[1, 2], &[2, -3]),
                    (&[2, 2], &[20., 10., 50., 60.]),
                ),
                call(
                    (&[1, 3], &[10., 30., 20.]),
                    (&[2, 2], &[2, 0, 1, -1]),
                    (&[2, 2], &[20., 10., 30., 20.]),
                ),
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
            "ndarray `array.select(Axis(1), &indices)`",
            G(Some(1), 0, Invalid, Error),
            [call(
                TENS,
                (&[2], &[0, 2]),
                (&[4, 2], &[0., 2., 10., 12., 20., 22., 30., 32.]),
            )],
        ),
        row(
            "`jax.numpy.take_along_axis(arr, indices, axis=1)`",
            B(1, FromEnd, Fill),
            [
                filled(
                    NAN,
                    call(
                        (&[2, 3], &[1., 2., 3., 4., 5., 6.]),
                        (&[2, 2], &[0, -1, 3, -4]),
                        (&[2, 2], &[1., 3., NAN, NAN]),
                    ),
                ),
                filled(
                    NAN,
                    call(
                        (&[2, 3], &[1., 2., 3., 4., 5., 6.]),
                        (&[1, 2], &[-1, 3]),
                        (&[2, 2], &[3., NAN, 6., NAN]),
                    ),
                ),
            ],
        ),
        row(
            "`mlx.core.take(a, indices, axis=1)`",
            G(Some(1), 0, FromEnd, DeviceDefault),
            [call(
                NUMPY_2D,
                (&[3], &[2, 0, -1]),
                (&[2, 3], &[5., 4., 5., 8., 7., 8.]),
            )],
        ),
        row(
            "`mlx.core.take_along_axis(a, indices, axis=1)`",
            B(1, FromEnd, DeviceDefault),
            [
                call(NUMPY_2D, (&[2, 1], &[2, -3]), (&[2, 1], &[5., 7.])),
                call(NUMPY_2D, (&[1, 2], &[2, -3]), (&[2, 2], &[5., 4., 8., 7.])),
            ],
        ),
        row(
            "`Nx.take(tensor, indices, axis: 1)`",
            G(Some(1), 0, Invalid, Error),
            [
                call(
                    (&[2, 2], &[1., 2., 3., 4.]),
                    (&[3], &[1, 0, 1]),
                    (&[2, 3], &[2., 1., 2., 4., 3., 4.]),
                ),
                error((&[2, 2], &[1., 2., 3., 4.]), (&[1], &[-1])),
            ],
        ),
        row(
            "`Nx.take_along_axis(tensor, indices, axis: 1)`",
            E(1, Invalid, Error),
            [call(
                (&[2, 3], &[1., 2., 3., 4., 5., 6.]),
                (&[2, 6], &[0, 0, 2, 2, 1, 1, 2, 2, 1, 1, 0, 0]),
                (&[2, 6], &[1., 1., 3., 3., 2., 2., 6., 6., 5., 5., 4., 4.]),
            )],
        ),
        row(
            "`Nx.gather(tensor, indices)`",
            Nd(0, Invalid, Error),
            [
                call(
                    (&[2, 2], &[1., 2., 3., 4.]),
                    (&[3, 2], &[1, 1, 0, 1, 1, 0]),
                    (&[3], &[4., 2., 3.]),
                ),
                call(
                    (&[2, 3], &[1., 2., 3., 3., 4., 5.]),
                    (&[2, 1], &[1, 0]),
                    (&[2, 3], &[3., 4., 5., 1., 2., 3.]),
                ),
            ],
        ),
    ]
}
