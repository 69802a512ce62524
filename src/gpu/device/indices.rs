//! What a request takes as indices: a tensor, or values in host memory.

use std::borrow::Cow;
use std::sync::Arc;

use super::owner::{Owner, Storage};
use super::tensor::{Tensor, check_shape};
use crate::error::GpuError;
use crate::index::{Index, IndexValues};
use crate::operand::Operand;

/// What a request takes as indices. Pass one of these, and `into` converts it:
///
/// - `&tensor`, a [`Tensor`] that the same executor owns;
/// - `&indices`, a reference to an array, a slice or a `Vec`, which then has one dim: `&ids`, not the `Vec` itself;
/// - `(&indices, &[n, 2])`, the same with its shape.
///
/// With a plan you need no shape: the slice must have the plan's length. `GatherNd` in place of a plan needs the shape,
/// which tells where an index row ends.
///
/// ```
/// use wgpu_gather::{Executor, Gather, GatherNd, GpuError};
///
/// let executor = Executor::cpu();
/// let table = executor.upload(&[10, 11, 20, 21, 30, 31], &[3, 2])?;
/// assert_eq!(executor.gather(Gather::new(), &table, &[2, 0]).wait()?, [30, 31, 10, 11]);
/// // Two coordinates.
/// let points = executor.gather(GatherNd::new(), &table, (&[2, 0, 0, 1], &[2, 2]));
/// assert_eq!(points.wait()?, [30, 11]);
/// assert!(executor.gather(GatherNd::new(), &table, &[2, 0]).wait().is_err());
/// # Ok::<(), GpuError>(())
/// ```
#[derive(Debug)]
pub struct Indices<'a, I>(Given<'a, I>);

#[derive(Debug)]
enum Given<'a, I> {
    Tensor(&'a Tensor<I>),
    /// Index values in host memory, with the shape that the caller gave, if any.
    Slice(&'a [I], Option<Vec<usize>>),
}

impl<'a, I> From<&'a Tensor<I>> for Indices<'a, I> {
    fn from(tensor: &'a Tensor<I>) -> Self {
        Self(Given::Tensor(tensor))
    }
}

impl<'a, I> From<&'a [I]> for Indices<'a, I> {
    fn from(indices: &'a [I]) -> Self {
        Self(Given::Slice(indices, None))
    }
}

impl<'a, I> From<&'a Vec<I>> for Indices<'a, I> {
    fn from(indices: &'a Vec<I>) -> Self {
        Self(Given::Slice(indices, None))
    }
}

impl<'a, I, const N: usize> From<&'a [I; N]> for Indices<'a, I> {
    fn from(indices: &'a [I; N]) -> Self {
        Self(Given::Slice(indices, None))
    }
}

impl<'a, I, V: AsRef<[I]> + ?Sized, S: AsRef<[usize]>> From<(&'a V, S)> for Indices<'a, I> {
    fn from((indices, shape): (&'a V, S)) -> Self {
        Self(Given::Slice(
            indices.as_ref(),
            Some(shape.as_ref().to_vec()),
        ))
    }
}

impl<'a, I: Index> Indices<'a, I> {
    /// The shape; without one, a single dim.
    pub(super) fn shape(&self) -> Result<Cow<'_, [usize]>, GpuError> {
        Ok(match &self.0 {
            Given::Tensor(tensor) => tensor.shape().into(),
            Given::Slice(values, None) => vec![values.len()].into(),
            Given::Slice(values, Some(shape)) => {
                check_shape(Operand::Indices, shape, values.len())?;
                shape.into()
            }
        })
    }

    pub(super) fn has_shape(&self) -> bool {
        !matches!(self.0, Given::Slice(_, None))
    }

    pub(super) fn operand(&self) -> IndexOperand<'a> {
        let (storage, len) = match self.0 {
            Given::Slice(values, _) => (Storage::Host(I::values(values)), values.len()),
            Given::Tensor(tensor) => {
                let values = |values: &'a Vec<I>| I::values(values);
                (tensor.storage.view(values), tensor.len())
            }
        };
        IndexOperand {
            storage,
            is_slice: matches!(self.0, Given::Slice(..)),
            len,
        }
    }
}

/// Indices of a type that is known only at run time.
pub(super) struct IndexOperand<'a> {
    /// Values; bytes, as `U8`, if the request is for bytes.
    pub(super) storage: Storage<IndexValues<'a>>,
    /// True for a slice of the caller's, which a GPU takes too.
    pub(super) is_slice: bool,
    /// The number of index values; of bytes, if the request is for bytes.
    pub(super) len: usize,
}

impl IndexOperand<'_> {
    /// The buffer of a tensor; `None` for a slice of the caller's.
    pub(super) fn on_gpu(&self, owner: &Arc<Owner>) -> Result<Option<&wgpu::Buffer>, GpuError> {
        match (&self.storage, self.is_slice) {
            (Storage::Host(_), true) => Ok(None),
            (storage, _) => storage.on_gpu(Operand::Indices, owner).map(Some),
        }
    }
}
