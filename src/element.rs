//! The types that can be gathered, and the types of a gather.

use crate::encoding::{Encoding, VALUE_BYTES};
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

/// The width of an element, the type of an index, and the encoding of params, if there is one: all that a gather needs to
/// know of the types of its operands.
///
/// ```
/// use wgpu_gather::{ElementTypes, IndexKind};
///
/// // Known when the program is compiled, or only at run time, as from the header of a file.
/// let types = ElementTypes::new(4, IndexKind::I64);
/// assert_eq!(ElementTypes::of::<f32, i64>(), types);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementTypes {
    pub(crate) element_bytes: u64,
    pub(crate) index_kind: IndexKind,
    pub(crate) encoding: Option<Encoding>,
}

impl ElementTypes {
    /// The types of elements of `element_bytes` bytes and indices of `index_kind`.
    #[must_use]
    pub const fn new(element_bytes: u64, index_kind: IndexKind) -> Self {
        Self {
            element_bytes,
            index_kind,
            encoding: None,
        }
    }

    /// The types of a gather that decodes rows of params to `f32`, by indices of `index_kind`. A plan counts values: a
    /// slice, and a stride of params, is whole blocks of the encoding along the last dim of params.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Encoding, Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// // Three rows of two half floats, and the index 2 as an i32.
    /// let table = [0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x3c, 0x00, 0xc0];
    /// let types = ElementTypes::encoded(Encoding::F16, IndexKind::I32);
    /// let row = plan.run_bytes(types, &table, &[2, 0, 0, 0])?;
    /// assert_eq!(row, [1.0_f32, -2.0].map(f32::to_le_bytes).concat());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn encoded(encoding: Encoding, index_kind: IndexKind) -> Self {
        Self {
            element_bytes: VALUE_BYTES,
            index_kind,
            encoding: Some(encoding),
        }
    }

    /// Bytes of one element of params and of the output; with an encoding, of the output.
    #[must_use]
    pub const fn element_bytes(self) -> u64 {
        self.element_bytes
    }

    /// The type of the indices.
    #[must_use]
    pub const fn index_kind(self) -> IndexKind {
        self.index_kind
    }

    /// The encoding of params, whose rows are decoded to `f32`; `None` if elements are copied.
    #[must_use]
    pub const fn encoding(self) -> Option<Encoding> {
        self.encoding
    }

    /// The types of elements `T` and indices `I`.
    #[must_use]
    pub const fn of<T, I: GatherIndex>() -> Self {
        Self::new(size_of::<T>() as u64, I::KIND)
    }

    /// Bytes of a scale that lies beside params; 0 if none does.
    #[cfg(feature = "gpu")]
    pub(crate) fn scale_bytes(self) -> u64 {
        let quantized = self.encoding.and_then(Encoding::block_quantized);
        quantized.map_or(0, |of| of.scale_kind().bytes())
    }
}
