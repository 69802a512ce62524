//! The entries that a policy takes in place of indices that are out of range.

use wgpu_gather::BadIndices;

use crate::oracle::Case;

/// The entry in range that a policy takes for an index value; the value itself if the policy replaces none, or if the dim
/// is 0.
pub fn replaced(policy: BadIndices, from_end: bool, value: i128, dim: usize) -> i128 {
    let dim = dim as i128;
    let counted = match from_end && value < 0 {
        true => value + dim,
        false => value,
    };
    match policy {
        BadIndices::Clamp => counted.min(dim - 1).max(0),
        BadIndices::Wrap => value.checked_rem_euclid(dim).unwrap_or(value),
        _ => value,
    }
}

impl Case {
    /// This case with each index replaced by the one in range that the policy takes, unless its dim is 0; `None` if the
    /// policy replaces none. The shapes must be valid.
    pub fn replaced_by(&self, policy: BadIndices) -> Option<Self> {
        if !matches!(policy, BadIndices::Clamp | BadIndices::Wrap) {
            return None;
        }
        let dims = self
            .op
            .indexed_dims(&self.params_shape, &self.indices_shape);
        let values = self.indices.iter().enumerate();
        let entry = |(n, &value)| replaced(policy, self.from_end, value, dims[n % dims.len()]);
        Some(Self {
            indices: values.map(entry).collect(),
            ..self.clone()
        })
    }
}
