//! What becomes of an index that is out of range: the policy, and the error that names it. Both
//! executors answer with the same error; the texts are TensorFlow's.

use std::fmt;

/// What an out-of-range index gives.
///
/// TensorFlow has this attribute on `gather_nd` only (`bad_indices_policy`), and `"ERROR"` only on its CPU.
/// Here every operation has it, on both devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum BadIndices {
    /// What TensorFlow does on each device: the CPU returns an error, the GPU stores zeros.
    #[default]
    DeviceDefault,
    /// An error on both devices. The GPU writes a report, which the caller reads when it likes.
    Error,
    /// Zeros in the whole slice of a bad row on both devices, whatever params holds; or another value, which
    /// the gather is then given. JAX's mode `"fill"`.
    Zero,
    /// No row is bad: an index beyond the end of its dim selects its last entry, and one before its start,
    /// which [`NegativeIndices::FromEnd`] may move, its first. XLA's gather, and JAX's and NumPy's mode `"clip"`.
    ///
    /// A dim of 0 has neither, so there it is as with [`Zero`](Self::Zero).
    Clamp,
}

impl BadIndices {
    /// The CPU fills the slices of bad rows under these policies; under the others it returns an error.
    pub(crate) fn fills_on_cpu(self) -> bool {
        matches!(self, Self::Zero | Self::Clamp)
    }
}

/// What a negative index means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NegativeIndices {
    /// Out of range: TensorFlow's rule.
    #[default]
    Invalid,
    /// Counted from the end: Paddle's, ONNX's and NumPy's rule. `-dim..dim` is in range.
    FromEnd,
}

/// The smallest index row that is out of range, in the words of TensorFlow.
///
/// ```
/// use wgpu_gather::{GatherNd, RunError};
///
/// let plan = GatherNd::new().plan(&[3], &[1, 2, 1])?;
/// let Err(RunError::BadIndex(bad)) = plan.run(&[1, 2, 3], &[0, 7]) else { panic!() };
/// assert_eq!(bad.position(), [0, 1]);
/// assert_eq!(bad.index(), [7]);
/// assert_eq!(bad.to_string(), "indices[0,1] = [7] does not index into param shape [3]");
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BadIndexError {
    row: u64,
    position: Vec<usize>,
    index: Vec<i128>,
    problem: Problem,
}

/// The range that an index row is out of, in the words of its operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Problem {
    GatherNd {
        batch_dims: usize,
        params_shape: Vec<usize>,
    },
    Gather {
        first_valid: i128,
        dim: u64,
    },
}

impl BadIndexError {
    /// Names index row `row`, which holds `index`. The row is one of `index_rows_shape`.
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

    /// The bad row, counted in row-major order over all index rows.
    #[must_use]
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Where the row stands in the caller's indices: one coordinate for each dim of indices, less the
    /// last one of gather_nd.
    #[must_use]
    pub fn position(&self) -> &[usize] {
        &self.position
    }

    /// The values of the row: `index_depth` for gather_nd, one for the others.
    #[must_use]
    pub fn index(&self) -> &[i128] {
        &self.index
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
                params_shape,
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

/// `[1, 2]` as "1,2": how TensorFlow prints positions (",") and index rows (", ").
pub(crate) fn join(items: &[impl fmt::Display], separator: &str) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(separator)
}

/// The coordinates of element `flat` in a tensor of this shape, which has one.
fn unravel(mut flat: u64, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (at, &dim) in position.iter_mut().zip(shape).rev() {
        *at = usize::try_from(flat % dim as u64).expect("a remainder below a usize is a usize");
        flat /= dim as u64;
    }
    position
}
