//! The types that can be gathered, and the types of a gather.

use crate::index::{GatherIndex, IndexKind};

/// A type that can be gathered on a GPU: one that bytemuck can move as bytes and set to zero. Every `Pod` type is one,
/// and so are `bool` and `char`. A bad row without a fill holds zero bytes.
///
/// On the CPU any `T: Copy + Default + Send + Sync` can be gathered.
#[cfg(feature = "gpu")]
pub trait GatherElement:
    bytemuck::NoUninit + bytemuck::CheckedBitPattern + bytemuck::Zeroable + Send + Sync
{
}

#[cfg(feature = "gpu")]
impl<T: bytemuck::NoUninit + bytemuck::CheckedBitPattern + bytemuck::Zeroable + Send + Sync>
    GatherElement for T
{
}

/// The width of an element and the type of an index: all that a gather needs to know of the types of its operands.
///
/// ```
/// use wgpu_gather::{ElementTypes, IndexKind};
///
/// // Known when the program is compiled, or only at run time, as from the header of a file.
/// let types = ElementTypes::new(4, IndexKind::I64);
/// assert_eq!(ElementTypes::of::<f32, i64>(), types);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ElementTypes {
    /// Bytes of one element of params and of the output.
    pub element_bytes: u64,
    /// The type of the indices.
    pub index_kind: IndexKind,
}

impl ElementTypes {
    /// The types of elements of `element_bytes` bytes and indices of `index_kind`.
    #[must_use]
    pub const fn new(element_bytes: u64, index_kind: IndexKind) -> Self {
        Self {
            element_bytes,
            index_kind,
        }
    }

    /// The types of elements `T` and indices `I`.
    #[must_use]
    pub const fn of<T, I: GatherIndex>() -> Self {
        Self::new(size_of::<T>() as u64, I::KIND)
    }
}
