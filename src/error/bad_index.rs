//! The error that names an index out of range. Both executors return it; its texts are TensorFlow's.

use std::fmt;

/// Names the first bad row, in TensorFlow's words.
///
/// ```
/// use wgpu_gather::{GatherNd, RunError};
///
/// let plan = GatherNd::new().plan(&[3], &[1, 2, 1])?;
/// let Err(RunError::BadIndex(bad)) = plan.gather(&[1, 2, 3], &[0, 7]) else { panic!() };
/// assert_eq!((&bad.position[..], &bad.index[..]), (&[0, 1][..], &[7][..]));
/// assert_eq!(bad.to_string(), "indices[0,1] = [7] does not index into param shape [3]");
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BadIndexError {
    /// The bad row's number, in row-major order over all index rows.
    pub row: usize,
    /// Where the row is in your indices: one coordinate for each dim, for gather_nd without the last dim.
    pub position: Vec<usize>,
    /// The row's values: one for gather and gather_elements, as many as the index depth for gather_nd.
    pub index: Vec<i128>,
    problem: Problem,
}

/// The range that the index row left, in the words of its operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Problem {
    GatherNd {
        batch_dims: usize,
        axis: usize,
        params_shape: Vec<usize>,
        of_scatter: bool,
    },
    Gather {
        first_valid: i128,
        dim: u64,
    },
}

impl BadIndexError {
    /// This error in TensorFlow's words for a scatter, which name the target's shape "shape", not "param shape".
    pub(crate) fn of_scatter(mut self) -> Self {
        if let Problem::GatherNd { of_scatter, .. } = &mut self.problem {
            *of_scatter = true;
        }
        self
    }

    /// Names index row `row`, which holds `index`. All index rows have the shape `index_rows_shape`.
    pub(crate) fn new(
        problem: Problem,
        row: u64,
        index_rows_shape: &[usize],
        index: Vec<i128>,
    ) -> Self {
        Self {
            row: usize::try_from(row).unwrap_or(usize::MAX),
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
                of_scatter,
            } if axis > batch_dims => write!(
                f,
                " = [{}] does not index into dims {axis}..{} of {} [{}]",
                join(&self.index, ", "),
                axis + self.index.len(),
                shape_name(*of_scatter),
                join(params_shape, ",")
            ),
            Problem::GatherNd {
                batch_dims,
                params_shape,
                of_scatter,
                ..
            } => {
                let batch = self.position[..*batch_dims].iter().map(|&at| at as i128);
                let index: Vec<i128> = batch.chain(self.index.iter().copied()).collect();
                let params_shape = join(params_shape, ",");
                write!(
                    f,
                    " = [{}] does not index into {} [{params_shape}]",
                    join(&index, ", "),
                    shape_name(*of_scatter)
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

/// TensorFlow's words for the shape that is indexed.
fn shape_name(of_scatter: bool) -> &'static str {
    if of_scatter { "shape" } else { "param shape" }
}

/// Where element `flat` is in a tensor with this shape, which must have that element.
fn unravel(mut flat: u64, shape: &[usize]) -> Vec<usize> {
    let mut position = vec![0; shape.len()];
    for (at, &dim) in position.iter_mut().zip(shape).rev() {
        *at = usize::try_from(flat % dim as u64).expect("a remainder below a usize is a usize");
        flat /= dim as u64;
    }
    position
}

/// The items with `separator` between them. TensorFlow prints positions with "," and index rows with ", ".
pub(crate) fn join(items: &[impl fmt::Display], separator: &str) -> String {
    items
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(separator)
}
