//! Mapped bytes, copied to elements.

use std::any::type_name;

use crate::element::GatherElement;
use crate::error::{GpuError, Operand, RunError};
use crate::memory::memcpy_chunks;

/// Copies mapped bytes to elements. The output of a gather is valid if the elements of its params are.
pub(super) fn elements_of<T: GatherElement>(
    operand: Operand,
    bytes: &[u8],
) -> Result<Vec<T>, GpuError> {
    let len = bytes.len() / size_of::<T>();
    let mut elements = Vec::new();
    elements
        .try_reserve_exact(len)
        .map_err(|_| RunError::OutOfMemory {
            operand,
            elements: len as u64,
            element_bytes: size_of::<T>(),
        })?;
    if let Ok(mapped) = bytemuck::checked::try_cast_slice(bytes) {
        for piece in memcpy_chunks(mapped) {
            elements.extend_from_slice(piece);
        }
        return Ok(elements);
    }
    // The mapping is not aligned for `T`, or an app has written bytes that are no `T`.
    for bytes in bytes.chunks_exact(size_of::<T>()) {
        let element = bytemuck::checked::try_pod_read_unaligned(bytes);
        elements.push(element.map_err(|_| GpuError::InvalidElement {
            element: type_name::<T>(),
        })?);
    }
    Ok(elements)
}
