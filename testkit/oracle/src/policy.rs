//! The entries that a policy takes in place of indices that are out of range.

/// The policy for indices out of range: the entry of its dim that such an index selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Nothing: its row is bad.
    Bad,
    /// The nearest entry of its dim.
    Clamp,
    /// The entry of its remainder modulo the dim.
    Wrap,
}

impl Policy {
    /// The entry in range that the policy takes for an index value; the value itself if the policy replaces none, or if the dim
    /// is 0.
    pub fn replaced(self, from_end: bool, value: i128, dim: usize) -> i128 {
        let dim = dim as i128;
        let counted = match from_end && value < 0 {
            true => value + dim,
            false => value,
        };
        match self {
            Self::Bad => value,
            Self::Clamp => counted.min(dim - 1).max(0),
            Self::Wrap => value.checked_rem_euclid(dim).unwrap_or(value),
        }
    }
}
