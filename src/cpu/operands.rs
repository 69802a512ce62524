//! A gather's operands in host memory, with their types or as bytes.

use crate::encoding::{Encoded, FloatKind, Parts};
use crate::index::IndexValues;
use crate::memory::{Byte, bytes};

/// Params in host memory: elements, or encoded rows and what they are decoded to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Params<'a, T> {
    Elements(&'a [T]),
    Encoded(Encoded<&'a [u8]>, FloatKind),
}

/// A gather's operands in host memory. `T` is the element, or `Byte`, which stands for the bytes of any element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operands<'a, T> {
    /// The bytes in an output element, which is one `T` or several.
    pub(crate) element_bytes: usize,
    /// The parts of params that no slice cuts.
    pub(crate) parts: Parts,
    pub(crate) params: Params<'a, T>,
    pub(crate) indices: IndexValues<'a>,
    /// What slices hold, repeated, if their rows lie outside the shard.
    pub(crate) zero: &'a [T],
    /// What bad rows' slices hold, repeated.
    pub(crate) fill: &'a [T],
}

impl<'a, T: Copy> Operands<'a, T> {
    pub(super) fn bytes(&self) -> Operands<'a, Byte> {
        Operands {
            element_bytes: self.element_bytes,
            parts: self.parts,
            params: match self.params {
                Params::Elements(elements) => Params::Elements(bytes(elements)),
                Params::Encoded(rows, to) if rows.encoding.is(to) => {
                    Params::Elements(bytes(rows.rows))
                }
                Params::Encoded(rows, to) => Params::Encoded(rows, to),
            },
            indices: self.indices,
            zero: bytes(self.zero),
            fill: bytes(self.fill),
        }
    }
}
