//! Encoded params, with their scales and zero points.

use std::marker::PhantomData;

#[cfg(doc)]
use super::BlockQuantized;
use super::{Encoding, Float};
use crate::operand::Operand;

/// An encoded table: its encoding, the bytes of its rows and, for a [`BlockQuantized`](crate::BlockQuantized), its scales and zero points. On the host, `P` is
/// any `AsRef<[u8]>`: a `Vec<u8>`, or a slice, also of a mapped file.
///
/// ```
/// use wgpu_gather::{BlockQuantized, Encoded, Encoding, Gather};
///
/// // A table of two rows of 16 values of 8 bits, whose zero point is 128, and a scale of each row.
/// let quantized = BlockQuantized::new(8, 16)?;
/// let (rows, scales) = ([[129_u8; 16], [126; 16]].concat(), [0.5_f32, 2.0].map(f32::to_le_bytes).concat());
/// let table = Encoded::new(Encoding::BlockQuantized(quantized), &rows).scales(&scales);
/// let output = Gather::new().plan(&[2, 16], &[2])?.gather_encoded(&table, &[1, 0])?;
/// assert_eq!((output[0], output[16]), (-4.0, 0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// `T` is what a gather decodes rows to: `f32`, unless you call [`to`](Self::to).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoded<P, T = f32> {
    pub(crate) encoding: Encoding,
    pub(crate) rows: P,
    /// Scales, then zero points.
    pub(crate) qparams: [Option<P>; 2],
    pub(crate) to: PhantomData<fn() -> T>,
}

/// The operands that may lie beside params: scales and zero points, the *qparams*.
pub(crate) const QPARAMS: [Operand; 2] = [Operand::Scales, Operand::ZeroPoints];

impl<P> Encoded<P> {
    /// Takes the encoding, and the rows one after another. A row along the last dim has
    /// [`row_bytes`](Encoding::row_bytes) bytes, by the length of that dim.
    #[must_use]
    pub const fn new(encoding: Encoding, rows: P) -> Self {
        Self {
            encoding,
            rows,
            qparams: [const { None }; 2],
            to: PhantomData,
        }
    }
}

impl<P, T> Encoded<P, T> {
    /// The same table, whose rows are decoded to `U`: `f32`, or with the feature `half` also `half::f16` and `half::bf16`.
    /// [`Float`] says how a half is rounded. A table of `f32`s is an `Encoded` of [`Encoding::F32`].
    ///
    #[cfg_attr(feature = "half", doc = "```")]
    #[cfg_attr(not(feature = "half"), doc = "```ignore")]
    /// use half::bf16;
    /// use wgpu_gather::{Encoded, Encoding, Gather};
    ///
    /// let table = [1.0_f32, 2.0, 1.01, -0.0].map(f32::to_le_bytes).concat();
    /// let table = Encoded::new(Encoding::F32, table).to::<bf16>();
    /// let row = Gather::new().plan(&[2, 2], &[1])?.gather_encoded(&table, &[1])?;
    /// assert_eq!(row, [bf16::from_f32(1.01), bf16::NEG_ZERO]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to<U: Float>(self) -> Encoded<P, U> {
        Encoded {
            encoding: self.encoding,
            rows: self.rows,
            qparams: self.qparams,
            to: PhantomData,
        }
    }

    /// Adds the scales for a [`BlockQuantized`], row after row.
    #[must_use]
    pub fn scales(mut self, scales: P) -> Self {
        self.qparams[0] = Some(scales);
        self
    }

    /// Adds the zero points for a [`BlockQuantized`] made [`with_zero_points`](BlockQuantized::with_zero_points), row after row.
    #[must_use]
    pub fn zero_points(mut self, zero_points: P) -> Self {
        self.qparams[1] = Some(zero_points);
        self
    }

    /// The rows' encoding.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The encoded rows.
    #[must_use]
    pub const fn rows(&self) -> &P {
        &self.rows
    }

    /// Converts rows, scales and zero points, each with `of`.
    pub(crate) fn map<'p, Q>(&'p self, of: impl Fn(&'p P) -> Q) -> Encoded<Q> {
        Encoded {
            encoding: self.encoding,
            rows: of(&self.rows),
            qparams: self
                .qparams
                .each_ref()
                .map(|qparam| qparam.as_ref().map(&of)),
            to: PhantomData,
        }
    }

    /// As [`map`](Self::map), but `of` also takes the operand, and the first error ends it.
    #[cfg(feature = "gpu")]
    pub(crate) fn try_map<'p, Q, E>(
        &'p self,
        of: impl Fn(Operand, &'p P) -> Result<Q, E>,
    ) -> Result<Encoded<Q>, E> {
        let [scales, zero_points] = &self.qparams;
        Ok(Encoded {
            encoding: self.encoding,
            rows: of(Operand::Params, &self.rows)?,
            qparams: [
                scales
                    .as_ref()
                    .map(|scales| of(QPARAMS[0], scales))
                    .transpose()?,
                zero_points
                    .as_ref()
                    .map(|points| of(QPARAMS[1], points))
                    .transpose()?,
            ],
            to: PhantomData,
        })
    }
}
