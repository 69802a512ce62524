//! The policy for index values out of range, and the entries that they select.

use crate::index::Index;
use crate::names::names;

/// What an index out of range gives: the policy.
///
/// Every operation has each policy, on the CPU and on a GPU. TensorFlow has the attribute only on `gather_nd` (`bad_indices_policy`), and
/// `"ERROR"` only on its CPU.
///
/// `Display` prints, and `FromStr` reads, these names: `device-default`, `error`, `fill`, `clamp` or `wrap`.
///
/// ```
/// use wgpu_gather::BadIndices;
///
/// assert_eq!("clamp".parse(), Ok(BadIndices::Clamp));
/// assert_eq!(BadIndices::Clamp.to_string(), "clamp");
/// let error = "clip".parse::<BadIndices>().unwrap_err();
/// let text = r#"bad_indices must be one of device-default, error, fill, clamp, wrap, found "clip""#;
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BadIndices {
    /// The default: TensorFlow's rule for each device. The CPU returns an error, even if you
    /// give a fill. The GPU stores zeros, or the fill if you give one.
    #[default]
    DeviceDefault,
    /// An error on the CPU and on a GPU. An `Executor` returns it. To a `Gatherer` you must pass a report buffer, from which you read the
    /// error; bad rows then hold zeros, or the fill.
    Error,
    /// A bad row's whole slice holds the fill, on the CPU and on a GPU: zeros, unless you give another. With
    /// [`NegativeIndices::FromEnd`] this is JAX's mode `"fill"`, but JAX fills floats with NaN.
    Fill,
    /// An index beyond the end of the dim that it indexes selects the last position in that dim, and one before its start the first.
    /// This is no error and fills nothing; a mask still marks the row. [`NegativeIndices::FromEnd`] applies first. XLA's gather does this, and mode `"clip"` in JAX and NumPy.
    ///
    /// A dim of 0 has no position, so [`Fill`](Self::Fill) applies to it.
    Clamp,
    /// An index selects the position at its remainder modulo the dim; remainders are never negative. In a dim of 3, 4 selects
    /// position 1, and -1 position 2, whatever [`NegativeIndices`] says. This is no error and fills nothing; a mask still marks the
    /// row. NumPy and JAX call this mode `"wrap"`.
    ///
    /// A dim of 0 has no position, so [`Fill`](Self::Fill) applies to it.
    Wrap,
}

names! {
    /// All policies.
    BadIndices, "bad_indices":
    DeviceDefault = "device-default",
    Error = "error",
    Fill = "fill",
    Clamp = "clamp",
    Wrap = "wrap",
}

impl BadIndices {
    /// Returns true if the CPU fills the slices of bad rows, false if it returns an error.
    pub(crate) fn fills_on_cpu(self) -> bool {
        !matches!(self, Self::DeviceDefault | Self::Error)
    }

    pub(crate) fn beyond(self) -> Beyond {
        match self {
            Self::DeviceDefault | Self::Error | Self::Fill => Beyond::Bad,
            Self::Clamp => Beyond::Nearest,
            Self::Wrap => Beyond::Remainder,
        }
    }
}

/// The entry of its dim that an index out of range selects. The uniform has the number, and shaders/ have its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Beyond {
    /// None: the row is bad.
    Bad = 0,
    /// The nearest entry. All ones, because kernels combine it with other bits in place of a branch; they know 0 and this
    /// number only.
    Nearest = u32::MAX,
    /// The entry of the remainder modulo the dim.
    Remainder = 1,
}

impl Beyond {
    /// The entry of a dim that an index selects: below `dim`, or `dim` or more for a bad one. `added` is added to an index
    /// below zero, except before the remainder is taken. A dim of 0 has no entry.
    #[inline(always)]
    pub(crate) fn entry(self, index: impl Index, dim: u64, added: u64) -> u64 {
        match self {
            Self::Bad => index.position(added),
            Self::Nearest => nearest(index, dim, added),
            Self::Remainder => remainder(index, dim),
        }
    }
}

#[inline]
fn nearest(index: impl Index, dim: u64, added: u64) -> u64 {
    let position = index.position(added);
    if position < dim {
        position
    } else if index.value() < 0 {
        0
    } else {
        dim.saturating_sub(1)
    }
}

/// The remainder, which is not negative.
#[inline]
fn remainder(index: impl Index, dim: u64) -> u64 {
    let position = index.position(0);
    if position < dim {
        position
    } else if index.value() < 0 {
        // The complement of a negative number is -1 less the number: 0 for -1.
        dim.saturating_sub(1) - (!position).checked_rem(dim).unwrap_or(0)
    } else {
        position.checked_rem(dim).unwrap_or(0)
    }
}

/// What a negative index means. `Display` prints, and `FromStr` reads, `invalid` or `from-end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NegativeIndices {
    /// The default: it is out of range, as in TensorFlow.
    #[default]
    Invalid,
    /// It counts from the end, as in Paddle, ONNX and NumPy. Indices in `-dim..dim` are in range.
    ///
    /// gather_nd then follows these libraries for params without elements too: empty slices give an empty output, and in
    /// a dim of 0 every index is out of range.
    FromEnd,
}

names! {
    /// All meanings.
    NegativeIndices, "negative_indices":
    Invalid = "invalid",
    FromEnd = "from-end",
}

#[cfg(test)]
mod tests {
    use super::{nearest, remainder};

    #[test]
    fn each_number_has_a_nearest_entry_and_a_remainder() {
        for (index, dim, from_front, from_end) in [
            (0, 3, 0, 0),
            (2, 3, 2, 2),
            (3, 3, 2, 2),
            (i64::MAX, 3, 2, 2),
            (-1, 3, 0, 2),
            (-3, 3, 0, 0),
            (-4, 3, 0, 0),
            (i64::MIN, 3, 0, 0),
            (i64::MIN, 1 << 63, 0, 0),
            (-1, 1 << 62, 0, (1 << 62) - 1),
            (5, 0, 0, 0),
            (-5, 0, 0, 0),
        ] {
            assert_eq!(nearest(index, dim, 0), from_front, "{index} in {dim}");
            assert_eq!(nearest(index, dim, dim), from_end, "{index} in {dim}");
        }
        for (index, dim, expected) in [
            (2, 3, 2),
            (3, 3, 0),
            (-1, 3, 2),
            (-3, 3, 0),
            (-4, 3, 2),
            (i64::MAX, 10, 7),
            (i64::MIN, 10, 2),
            (i64::MIN, 1 << 63, 0),
            (i64::MIN + 1, 1 << 63, 1),
            (-1, 1, 0),
            (5, 0, 0),
            (-5, 0, 0),
        ] {
            assert_eq!(remainder(index, dim), expected, "{index} in {dim}");
        }
        assert_eq!((remainder(i8::MIN, 10), remainder(i16::MIN, 10)), (2, 2));
        assert_eq!((remainder(i32::MIN, 10), remainder(u64::MAX, 10)), (2, 5));
        assert_eq!(nearest(-1_i32, 7, 7), 6);
        assert_eq!(nearest(u32::MAX, 7, 7), 6);
        assert_eq!(nearest(u64::MAX, 7, 0), 6);
        assert_eq!(nearest(3_u64, 7, 7), 3);
        assert_eq!(nearest(3_u32, 0, 0), 0);
    }
}
