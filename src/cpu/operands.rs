//! The operands of a gather in host memory: of their types, and as bytes.

use crate::encoding::{Encoded, Parts};
use crate::index::IndexValues;
use crate::memory::{Byte, bytes};

/// Params in host memory: elements, or encoded rows of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Params<'a, T> {
    Elements(&'a [T]),
    Encoded(Encoded<&'a [u8]>),
}

/// The operands of a gather in host memory: of any type of element, or with `Byte` as the bytes of any type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands<'a, T> {
    /// Bytes of an element of the output: those of a `T`, or of several.
    pub(crate) element_bytes: usize,
    /// The parts of params that are not cut.
    pub(crate) parts: Parts,
    pub(crate) params: Params<'a, T>,
    pub(crate) indices: IndexValues<'a>,
    /// Repeated in the slices of rows outside the shard.
    pub(crate) zero: &'a [T],
    /// Repeated in the slices of bad rows.
    pub(crate) fill: &'a [T],
}

impl<'a, T: Copy> Operands<'a, T> {
    pub(super) fn bytes(&self) -> Operands<'a, Byte> {
        Operands {
            element_bytes: self.element_bytes,
            parts: self.parts,
            params: match self.params {
                Params::Elements(elements) => Params::Elements(bytes(elements)),
                Params::Encoded(rows) => Params::Encoded(rows),
            },
            indices: self.indices,
            zero: bytes(self.zero),
            fill: bytes(self.fill),
        }
    }
}
