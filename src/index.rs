//! The types that can index.

use crate::cpu::memory::{SizeNumber, size_numbers};

/// A type that can index: `i32`, `u32`, `i64`, `u64` or `usize`.
///
/// All bits of an index count: 2³² as an `i64` is not read as 0. A `usize` is of the kind of its width, `U64` or `U32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index",
    label = "indices are i32, u32, i64, u64 or usize",
    note = "convert the indices to one of these types: an i8 or i16 to i32, a u8 or u16 to u32"
)]
pub trait GatherIndex: sealed::Sealed {
    /// The type as a value, for code that knows it only at run time.
    const KIND: IndexKind;
}

/// An index type as a value.
///
/// ```
/// use wgpu_gather::{GatherIndex, IndexKind};
///
/// assert_eq!(i64::KIND, IndexKind::I64);
/// assert_eq!(IndexKind::I64.bytes(), 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are Rust's")]
pub enum IndexKind {
    I32,
    U32,
    I64,
    U64,
}

impl IndexKind {
    /// All four index types.
    pub const ALL: [Self; 4] = [Self::I32, Self::U32, Self::I64, Self::U64];

    /// Bytes of one index value.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// Words of 32 bits in one index value.
    #[cfg(feature = "gpu")]
    pub(crate) const fn words(self) -> u32 {
        match self {
            Self::I32 | Self::U32 => 1,
            Self::I64 | Self::U64 => 2,
        }
    }
}

impl std::fmt::Display for IndexKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
        })
    }
}

/// Indices of a type that is known only at run time.
#[derive(Debug, Clone, Copy)]
pub enum IndexValues<'a> {
    I32(&'a [i32]),
    U32(&'a [u32]),
    I64(&'a [i64]),
    U64(&'a [u64]),
}

impl IndexValues<'_> {
    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::I32(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::U64(values) => values.len(),
        }
    }
}

#[cfg(feature = "gpu")]
impl<'a> IndexValues<'a> {
    /// The values as the bytes that the GPU reads.
    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::I32(values) => bytemuck::must_cast_slice(values),
            Self::U32(values) => bytemuck::must_cast_slice(values),
            Self::I64(values) => bytemuck::must_cast_slice(values),
            Self::U64(values) => bytemuck::must_cast_slice(values),
        }
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

        /// The position below `dim` that is nearest to the index, which has `added` added if it is below zero; 0 if `dim`
        /// is 0.
        #[inline]
        fn clamped(self, dim: u64, added: u64) -> u64 {
            let position = self.position(added);
            if position < dim {
                position
            } else if self.value() < 0 {
                0
            } else {
                dim.saturating_sub(1)
            }
        }

        /// The remainder of the index modulo `dim`, which is not negative; 0 if `dim` is 0.
        #[inline]
        fn wrapped(self, dim: u64) -> u64 {
            let position = self.position(0);
            if position < dim {
                position
            } else if self.value() < 0 {
                // The complement of a negative number is -1 less the number: 0 for -1.
                dim.saturating_sub(1) - (!position).checked_rem(dim).unwrap_or(0)
            } else {
                position.checked_rem(dim).unwrap_or(0)
            }
        }

        fn value(self) -> i128;

        /// The indices as those of a type that is known only at run time.
        fn values(indices: &[Self]) -> IndexValues<'_>;
    }
}

macro_rules! index {
    ($index:ty, $kind:ident, |$value:ident, $added:ident| $position:expr) => {
        impl GatherIndex for $index {
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

index!(i32, I32, |value, added| signed(i64::from(value), added));
index!(i64, I64, |value, added| signed(value, added));
index!(u32, U32, |value, _added| u64::from(value));
index!(u64, U64, |value, _added| value);

impl GatherIndex for usize {
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
        let last = Some(u64::from(u32::MAX));
        assert_eq!(resolved(u32::MAX, 1 << 33, false), last);
        assert_eq!(resolved(0_u32, 0, true), None);
        assert_eq!(resolved(-1_i32, 0, true), None);
    }

    #[test]
    fn each_number_has_a_nearest_entry_and_a_remainder() {
        for (index, dim, from_front, from_end) in [
            (0, 3, 0, 0),
            (2, 3, 2, 2),
            (3, 3, 2, 2),
            (i64::MAX, 3, 2, 2),
            (-1, 3, 0, 2),
            (-3, 3, 0, 0),
            (-4, 3, 0, 0),
            (i64::MIN, 3, 0, 0),
            (i64::MIN, 1 << 63, 0, 0),
            (-1, 1 << 62, 0, (1 << 62) - 1),
            (5, 0, 0, 0),
            (-5, 0, 0, 0),
        ] {
            assert_eq!(index.clamped(dim, 0), from_front, "{index} in {dim}");
            assert_eq!(index.clamped(dim, dim), from_end, "{index} in {dim}");
        }
        for (index, dim, remainder) in [
            (2, 3, 2),
            (3, 3, 0),
            (-1, 3, 2),
            (-3, 3, 0),
            (-4, 3, 2),
            (i64::MAX, 10, 7),
            (i64::MIN, 10, 2),
            (i64::MIN, 1 << 63, 0),
            (i64::MIN + 1, 1 << 63, 1),
            (-1, 1, 0),
            (5, 0, 0),
            (-5, 0, 0),
        ] {
            assert_eq!(index.wrapped(dim), remainder, "{index} in {dim}");
        }
        assert_eq!((i32::MIN.wrapped(10), u64::MAX.wrapped(10)), (2, 5));
        assert_eq!((-1_i32).clamped(7, 7), 6);
        assert_eq!(u32::MAX.clamped(7, 7), 6);
        assert_eq!(u64::MAX.clamped(7, 0), 6);
        assert_eq!(3_u64.clamped(7, 7), 3);
        assert_eq!(3_u32.clamped(0, 0), 0);
    }
}
