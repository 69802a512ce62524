//! Index values out of range: the policy for them, and the error that names them. Both executors return the same error;
//! its texts are TensorFlow's.

use std::fmt;

use crate::index::GatherIndex;

/// The policy for an index out of range.
///
/// TensorFlow has this attribute on `gather_nd` only (`bad_indices_policy`), and `"ERROR"` only on its CPU. In this
/// crate every operation has each policy, on both devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BadIndices {
    /// TensorFlow's rule for each device: the CPU returns an error, the GPU stores zeros.
    #[default]
    DeviceDefault,
    /// An error on both devices. The GPU writes a report, which the caller may read at any time after.
    Error,
    /// The fill in the whole slice of a bad row, on both devices: zeros, unless the gather is given another. With
    /// [`NegativeIndices::FromEnd`], JAX's mode `"fill"`, whose own fill is NaN for floats.
    Fill,
    /// No row is bad: an index beyond the end of its dim selects the last entry, and one before its start the first.
    /// [`NegativeIndices::FromEnd`] applies before. XLA's gather, and JAX's and NumPy's mode `"clip"`.
    ///
    /// A dim of 0 has no entry, so [`Fill`](Self::Fill) applies to it.
    Clamp,
    /// No row is bad: an index stands for its remainder modulo its dim, which is not negative. In a dim of 3, 4 selects
    /// entry 1, and -1 entry 2, whatever [`NegativeIndices`] says. NumPy's and JAX's mode `"wrap"`.
    ///
    /// A dim of 0 has no entry, so [`Fill`](Self::Fill) applies to it.
    Wrap,
}

impl BadIndices {
    /// All policies.
    pub const ALL: &[Self] = &[
        Self::DeviceDefault,
        Self::Error,
        Self::Fill,
        Self::Clamp,
        Self::Wrap,
    ];

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
    /// The nearest entry. All ones, a mask: kernels that judge without a branch know this number and 0 only.
    Nearest = u32::MAX,
    /// The entry of the remainder modulo the dim.
    Remainder = 1,
}

impl Beyond {
    /// The entry of a dim that an index selects: below `dim`, or `dim` or more for a bad one. `added` is added to an index
    /// below zero, except before the remainder is taken. A dim of 0 has no entry.
    #[inline(always)]
    pub(crate) fn entry(self, index: impl GatherIndex, dim: u64, added: u64) -> u64 {
        match self {
            Self::Bad => index.position(added),
            Self::Nearest => nearest(index, dim, added),
            Self::Remainder => remainder(index, dim),
        }
    }
}

#[inline]
fn nearest(index: impl GatherIndex, dim: u64, added: u64) -> u64 {
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
fn remainder(index: impl GatherIndex, dim: u64) -> u64 {
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

/// The meaning of a negative index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum NegativeIndices {
    /// Out of range: TensorFlow's rule.
    #[default]
    Invalid,
    /// Counted from the end: the rule of Paddle, ONNX and NumPy. Indices in `-dim..dim` are in range.
    ///
    /// gather_nd then follows these libraries for params without elements too: empty slices give an empty output, and in
    /// a dim of 0 every index is out of range.
    FromEnd,
}

/// The error that names the smallest bad row, in the words of TensorFlow.
///
/// ```
/// use wgpu_gather::{GatherNd, RunError};
///
/// let plan = GatherNd::new().plan(&[3], &[1, 2, 1])?;
/// let Err(RunError::BadIndex(bad)) = plan.run(&[1, 2, 3], &[0, 7]) else { panic!() };
/// assert_eq!((&bad.position[..], &bad.index[..]), (&[0, 1][..], &[7][..]));
/// assert_eq!(bad.to_string(), "indices[0,1] = [7] does not index into param shape [3]");
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BadIndexError {
    /// The bad row, counted in row-major order over all index rows.
    pub row: u64,
    /// The coordinates of the row in the caller's indices: one for each dim of indices, except the last dim for
    /// gather_nd.
    pub position: Vec<usize>,
    /// The values of the row: as many as the index depth for gather_nd, one for gather and gather_elements.
    pub index: Vec<i128>,
    problem: Problem,
}

/// The range that an index row is out of, in the words of its operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Problem {
    GatherNd {
        batch_dims: usize,
        axis: usize,
        params_shape: Vec<usize>,
    },
    Gather {
        first_valid: i128,
        dim: u64,
    },
}

impl BadIndexError {
    /// Names index row `row`, which holds `index`. `index_rows_shape` is the shape of all index rows.
    pub(crate) fn new(
        problem: Problem,
        row: u64,
        index_rows_shape: &[usize],
        index: Vec<i128>,
    ) -> Self {
        Self {
            row,
            position: unravel(row, index_rows_shape),
            index,
            problem,
        }
    }
}

impl fmt::Display for BadIndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("indices")?;
        if !self.position.is_empty() {
            write!(f, "[{}]", join(&self.position, ","))?;
        }
        match &self.problem {
            Problem::GatherNd {
                batch_dims,
                axis,
                params_shape,
            } if axis > batch_dims => write!(
                f,
                " = [{}] does not index into dims {axis}..{} of param shape [{}]",
                join(&self.index, ", "),
                axis + self.index.len(),
                join(params_shape, ",")
            ),
            Problem::GatherNd {
                batch_dims,
                params_shape,
                ..
            } => {
                let batch = self.position[..*batch_dims].iter().map(|&at| at as i128);
                let index: Vec<i128> = batch.chain(self.index.iter().copied()).collect();
                let params_shape = join(params_shape, ",");
                write!(
                    f,
                    " = [{}] does not index into param shape [{params_shape}]",
                    join(&index, ", ")
                )
            }
            Problem::Gather { first_valid, dim } => {
                write!(
                    f,
                    " = {} is not in [{first_valid}, {dim})",
                    join(&self.index, ", ")
                )
            }
        }
    }
}

impl std::error::Error for BadIndexError {}

/// The items with `separator` between them. TensorFlow prints positions with "," and index rows with ", ".
pub(crate) fn join(items: &[impl fmt::Display], separator: &str) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(separator)
}

/// The coordinates of element `flat` in a tensor of `shape`, which must have that element.
fn unravel(mut flat: u64, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (at, &dim) in position.iter_mut().zip(shape).rev() {
        *at = usize::try_from(flat % dim as u64).expect("a remainder below a usize is a usize");
        flat /= dim as u64;
    }
    position
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
