//! The operands of a gather in host memory: of their types, and as bytes.

use crate::encoding::{Encoded, Encoding};
use crate::index::IndexValues;
use crate::memory::{Byte, bytes};

/// Params in host memory: elements, or encoded rows of them.
pub(crate) enum HostParams<'a, T> {
    Elements(&'a [T]),
    Encoded(Encoded<&'a [u8]>, Encoding),
}

/// The bytes of params.
#[derive(Debug, Clone, Copy)]
pub(super) enum Params<'a> {
    Elements(&'a [Byte]),
    Encoded(Encoded<&'a [u8]>, Encoding),
}

/// The operands of a gather in host memory.
pub(crate) struct HostOperands<'a, T> {
    /// Bytes of an element: those of a `T`, or of several.
    pub(crate) element_bytes: usize,
    pub(crate) params: HostParams<'a, T>,
    pub(crate) indices: IndexValues<'a>,
    /// Repeated in the slices of rows outside the shard.
    pub(crate) zero: &'a [T],
    /// Repeated in the slices of bad rows.
    pub(crate) fill: &'a [T],
}

/// The operands of a gather, for any type of element. All have the lengths that the plan gives them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operands<'a> {
    pub(super) element_bytes: usize,
    pub(super) params: Params<'a>,
    pub(super) indices: IndexValues<'a>,
    /// The element, or a byte of it, that fills slices of rows outside the shard.
    pub(super) zero: &'a [Byte],
    /// The element that fills the slices of bad rows.
    pub(super) fill: &'a [Byte],
}

impl<'a> Operands<'a> {
    pub(super) fn new<T: Copy>(operands: &HostOperands<'a, T>) -> Self {
        Self {
            element_bytes: operands.element_bytes,
            params: match operands.params {
                HostParams::Elements(elements) => Params::Elements(bytes(elements)),
                HostParams::Encoded(rows, encoding) => Params::Encoded(rows, encoding),
            },
            indices: operands.indices,
            zero: bytes(operands.zero),
            fill: bytes(operands.fill),
        }
    }
}
