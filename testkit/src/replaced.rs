//! Cases whose indices are replaced by the entries that a policy takes instead.

use wgpu_gather::BadIndices;

use crate::oracle::Case;

impl Case {
    /// This case with each index replaced by the one in range that the policy takes, unless its dim is 0; `None` if the
    /// policy replaces none. The shapes must be valid.
    pub fn replaced_by(&self, policy: BadIndices) -> Option<Self> {
        let counted = |value: i128, dim: i128| match self.from_end && value < 0 {
            true => value + dim,
            false => value,
        };
        Some(match policy {
            BadIndices::Clamp => {
                self.replaced(|value, dim| counted(value, dim).min(dim - 1).max(0))
            }
            BadIndices::Wrap => {
                self.replaced(|value, dim| value.checked_rem_euclid(dim).unwrap_or(value))
            }
            _ => return None,
        })
    }

    /// This case with `entry` of each index value and its dim in place of the value.
    fn replaced(&self, entry: impl Fn(i128, i128) -> i128) -> Self {
        let dims = self
            .op
            .indexed_dims(&self.params_shape, &self.indices_shape);
        let values = self.indices.iter().enumerate();
        let indices = values.map(|(n, &value)| entry(value, dims[n % dims.len()] as i128));
        Self {
            indices: indices.collect(),
            ..self.clone()
        }
    }
}
