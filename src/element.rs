//! Element types, and what a gather knows about its operands' types.

use crate::encoding::{Decoding, Encoding, FloatKind};
use crate::index::{Index, IndexKind};

/// An element that a GPU can gather: a type that bytemuck can move as bytes and set to zero, so each `Pod` type, `bool`
/// and `char`. A bad row without a fill holds zero bytes.
///
/// [`GatherPlan::gather`](crate::GatherPlan::gather) gathers any `T: Copy + Default + Send + Sync`; an `Executor` needs an `Element`, on the CPU too.
/// For a struct, derive bytemuck's `Pod` and `Zeroable`.
#[cfg(feature = "gpu")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element on a GPU",
    label = "elements are numbers, bool, char, or types that bytemuck can move as bytes",
    note = "for a struct: #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]",
    note = "on the CPU, GatherPlan::gather takes any type that is Copy and Default"
)]
pub trait Element:
    bytemuck::NoUninit + bytemuck::CheckedBitPattern + bytemuck::Zeroable + Send + Sync
{
}

// The error of a type is then `Element`'s, not that of a trait of bytemuck.
#[cfg(feature = "gpu")]
#[diagnostic::do_not_recommend]
impl<T: bytemuck::NoUninit + bytemuck::CheckedBitPattern + bytemuck::Zeroable + Send + Sync> Element
    for T
{
}

/// How wide an element is, which type an index has, and how params is encoded, if it is: all that a gather must know about
/// types.
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
    pub(crate) decoding: Option<Decoding>,
}

impl ElementTypes {
    /// For elements that have `element_bytes` bytes, and indices that have the type `index_kind`.
    #[must_use]
    pub const fn new(element_bytes: u64, index_kind: IndexKind) -> Self {
        Self {
            element_bytes,
            index_kind,
            decoding: None,
        }
    }

    /// For a gather that decodes rows to `f32`, with indices that have the type `index_kind`: see [`decoded`](Self::decoded) for
    /// halves. The plan's shapes count values: along the last dim of params, a slice and a stride must be whole blocks.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Encoding, Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// // Three rows of two half floats, and the index 2 as an i32.
    /// let table = [0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x3c, 0x00, 0xc0];
    /// let types = ElementTypes::encoded(Encoding::F16, IndexKind::I32);
    /// let row = plan.gather_bytes(types, &table, &[2, 0, 0, 0])?;
    /// assert_eq!(row, [1.0_f32, -2.0].map(f32::to_le_bytes).concat());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn encoded(encoding: Encoding, index_kind: IndexKind) -> Self {
        Self::decoded(encoding, FloatKind::F32, index_kind)
    }

    /// As [`encoded`](Self::encoded), but rows are decoded to the float type `to`: [`Float`](crate::Float) says how a half is
    /// rounded.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Encoding, FloatKind, Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// // Three rows of two f32s, out as high halves.
    /// let table = [[0.0_f32; 2], [0.0; 2], [1.0, -2.0]].concat();
    /// let table = table.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<_>>();
    /// let types = ElementTypes::decoded(Encoding::F32, FloatKind::Bf16, IndexKind::I32);
    /// assert_eq!(types.element_bytes(), 2);
    /// assert_eq!(plan.gather_bytes(types, &table, &[2, 0, 0, 0])?, [0x80, 0x3f, 0x00, 0xc0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn decoded(encoding: Encoding, to: FloatKind, index_kind: IndexKind) -> Self {
        Self {
            element_bytes: to.bytes(),
            index_kind,
            decoding: Some(Decoding { encoding, to }),
        }
    }

    /// The bytes in one element; if params is encoded, in an element that is decoded.
    #[must_use]
    pub const fn element_bytes(self) -> u64 {
        self.element_bytes
    }

    /// The index type.
    #[must_use]
    pub const fn index_kind(self) -> IndexKind {
        self.index_kind
    }

    /// How params is encoded; `None` if the gather copies elements.
    #[must_use]
    pub const fn encoding(self) -> Option<Encoding> {
        match self.decoding {
            Some(decoding) => Some(decoding.encoding),
            None => None,
        }
    }

    /// How rows are decoded; `None` if the gather moves bits.
    #[cfg(feature = "gpu")]
    pub(crate) fn decodes(self) -> Option<Decoding> {
        self.decoding.filter(|of| !of.encoding.is(of.to))
    }

    /// For elements `T` and indices `I`.
    #[must_use]
    pub const fn of<T, I: Index>() -> Self {
        Self::new(size_of::<T>() as u64, I::KIND)
    }

    /// The bytes in a scale that lies beside params; 0 if none does.
    #[cfg(feature = "gpu")]
    pub(crate) fn scale_bytes(self) -> u64 {
        let quantized = self.encoding().and_then(Encoding::block_quantized);
        quantized.map_or(0, |of| of.scale_kind().bytes())
    }
}
