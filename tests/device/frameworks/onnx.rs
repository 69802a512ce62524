//! Rows of Paddle, ONNX, OpenVINO and WebNN.

use wgpu_gather::BadIndices::{Clamp, DeviceDefault, Error, Fill};
use wgpu_gather::NegativeIndices::{FromEnd, Invalid};

use crate::row::Here::{Broadcast as B, Gather as G, GatherElements as E, GatherNd as Nd};
use crate::row::*;

pub fn rows() -> Vec<Row> {
    vec![
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
            G(Some(1), 0, FromEnd, Error),
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
                error((&[1, 2], &[1., 2.]), (&[1], &[-3])),
            ],
        ),
        row(
            "ONNX `GatherND`, batch_dims 1",
            Nd(1, FromEnd, Error),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 1], &[1, 0]),
                (&[2, 2], &[2., 3., 4., 5.]),
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
            "`paddle.gather(x, index, axis=1)`, `index` of shape `[N, 1]`",
            G(Some(1), 0, FromEnd, DeviceDefault),
            [call(
                ONE_TO_SIX,
                (&[2], &[1, 0]),
                (&[3, 2], &[2., 1., 4., 3., 6., 5.]),
            )],
        ),
        row(
            "`paddle.take_along_axis(arr, indices, axis=1)`",
            B(1, FromEnd, DeviceDefault),
            [
                call(ONE_TO_SIX, (&[3, 1], &[1, 0, -1]), (&[3, 1], &[2., 3., 6.])),
                call(ONE_TO_SIX, (&[1, 1], &[1]), (&[3, 1], &[2., 4., 6.])),
            ],
        ),
        row(
            "OpenVINO `Gather-8`, axis 0",
            G(None, 0, FromEnd, Fill),
            [
                call(ONE_TO_FIVE, (&[3], &[0, -2, -1]), (&[3], &[1., 4., 5.])),
                call(ONE_TO_FIVE, (&[3], &[3, 10, -20]), (&[3], &[4., 0., 0.])),
            ],
        ),
        row(
            "OpenVINO `Gather-8`, axis 1, batch_dims 1",
            G(Some(1), 1, FromEnd, Fill),
            [call(
                (&[2, 5], &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10.]),
                (&[2, 3], &[0, 0, 4, 4, 0, 0]),
                (&[2, 3], &[1., 1., 5., 10., 6., 6.]),
            )],
        ),
        row(
            "OpenVINO `GatherND-8`, batch_dims 1",
            Nd(1, FromEnd, DeviceDefault),
            [call(
                (&[2, 2], &[1., 2., 3., 4.]),
                (&[2, 1], &[1, 0]),
                (&[2], &[2., 3.]),
            )],
        ),
        row(
            "OpenVINO `GatherElements-6`, axis 1",
            E(1, Invalid, Error),
            [
                call(
                    (&[2, 2], &[1., 7., 4., 3.]),
                    (&[2, 3], &[1, 1, 0, 1, 0, 1]),
                    (&[2, 3], &[7., 7., 1., 3., 4., 3.]),
                ),
                error((&[2, 2], &[1., 7., 4., 3.]), (&[1, 1], &[2])),
            ],
        ),
        row(
            "WebNN `gather(input, indices, {axis: 1})`",
            G(Some(1), 0, FromEnd, Clamp),
            [
                call(
                    TENS,
                    (&[3], &[2, 1, 1]),
                    (
                        &[4, 3],
                        &[2., 1., 1., 12., 11., 11., 22., 21., 21., 32., 31., 31.],
                    ),
                ),
                call(
                    (&[1, 3], &[0., 1., 2.]),
                    (&[4], &[-1, -3, -4, 3]),
                    (&[1, 4], &[2., 0., 0., 2.]),
                ),
            ],
        ),
        row(
            "WebNN `gatherND(input, indices)`",
            Nd(0, FromEnd, Clamp),
            [
                call(
                    (&[2, 2], &[0., 1., 2., 3.]),
                    (&[3, 2], &[0, 0, 1, 1, 1, 0]),
                    (&[3], &[0., 3., 2.]),
                ),
                call(
                    (&[2, 2], &[0., 1., 2., 3.]),
                    (&[2, 2], &[-1, 5, -9, 1]),
                    (&[2], &[3., 1.]),
                ),
            ],
        ),
        row(
            "WebNN `gatherElements(input, indices, {axis: 1})`",
            E(1, FromEnd, Clamp),
            [
                call(
                    TENS,
                    (&[4, 1], &[2, 1, 0, 2]),
                    (&[4, 1], &[2., 11., 20., 32.]),
                ),
                call(TENS, (&[2, 1], &[-1, 3]), (&[2, 1], &[2., 12.])),
            ],
        ),
    ]
}
