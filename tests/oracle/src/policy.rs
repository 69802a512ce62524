//! What a policy takes in place of out-of-range indices.

/// The policy for out-of-range indices: what such an index selects in its dim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Nothing: its row is bad.
    Bad,
    /// The nearest position in its dim.
    Clamp,
    /// Its remainder modulo the dim.
    Wrap,
}

impl Policy {
    /// The index in range that the policy takes for an index value; `Bad` takes the value itself. If the dim is 0, none is
    /// in range.
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
