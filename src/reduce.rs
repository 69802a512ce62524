//! The reductions of a scatter, and the numbers that have them.

use crate::names::names;

/// A reduction: how a scatter combines an element of the target with an update of it.
///
/// Equal rows meet their updates in the order of the index rows, so there is one result on each device and for any number of
/// threads. Its name, which `Display` prints and `FromStr` reads, is `add`, `mul`, `min` or `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduce {
    /// The sum. Integers wrap. Of floats, the first 1,024 updates of a row are added one by one; each later 1,024 updates
    /// of that row are summed by themselves, and their sum is then added. Up to 1,024 updates this is NumPy's `add.at`.
    Add,
    /// The product. Integers wrap.
    Mul,
    /// The lesser number. A NaN is less than all numbers, and -0 is less than 0.
    Min,
    /// The greater number. A NaN is greater than all numbers, and 0 is greater than -0.
    Max,
}

names! {
    /// All reductions.
    Reduce, "reduce":
    Add = "add",
    Mul = "mul",
    Min = "min",
    Max = "max",
}

/// A number that a scatter reduces: `i8` to `i64`, `u8` to `u64`, `f32` and `f64`. A NaN that a reduction of floats gives has
/// the bits 0x7fc00000, or 0x7ff8000000000000 of `f64`, whatever the processor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    label = "reductions take integers of 8, 16, 32 or 64 bits, f32 and f64",
    note = "`scatter` assigns elements of every Copy type"
)]
pub trait ScatterNumber: sealed::Number {}

/// The type of a number, as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberKind {
    I32,
    U32,
    F32,
    /// Another number, by the name of its type in Rust.
    Other(&'static str),
}

impl NumberKind {
    const fn of(name: &'static str) -> Self {
        match name.as_bytes() {
            b"i32" => Self::I32,
            b"u32" => Self::U32,
            b"f32" => Self::F32,
            _ => Self::Other(name),
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::Other(name) => name,
        }
    }
}

pub(crate) mod sealed {
    use super::NumberKind;

    /// The reductions of two numbers, the element of the target first. A NaN that they give may have any bits; `of_one_nan` replaces it.
    pub trait Number: Copy + Send + Sync + 'static {
        /// True for floats, whose sums depend on the order of their terms.
        const IS_FLOAT: bool;
        const KIND: NumberKind;

        /// The number, or the one NaN in place of any: processors differ in the bits of a NaN that they compute.
        #[inline(always)]
        fn of_one_nan(self) -> Self {
            self
        }

        #[inline(always)]
        fn is_a_nan(self) -> bool {
            false
        }

        fn plus(self, update: Self) -> Self;
        fn times(self, update: Self) -> Self;
        fn lesser(self, update: Self) -> Self;
        fn greater(self, update: Self) -> Self;
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl ScatterNumber for $integer {}

        impl sealed::Number for $integer {
            const IS_FLOAT: bool = false;
            const KIND: NumberKind = NumberKind::of(stringify!($integer));

            #[inline(always)]
            fn plus(self, update: Self) -> Self {
                self.wrapping_add(update)
            }

            #[inline(always)]
            fn times(self, update: Self) -> Self {
                self.wrapping_mul(update)
            }

            #[inline(always)]
            fn lesser(self, update: Self) -> Self {
                Ord::min(self, update)
            }

            #[inline(always)]
            fn greater(self, update: Self) -> Self {
                Ord::max(self, update)
            }
        }
    )*};
}

macro_rules! floats {
    ($($float:ty: $nan:literal;)*) => {$(
        impl ScatterNumber for $float {}

        impl sealed::Number for $float {
            const IS_FLOAT: bool = true;
            const KIND: NumberKind = NumberKind::of(stringify!($float));

            #[inline(always)]
            fn of_one_nan(self) -> Self {
                if self.is_nan() { Self::from_bits($nan) } else { self }
            }

            #[inline(always)]
            fn is_a_nan(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn plus(self, update: Self) -> Self {
                self + update
            }

            #[inline(always)]
            fn times(self, update: Self) -> Self {
                self * update
            }

            #[inline(always)]
            fn lesser(self, update: Self) -> Self {
                // Equal numbers have equal bits, but for the sign of a zero.
                let zero = Self::from_bits(self.to_bits() | update.to_bits());
                let least = if self < update { self } else { update };
                let least = if self == update { zero } else { least };
                if self.is_nan() { self } else { least }
            }

            #[inline(always)]
            fn greater(self, update: Self) -> Self {
                let zero = Self::from_bits(self.to_bits() & update.to_bits());
                let greatest = if self > update { self } else { update };
                let greatest = if self == update { zero } else { greatest };
                if self.is_nan() { self } else { greatest }
            }
        }
    )*};
}

integers! { i8 u8 i16 u16 i32 u32 i64 u64 }
floats! {
    f32: 0x7fc0_0000;
    f64: 0x7ff8_0000_0000_0000;
}

#[cfg(test)]
mod tests {
    use super::sealed::Number;

    #[test]
    fn floats_have_one_nan_and_two_zeros() {
        let nan = f32::from_bits(0xffc1_2345);
        for (value, other) in [(nan, 1.0), (1.0, nan), (nan, nan)] {
            for found in [
                value.plus(other),
                value.times(other),
                value.lesser(other),
                value.greater(other),
            ] {
                assert_eq!(
                    found.of_one_nan().to_bits(),
                    0x7fc0_0000,
                    "{value} and {other}"
                );
            }
        }
        assert_eq!(
            f32::INFINITY.plus(-f32::INFINITY).of_one_nan().to_bits(),
            0x7fc0_0000
        );
        assert_eq!(
            f64::INFINITY.times(0.0).of_one_nan().to_bits(),
            0x7ff8_0000_0000_0000
        );
        for (a, b) in [(0.0_f32, -0.0_f32), (-0.0, 0.0)] {
            assert_eq!(a.lesser(b).to_bits(), 0x8000_0000);
            assert_eq!(a.greater(b).to_bits(), 0);
        }
        assert_eq!((2.0.lesser(-3.0_f64), 2.0.greater(-3.0_f64)), (-3.0, 2.0));
        assert_eq!((i8::MAX.plus(1), 100_u8.times(3)), (i8::MIN, 44));
    }
}
