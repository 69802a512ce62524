//! Rows of Arrow, Polars and NumPy's masked arrays, whose outputs have nulls. The expected results are those of PyArrow
//! 26.0, Polars 2.1 and NumPy 2.4.

use wgpu_gather::BadIndices::{Clamp, Fill};
use wgpu_gather::NegativeIndices::{FromEnd, Invalid};

use crate::row::Here::Gather as G;
use crate::row::*;

/// An index out of range, which stands for a null.
const NULL: i64 = i64::MIN;

pub fn rows() -> Vec<Row> {
    vec![
        row(
            "Arrow `take(values, indices)`, null indices",
            G(None, 0, Invalid, Fill),
            [masked(
                &[false, true, false, true, false],
                call(
                    NUMPY,
                    (&[5], &[0, NULL, 4, NULL, 1]),
                    (&[5], &[4., 0., 6., 0., 3.]),
                ),
            )],
        ),
        row(
            "Polars `series.gather(indices)`, null indices",
            G(None, 0, FromEnd, Fill),
            [masked(
                &[false, true, false, false],
                call(NUMPY, (&[4], &[0, NULL, 4, -1]), (&[4], &[4., 0., 6., 8.])),
            )],
        ),
        row(
            "Polars `expr.get(indices, null_on_oob=True)`",
            G(None, 0, FromEnd, Fill),
            [masked(
                &[false, true, false],
                call(NUMPY, (&[3], &[0, 6, -1]), (&[3], &[4., 0., 8.])),
            )],
        ),
        row(
            "`numpy.ma.take(a, indices, axis=1)`, masked indices",
            G(Some(1), 0, Invalid, Clamp),
            [
                // The masked elements hold entry 0 there too.
                masked(
                    &[false, true],
                    call(NUMPY_2D, (&[2], &[2, -1]), (&[2, 2], &[5., 4., 8., 7.])),
                ),
            ],
        ),
    ]
}
