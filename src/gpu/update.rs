//! The kinds of update that a GPU scatter makes, the choice of one for a plan, and the other passes that it may
//! take: over index rows, of a sort, of a fold. Pure.

use std::fmt;

use crate::error::GatherError;
use crate::plan::{GatherPlan, ScatterRules};
use crate::reduce::{NumberKind, Reduce};

/// A reduction and the type of its numbers.
pub(crate) type Reduction = (Reduce, NumberKind);

/// The caller's options of a scatter. Without `reduction` it assigns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Scatter {
    pub(crate) reduction: Option<Reduction>,
    pub(crate) rules: ScatterRules,
}

/// For instance `add of f32`, or `scatter`.
impl fmt::Display for Scatter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reduction {
            Some((reduce, kind)) => write!(f, "{reduce} of {}", kind.name()),
            None => f.write_str("scatter"),
        }
    }
}

/// What a scatter does with a unit of updates. Each kind but `IndexRows` has a file in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Update {
    /// Stores it. No two index rows select one row, or all share one update.
    Assign,
    /// Stores it if its index row is the last to select the row.
    AssignLast,
    /// Reduces the target's unit with it. No two index rows select one row.
    Reduce(Reduce, NumberKind),
    /// Reduces the target's integers by atomics.
    Atomic(Reduce, NumberKind),
    /// Sorts the index rows, then reduces each row's updates in order.
    Fold(Reduce, NumberKind),
    /// None: for passes over the index rows.
    IndexRows,
}

impl Update {
    /// The update for a scatter through this plan.
    pub(crate) fn of(plan: &GatherPlan, scatter: Scatter) -> Result<Self, GatherError> {
        use NumberKind::{Bf16, F16, F32, I32, U32};
        use Reduce::{Add, Max, Min};

        let is_unique = plan.has_unique_rows(scatter.rules);
        let Some((reduce, kind)) = scatter.reduction else {
            let is_one = is_unique || scatter.rules.one_update;
            return Ok(if is_one {
                Self::Assign
            } else {
                Self::AssignLast
            });
        };
        let number = kind.name();
        // Sums and products have the same bits, signed or unsigned.
        let of_bits = match (reduce, kind) {
            (Add | Reduce::Mul, I32) => U32,
            _ => kind,
        };
        match (reduce, kind) {
            (_, I32 | U32) | (Add | Min | Max, F32) if is_unique => {
                Ok(Self::Reduce(reduce, of_bits))
            }
            (Add | Min | Max, I32 | U32) => Ok(Self::Atomic(reduce, of_bits)),
            // Two halves share a word, and only a fold changes one of them.
            (_, I32 | U32) | (Add | Min | Max, F32 | F16 | Bf16) => Ok(Self::Fold(reduce, of_bits)),
            _ => Err(GatherError::UnsupportedReduce { reduce, number }),
        }
    }

    /// True if a fold reduces halves.
    pub(crate) const fn is_of_halves(self) -> bool {
        matches!(self, Self::Fold(_, NumberKind::F16 | NumberKind::Bf16))
    }

    /// True if a fold keeps sums in `f32`, in slots. Minima and maxima of halves are halves.
    pub(crate) const fn has_slots(self) -> bool {
        self.is_of_halves() && matches!(self, Self::Fold(Reduce::Add, _))
    }

    /// The most bytes in a unit: atomics change 4-byte words.
    pub(crate) const fn most_unit_bytes(self) -> u64 {
        match self {
            Self::Atomic(..) | Self::IndexRows => 4,
            _ if self.is_of_halves() => 2,
            _ => u64::MAX,
        }
    }

    /// The values of the shader's override constants.
    pub(crate) fn overrides(self) -> Vec<(&'static str, f64)> {
        let (Self::Reduce(reduce, kind) | Self::Atomic(reduce, kind) | Self::Fold(reduce, kind)) =
            self
        else {
            return Vec::new();
        };
        let number_of_reduce = match reduce {
            Reduce::Add => 0.0,
            Reduce::Mul => 1.0,
            Reduce::Min => 2.0,
            Reduce::Max => 3.0,
        };
        let number_of_kind = match kind {
            NumberKind::U32 => 0.0,
            NumberKind::I32 => 1.0,
            NumberKind::F32 | NumberKind::F16 | NumberKind::Bf16 | NumberKind::Other(_) => 2.0,
        };
        let mut overrides = vec![("REDUCE", number_of_reduce)];
        if let Self::Reduce(..) | Self::Fold(..) = self {
            overrides.push(("NUMBER", number_of_kind));
        }
        overrides
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assign | Self::AssignLast | Self::IndexRows => f.write_str("assign"),
            Self::Reduce(reduce, of) | Self::Atomic(reduce, of) | Self::Fold(reduce, of) => {
                write!(f, "{reduce} of {}", of.name())
            }
        }
    }
}

/// A pass over a scatter's index rows, in shaders/winners.wgsl or shaders/write_keys.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum IndexRowsPass {
    ClearWinners,
    FindWinners,
    CountBad,
    WriteKeys,
}

impl IndexRowsPass {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClearWinners => "clear_winners",
            Self::FindWinners => "find_winners",
            Self::CountBad => "count_bad",
            Self::WriteKeys => "write_keys",
        }
    }
}

/// A pass over the sorted pairs, in shaders/fold.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FoldPass {
    Rows,
    Later,
    Sums,
}

impl FoldPass {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rows => "fold_rows",
            Self::Later => "fold_later",
            Self::Sums => "fold_sums",
        }
    }
}
