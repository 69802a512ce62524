//! Vectors with room for an operand, or the error that there is no memory for it.

use crate::error::RunError;
use crate::operand::Operand;

impl Operand {
    /// An empty vector with room for so many elements.
    pub(crate) fn vector<T>(self, elements: u64) -> Result<Vec<T>, RunError> {
        let mut vector = Vec::new();
        self.reserve(&mut vector, elements)?;
        Ok(vector)
    }

    /// Reserves room for so many more elements.
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
