//! Rows of PyTorch, burn, candle, ggml and TVM.

use wgpu_gather::BadIndices::{Clamp, DeviceDefault, Error, Fill, Wrap};
use wgpu_gather::NegativeIndices::{FromEnd, Invalid};

use crate::row::Here::{
    Broadcast, Gather as G, GatherElements as E, GatherNd as Nd, GatherNdAt as NdAt,
};
use crate::row::*;

pub fn rows() -> Vec<Row> {
    vec![
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
            "PyTorch `input[indices]`",
            G(None, 0, FromEnd, Error),
            [
                call(
                    TENS,
                    (&[3], &[2, -1, 0]),
                    (&[3, 3], &[20., 21., 22., 30., 31., 32., 0., 1., 2.]),
                ),
                error(TENS, (&[1], &[4])),
                error(TENS, (&[1], &[-5])),
            ],
        ),
        row(
            "`torch.take_along_dim(input, indices, 1)`",
            Broadcast(1, Invalid, Wrap),
            [
                call(
                    TENS,
                    (&[1, 4], &[-1, 3, 4, -9]),
                    (
                        &[4, 4],
                        &[
                            2., 0., 1., 0., 12., 10., 11., 10., 22., 20., 21., 20., 32., 30., 31.,
                            30.,
                        ],
                    ),
                ),
                call(
                    (&[1, 3], &[4., 5., 6.]),
                    (&[2, 1], &[2, -2]),
                    (&[2, 1], &[6., 5.]),
                ),
            ],
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
            "PyTorch `input[:, i, j]`",
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
            "PyTorch `input[i, :, j]`",
            Nd(0, FromEnd, Error),
            [
                // The input is 1 to 12 in the shape [2, 3, 2]; params is its transpose.
                call(
                    (
                        &[2, 2, 3],
                        &[1., 3., 5., 2., 4., 6., 7., 9., 11., 8., 10., 12.],
                    ),
                    (&[3, 2], &[1, 0, 0, 1, -1, -1]),
                    (&[3, 3], &[7., 9., 11., 2., 4., 6., 8., 10., 12.]),
                ),
                error(ZERO_TO_SEVEN, (&[1, 2], &[0, 2])),
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
            "burn `tensor.gather(1, indices)`",
            E(1, Invalid, DeviceDefault),
            [call(
                (&[2, 3], &[0., 1., 2., 3., 4., 5.]),
                (&[2, 4], &[2, 1, 0, 0, 2, 0, 1, 2]),
                (&[2, 4], &[2., 1., 0., 0., 5., 3., 4., 5.]),
            )],
        ),
        row(
            "burn `tensor.gather_nd(indices)`",
            Nd(0, Invalid, DeviceDefault),
            [call(
                TENS,
                (&[2, 1], &[3, 0]),
                (&[2, 3], &[30., 31., 32., 0., 1., 2.]),
            )],
        ),
        row(
            "candle `tensor.index_select(&indexes, 1)`, `u32::MAX` for padding",
            G(Some(1), 0, Invalid, Fill),
            [call(
                (&[2, 2], &[1., 2., 3., 4.]),
                (&[2], &[1, u32::MAX as i64]),
                (&[2, 2], &[2., 0., 4., 0.]),
            )],
        ),
        row(
            "candle `tensor.gather(&indexes, 1)`",
            E(1, Invalid, Error),
            [call(
                TENS,
                (&[4, 1], &[0, 2, 1, 0]),
                (&[4, 1], &[0., 12., 21., 30.]),
            )],
        ),
        row(
            "candle `tensor.gather(&indexes, 1)`, `u32::MAX` for padding",
            E(1, Invalid, Fill),
            [call(
                TENS,
                (&[2, 2], &[0, u32::MAX as i64, u32::MAX as i64, 2]),
                (&[2, 2], &[0., 0., 0., 12.]),
            )],
        ),
        row(
            "`ggml_get_rows(ctx, a, b)`",
            G(None, 2, Invalid, Error),
            [
                call(
                    (
                        &[1, 2, 3, 2],
                        &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.],
                    ),
                    (&[1, 2, 2], &[2, 0, 1, 1]),
                    (&[1, 2, 2, 2], &[5., 6., 1., 2., 9., 10., 9., 10.]),
                ),
                error((&[1, 1, 2, 1], &[1., 2.]), (&[1, 1, 1], &[2])),
            ],
        ),
        row(
            "`tvm.topi.take(a, indices, axis=1)`",
            G(Some(1), 0, Invalid, Clamp),
            [call(
                (&[2, 2], &[1., 2., 3., 4.]),
                (&[4], &[1, 0, -1, 2]),
                (&[2, 4], &[2., 1., 1., 2., 4., 3., 3., 4.]),
            )],
        ),
        row(
            "`tvm.topi.take(a, indices, axis=1, mode=\"wrap\")`",
            G(Some(1), 0, Invalid, Wrap),
            [call(
                (&[2, 2], &[1., 2., 3., 4.]),
                (&[4], &[1, 0, -1, 2]),
                (&[2, 4], &[2., 1., 2., 1., 4., 3., 4., 3.]),
            )],
        ),
        row(
            "`tvm.topi.gather(data, 1, indices)`",
            E(1, Invalid, DeviceDefault),
            [call(
                (&[2, 2], &[1., 2., 3., 4.]),
                (&[2, 2], &[0, 0, 1, 0]),
                (&[2, 2], &[1., 1., 4., 3.]),
            )],
        ),
        row(
            "`tvm.topi.gather_nd(a, indices)`",
            Nd(0, Invalid, DeviceDefault),
            // There the indices are [[1, 1, 0], [0, 1, 0]].
            [call(
                (&[2, 2], &[0., 1., 2., 3.]),
                (&[3, 2], &[1, 0, 1, 1, 0, 0]),
                (&[3], &[2., 3., 0.]),
            )],
        ),
        row(
            "`tvm.relax.op.gather_nd(data, indices, batch_dims=1)`",
            Nd(1, Invalid, DeviceDefault),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 1], &[1, 0]),
                (&[2, 2], &[2., 3., 4., 5.]),
            )],
        ),
    ]
}
