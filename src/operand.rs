//! Operands by name: errors print the names, and loops choose by them.

use std::fmt;

/// The tensor, or the buffer, that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// The table: the tensor that the gather reads.
    Params,
    /// A buffer that holds a shard of params, counted from 0.
    ParamsShard(usize),
    /// The tensor that holds the index rows.
    Indices,
    /// The tensor that the gather writes.
    Output,
    /// The tensor that a scatter changes. Its shape is that of the plan's params.
    Target,
    /// A buffer that holds a shard of the target, counted from 0.
    TargetShard(usize),
    /// The slices that a scatter writes. Their shape is that of the plan's output.
    Updates,
    /// The counts and sums that a scatter keeps for each row while it adds floats.
    Counts,
    /// The buffer in which the GPU reports bad rows.
    Report,
    /// The mask that marks bad rows.
    Mask,
    /// The buffer that says how many index rows there are, if only the GPU knows.
    IndexCount,
    /// The scales, if params is quantised.
    Scales,
    /// The zero points, if params is quantised.
    ZeroPoints,
    /// Where the bags of indices begin.
    Offsets,
    /// The weights of indices in bags.
    Weights,
    /// A tensor outside a gather, as `Executor::upload` makes it.
    Tensor,
}

impl Operand {
    /// What a scatter calls this operand of its plan.
    #[cfg(feature = "gpu")]
    pub(crate) const fn of_scatter(self) -> Self {
        match self {
            Self::Params => Self::Target,
            Self::ParamsShard(number) => Self::TargetShard(number),
            Self::Output => Self::Updates,
            of_both => of_both,
        }
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
            Self::Offsets => f.write_str("offsets"),
            Self::Weights => f.write_str("weights"),
            Self::Tensor => f.write_str("tensor"),
        }
    }
}
