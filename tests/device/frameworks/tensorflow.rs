//! Rows of TensorFlow, TensorFlow Lite and Keras.

use wgpu_gather::BadIndices::{DeviceDefault, Error, Fill};
use wgpu_gather::NegativeIndices::{FromEnd, Invalid};

use crate::row::Here::{Broadcast as B, Gather as G, GatherNd as Nd};
use crate::row::*;

pub fn rows() -> Vec<Row> {
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
            "`tf.gather(params, indices, batch_dims=1, axis=-2)`",
            G(Some(-2), 1, Invalid, DeviceDefault),
            [call(
                (
                    &[2, 3, 2],
                    &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11.],
                ),
                (&[2, 1], &[2, 0]),
                (&[2, 1, 2], &[4., 5., 6., 7.]),
            )],
        ),
        row(
            "`tf.gather` on a CPU, index out of range",
            G(None, 0, Invalid, Error),
            [error(THREE, (&[2], &[0, 3])), error(THREE, (&[1], &[-1]))],
        ),
        row(
            "`tf.gather` on a GPU, index out of range",
            G(None, 0, Invalid, Fill),
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
            "`tf.Variable.sparse_read(indices)`, `tf.raw_ops.ResourceGather`",
            G(None, 0, Invalid, DeviceDefault),
            [call(
                ONE_TO_SIX,
                (&[3], &[2, 0, 2]),
                (&[3, 2], &[5., 6., 1., 2., 5., 6.]),
            )],
        ),
        row(
            "`tf.Variable.gather_nd(indices)`, `tf.raw_ops.ResourceGatherNd`",
            Nd(0, Invalid, DeviceDefault),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 2], &[1, 0, 0, 1]),
                (&[2, 2], &[4., 5., 2., 3.]),
            )],
        ),
        row(
            "`tf.gather_nd(params, indices, bad_indices_policy=\"ERROR\")`",
            Nd(0, Invalid, Error),
            [
                call(ZERO_TO_SEVEN, (&[1, 2], &[1, 1]), (&[1, 2], &[6., 7.])),
                error(ZERO_TO_SEVEN, (&[1, 2], &[0, 2])),
                error(ZERO_TO_SEVEN, (&[1, 2], &[0, -1])),
            ],
        ),
        row(
            "`tf.gather_nd(params, indices, bad_indices_policy=\"IGNORE\")`",
            Nd(0, Invalid, Fill),
            [call(
                ZERO_TO_SEVEN,
                (&[3, 2], &[0, 1, 2, 0, 0, -1]),
                (&[3, 2], &[2., 3., 0., 0., 0., 0.]),
            )],
        ),
        row(
            "TensorFlow Lite `GATHER`, axis 1",
            G(Some(1), 0, Invalid, Error),
            [
                call(
                    (&[1, 2, 3], &[1., 2., 3., 4., 5., 6.]),
                    (&[2], &[1, 0]),
                    (&[1, 2, 3], &[4., 5., 6., 1., 2., 3.]),
                ),
                error((&[1, 2], &[1., 2.]), (&[1], &[2])),
                error((&[1, 2], &[1., 2.]), (&[1], &[-1])),
            ],
        ),
        row(
            "TensorFlow Lite `GATHER`, axis 2, batch_dims 2",
            G(Some(2), 2, Invalid, Error),
            [call(
                ZERO_TO_SEVEN,
                (&[2, 2, 1], &[1, 0, 0, 1]),
                (&[2, 2, 1], &[1., 2., 4., 7.]),
            )],
        ),
        row(
            "TensorFlow Lite `GATHER_ND`",
            Nd(0, Invalid, Error),
            [
                call(
                    (&[2, 2], &[1.1, 1.2, 2.1, 2.2]),
                    (&[2, 2], &[0, 0, 1, 1]),
                    (&[2], &[1.1, 2.2]),
                ),
                call(
                    (&[2, 2], &[1.1, 1.2, 2.1, 2.2]),
                    (&[2, 1], &[1, 0]),
                    (&[2, 2], &[2.1, 2.2, 1.1, 1.2]),
                ),
                error((&[2, 2], &[1.1, 1.2, 2.1, 2.2]), (&[2, 2], &[0, 0, 2, 0])),
                error((&[2, 2], &[1.1, 1.2, 2.1, 2.2]), (&[1, 2], &[1, -1])),
            ],
        ),
        row(
            "`keras.ops.take(x, indices, axis=1)`",
            G(Some(1), 0, FromEnd, DeviceDefault),
            [call(
                NUMPY_2D,
                (&[3], &[2, 0, -1]),
                (&[2, 3], &[5., 4., 5., 8., 7., 8.]),
            )],
        ),
        row(
            "`keras.ops.take_along_axis(x, indices, axis=1)`",
            B(1, FromEnd, DeviceDefault),
            [
                call(NUMPY_2D, (&[2, 1], &[2, -3]), (&[2, 1], &[5., 7.])),
                call(NUMPY_2D, (&[1, 1], &[-1]), (&[2, 1], &[5., 8.])),
            ],
        ),
    ]
}
