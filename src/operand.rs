//! The names of operands: errors print them, and loops over several operands choose by them.

use std::fmt;

use crate::error::RunError;

/// The tensor, or the buffer, that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// The tensor that is gathered from.
    Params,
    /// One of the buffers that hold the shards of params, counted from 0.
    ParamsShard(usize),
    /// The tensor of index rows.
    Indices,
    /// The tensor that the gather writes.
    Output,
    /// The tensor that a scatter writes to. It has the shape of the plan's params.
    Target,
    /// One of the buffers that hold the shards of a scatter's target, counted from 0.
    TargetShard(usize),
    /// The tensor of slices that a scatter writes. It has the shape of the plan's output.
    Updates,
    /// The counts and sums of rows that a scatter keeps while it adds floats.
    Counts,
    /// The buffer in which the GPU reports bad rows.
    Report,
    /// The mask of bad rows.
    Mask,
    /// The buffer that holds the number of index rows, if only the GPU knows it.
    IndexCount,
    /// The scales of quantised params.
    Scales,
    /// The zero points of quantised params.
    ZeroPoints,
    /// A tensor of an owner, as `Executor::upload` makes it, in no particular role of a gather.
    Tensor,
}

impl Operand {
    /// The name in a scatter of an operand of its plan.
    #[cfg(feature = "gpu")]
    pub(crate) const fn of_scatter(self) -> Self {
        match self {
            Self::Params => Self::Target,
            Self::ParamsShard(number) => Self::TargetShard(number),
            Self::Output => Self::Updates,
            of_both => of_both,
        }
    }

    /// An empty vector with room for so many elements of the operand.
    pub(crate) fn vector<T>(self, elements: u64) -> Result<Vec<T>, RunError> {
        let mut vector = Vec::new();
        self.reserve(&mut vector, elements)?;
        Ok(vector)
    }

    /// Reserves room for so many more elements of the operand.
    pub(crate) fn reserve<T>(self, vector: &mut Vec<T>, elements: u64) -> Result<(), RunError> {
        let len = usize::try_from(elements).unwrap_or(usize::MAX);
        let reserved = vector.try_reserve_exact(len);
        reserved.map_err(|_| RunError::OutOfMemory {
            operand: self,
            elements,
            element_bytes: size_of::<T>(),
        })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params => f.write_str("params"),
            Self::ParamsShard(number) => write!(f, "params shard {number}"),
            Self::Indices => f.write_str("indices"),
            Self::Output => f.write_str("output"),
            Self::Target => f.write_str("target"),
            Self::TargetShard(number) => write!(f, "target shard {number}"),
            Self::Updates => f.write_str("updates"),
            Self::Counts => f.write_str("counts"),
            Self::Report => f.write_str("report"),
            Self::Mask => f.write_str("mask"),
            Self::IndexCount => f.write_str("index count"),
            Self::Scales => f.write_str("scales"),
            Self::ZeroPoints => f.write_str("zero points"),
            Self::Tensor => f.write_str("tensor"),
        }
    }
}
