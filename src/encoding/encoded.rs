//! Encoded params with what lies beside them.

#[cfg(doc)]
use super::BlockQuantized;

/// Params of an encoding: their rows and, if these lie in operands of their own, the scales and zero points. A call that takes
/// it takes the rows alone too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded<P> {
    /// The bytes of rows.
    pub rows: P,
    /// The bytes of scales.
    pub scales: Option<P>,
    /// The bytes of zero points.
    pub zero_points: Option<P>,
}

impl<P> Encoded<P> {
    /// Rows with all that they need. Of bytes in memory, slices: `Encoded::new(&rows[..]).scales(&scales)`.
    ///
    /// Tensors of scales are bytes too: `gpu.upload(bytemuck::cast_slice::<f32, u8>(&scales), &[4 * scales.len()])`.
    #[must_use]
    pub const fn new(rows: P) -> Self {
        Self {
            rows,
            scales: None,
            zero_points: None,
        }
    }

    /// Scales of a [`BlockQuantized`].
    #[must_use]
    pub fn scales(mut self, scales: P) -> Self {
        self.scales = Some(scales);
        self
    }

    /// Zero points of a [`BlockQuantized`] that has [`with_zero_points`](BlockQuantized::with_zero_points).
    #[must_use]
    pub fn zero_points(mut self, zero_points: P) -> Self {
        self.zero_points = Some(zero_points);
        self
    }

    /// Rows, scales and zero points of another type, each made of its counterpart here.
    pub(crate) fn map<'p, Q>(&'p self, of: impl Fn(&'p P) -> Q) -> Encoded<Q> {
        Encoded {
            rows: of(&self.rows),
            scales: self.scales.as_ref().map(&of),
            zero_points: self.zero_points.as_ref().map(&of),
        }
    }
}

impl<P> From<P> for Encoded<P> {
    fn from(rows: P) -> Self {
        Self::new(rows)
    }
}

impl<'a> From<&'a Vec<u8>> for Encoded<&'a [u8]> {
    fn from(rows: &'a Vec<u8>) -> Self {
        Self::new(rows)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Encoded<&'a [u8]> {
    fn from(rows: &'a [u8; N]) -> Self {
        Self::new(rows)
    }
}
