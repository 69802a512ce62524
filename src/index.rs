//! The types that can index.

use crate::memory::{SizeNumber, size_numbers, u8s, u16s, u32s, u64s};
use crate::names::names;

/// A type that can index: `i8`, `u8`, `i16`, `u16`, `i32`, `u32`, `i64`, `u64` or `usize`.
///
/// All bits of an index count: 2³² as an `i64` is not read as 0. A `usize` is of the kind of its width, `U64` or `U32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index",
    label = "indices are integers of 8, 16, 32 or 64 bits, or usize",
    note = "convert the indices to one of these types: an isize to i64, floats to i32",
    note = "rows of several values are given one after another: points.as_flattened()",
    note = "a mask of bool selects the rows where it is true: give their numbers, as guide::recipes shows"
)]
pub trait Index: sealed::Sealed {
    /// The type as a value, for code that knows it only at run time.
    const KIND: IndexKind;
}

macro_rules! index_kinds {
    ($($kind:ident: $index:ty,)*) => {
        /// An index type as a value. `Display` prints Rust's name of it, `i64` for instance, and `FromStr` reads the name.
        ///
        /// ```
        /// use wgpu_gather::{Index, IndexKind};
        ///
        /// assert_eq!(i64::KIND, IndexKind::I64);
        /// assert_eq!(IndexKind::I64.bytes(), 8);
        /// assert_eq!("i64".parse(), Ok(IndexKind::I64));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the names are Rust's")]
        pub enum IndexKind {
            $($kind,)*
        }

        names! {
            /// All index types.
            IndexKind, "index type": $($kind = stringify!($index),)*
        }

        impl IndexKind {
            /// Bytes of one index value.
            #[must_use]
            pub const fn bytes(self) -> u64 {
                match self {
                    $(Self::$kind => size_of::<$index>() as u64,)*
                }
            }

            /// True if an index may be below zero.
            pub(crate) const fn is_signed(self) -> bool {
                match self {
                    $(Self::$kind => <$index>::MIN != 0,)*
                }
            }
        }

        /// Indices of a type that is known only at run time.
        #[derive(Debug, Clone, Copy)]
        pub enum IndexValues<'a> {
            $($kind(&'a [$index]),)*
        }

        impl<'a> IndexValues<'a> {
            pub(crate) fn kind(&self) -> IndexKind {
                match self {
                    $(Self::$kind(_) => IndexKind::$kind,)*
                }
            }

            /// The number of values.
            pub(crate) fn len(&self) -> usize {
                match self {
                    $(Self::$kind(values) => values.len(),)*
                }
            }

            /// The values as the bytes that the GPU reads.
            #[cfg(feature = "gpu")]
            pub(crate) fn bytes(self) -> &'a [u8] {
                match self {
                    $(Self::$kind(values) => bytemuck::must_cast_slice(values),)*
                }
            }
        }
    };
}

index_kinds! {
    I8: i8,
    U8: u8,
    I16: i16,
    U16: u16,
    I32: i32,
    U32: u32,
    I64: i64,
    U64: u64,
}

/// The body with the values of an `IndexValues` as a slice of their own type.
macro_rules! by_index_type {
    ($values:expr, |$indices:ident| $body:expr) => {
        match $values {
            $crate::index::IndexValues::I8($indices) => $body,
            $crate::index::IndexValues::U8($indices) => $body,
            $crate::index::IndexValues::I16($indices) => $body,
            $crate::index::IndexValues::U16($indices) => $body,
            $crate::index::IndexValues::I32($indices) => $body,
            $crate::index::IndexValues::U32($indices) => $body,
            $crate::index::IndexValues::I64($indices) => $body,
            $crate::index::IndexValues::U64($indices) => $body,
        }
    };
}
pub(crate) use by_index_type;

impl IndexValues<'_> {
    /// The values read as unsigned numbers of their width, so that one comparison with the size of a dim judges them: an `i32`
    /// of -1 is 2³² - 1.
    pub(crate) fn unsigned(self) -> Self {
        match self {
            Self::I8(values) => Self::U8(u8s(values)),
            Self::I16(values) => Self::U16(u16s(values)),
            Self::I32(values) => Self::U32(u32s(values)),
            Self::I64(values) => Self::U64(u64s(values)),
            unsigned => unsigned,
        }
    }
}

#[cfg(feature = "gpu")]
impl IndexKind {
    /// Words of 32 bits in an index value; 1 if several values share a word.
    pub(crate) const fn words(self) -> u32 {
        if self.bytes() == 8 { 2 } else { 1 }
    }
}

pub(crate) mod sealed {
    use super::IndexValues;

    /// The methods of an index type, which the CPU executor uses.
    pub trait Sealed: Copy + Send + Sync + 'static {
        /// The index as a position: an index below zero plus `added`, any other as it is.
        ///
        /// A position below the dim is in range. A negative number as a `u64` is larger than any dim, so one comparison
        /// checks both ends.
        fn position(self, added: u64) -> u64;

        fn value(self) -> i128;

        /// The indices as those of a type that is known only at run time.
        fn values(indices: &[Self]) -> IndexValues<'_>;
    }
}

macro_rules! index {
    ($index:ty, $kind:ident, |$value:ident, $added:ident| $position:expr) => {
        impl Index for $index {
            const KIND: IndexKind = IndexKind::$kind;
        }

        impl sealed::Sealed for $index {
            #[inline(always)]
            fn position(self, $added: u64) -> u64 {
                let $value = self;
                $position
            }

            fn value(self) -> i128 {
                i128::from(self)
            }

            #[inline]
            fn values(indices: &[Self]) -> IndexValues<'_> {
                IndexValues::$kind(indices)
            }
        }
    };
}

index!(i8, I8, |value, added| signed(i64::from(value), added));
index!(i16, I16, |value, added| signed(i64::from(value), added));
index!(i32, I32, |value, added| signed(i64::from(value), added));
index!(i64, I64, |value, added| signed(value, added));
index!(u8, U8, |value, _added| u64::from(value));
index!(u16, U16, |value, _added| u64::from(value));
index!(u32, U32, |value, _added| u64::from(value));
index!(u64, U64, |value, _added| value);

impl Index for usize {
    const KIND: IndexKind = SizeNumber::KIND;
}

impl sealed::Sealed for usize {
    #[inline(always)]
    fn position(self, _added: u64) -> u64 {
        self as u64
    }

    fn value(self) -> i128 {
        self as i128
    }

    #[inline]
    fn values(indices: &[Self]) -> IndexValues<'_> {
        SizeNumber::values(size_numbers(indices))
    }
}

#[inline(always)]
fn signed(value: i64, added: u64) -> u64 {
    // All ones if the value is below zero. A branch would be mispredicted for indices of both signs.
    let below_zero = (value >> 63).cast_unsigned();
    value.cast_unsigned().wrapping_add(below_zero & added)
}

#[cfg(test)]
mod tests {
    use super::sealed::Sealed;

    /// The position, if this index is in range.
    fn resolved(index: impl Sealed, dim: u64, from_end: bool) -> Option<u64> {
        let added = if from_end { dim } else { 0 };
        Some(index.position(added)).filter(|&position| position < dim)
    }

    #[test]
    fn only_positions_in_the_dim_are_in_range() {
        assert_eq!(resolved(2_i32, 3, false), Some(2));
        assert_eq!(resolved(3_i32, 3, false), None);
        assert_eq!(resolved(-1_i32, 3, false), None);
        assert_eq!(resolved(-1_i64, 3, true), Some(2));
        assert_eq!(resolved(-3_i64, 3, true), Some(0));
        assert_eq!(resolved(-4_i64, 3, true), None);
        assert_eq!(resolved(1_i64 << 32, 3, true), None);
        assert_eq!(resolved(i64::MIN, 3, true), None);
        assert_eq!(resolved(u64::MAX, 3, true), None);
        assert_eq!(resolved(-128_i8, 128, true), Some(0));
        assert_eq!(resolved(-128_i8, 127, true), None);
        assert_eq!(resolved(255_u8, 256, true), Some(255));
        assert_eq!(resolved(-1_i16, 70_000, true), Some(69_999));
        assert_eq!(resolved(u16::MAX, 65_535, true), None);
        let last = Some(u64::from(u32::MAX));
        assert_eq!(resolved(u32::MAX, 1 << 33, false), last);
        assert_eq!(resolved(0_u32, 0, true), None);
        assert_eq!(resolved(-1_i32, 0, true), None);
    }

    #[test]
    fn a_usize_is_the_position_and_the_value() {
        assert_eq!(resolved(2_usize, 3, true), Some(2));
        assert_eq!(resolved(3_usize, 3, true), None);
        assert_eq!(7_usize.value(), 7);
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn only_values_of_64_bits_take_two_words() {
        use super::IndexKind::{I8, I16, I32, I64, U8, U16, U32, U64};
        assert!([I64, U64].iter().all(|kind| kind.words() == 2));
        let narrow = [I8, I16, I32, U8, U16, U32];
        assert!(narrow.iter().all(|kind| kind.words() == 1));
    }
}
