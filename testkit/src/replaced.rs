//! Cases whose indices are replaced by the entries that a policy takes instead.

use crate::oracle::Case;

impl Case {
    /// This case with each index replaced by its remainder modulo its dim. The shapes must be valid.
    pub fn wrapped(&self) -> Self {
        self.replaced(|value, dim| {
            if dim == 0 {
                value
            } else {
                value.rem_euclid(dim)
            }
        })
    }

    /// This case with each index replaced by the nearest one in range. The shapes must be valid.
    pub fn clamped(&self) -> Self {
        self.replaced(|value, dim| {
            let counted = if self.from_end && value < 0 {
                value + dim
            } else {
                value
            };
            counted.min(dim - 1).max(0)
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
