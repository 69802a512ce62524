//! How a scatter reduces, and the numbers that it can reduce.

use crate::names::names;

/// How a scatter combines a target element with an update.
///
/// If several updates go to one row, they are applied in the order of their index rows. So each device, and any number of
/// threads, gives the same result. `Display` prints, and `FromStr` reads, `add`, `mul`, `min` or `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduce {
    /// The sum. Integers wrap. Floats: a row's first 1,024 updates are added one by one; each later 1,024 are summed by
    /// themselves, and that sum is added. Up to 1,024 updates this is NumPy's `add.at`.
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

/// A number that a scatter can reduce: `i8` to `i64`, `u8` to `u64`, `f32` and `f64`; with the feature `half` also `half::f16` and
/// `half::bf16`. If the result is a NaN, its bits are 0x7fc00000 on each processor, 0x7ff8000000000000 for `f64`, 0x7e00
/// for `f16` and 0x7fc0 for `bf16`.
///
/// Sums and products of halves are those of `f32`, of which each element is rounded once, at the end of the call. So two calls
/// round twice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be reduced",
    label = "reductions take integers of 8, 16, 32 or 64 bits, f32, f64, and f16 and bf16 of the crate half",
    note = "`scatter` assigns elements of every Copy type"
)]
pub trait Number: sealed::Number {}

/// A number's type, as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberKind {
    I32,
    U32,
    F32,
    F16,
    Bf16,
    /// Another number, by the name of its type in Rust.
    Other(&'static str),
}

impl NumberKind {
    const fn of(name: &'static str) -> Self {
        match name.as_bytes() {
            b"i32" => Self::I32,
            b"u32" => Self::U32,
            b"f32" => Self::F32,
            b"f16" => Self::F16,
            b"bf16" => Self::Bf16,
            _ => Self::Other(name),
        }
    }

    /// Bytes in a number that a GPU reduces.
    #[cfg(feature = "gpu")]
    pub(crate) const fn gpu_bytes(self) -> u64 {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 | Self::Other(_) => 4,
        }
    }

    #[cfg(feature = "gpu")]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Other(name) => name,
        }
    }
}

pub(crate) mod sealed {
    use super::NumberKind;

    /// Reduces two numbers, the target's element first. A NaN may come out with any bits; `of_one_nan` replaces it.
    pub trait Number: Copy + Send + Sync + 'static {
        const KIND: NumberKind;
        /// The NaN of floats: processors compute NaNs with different bits.
        const NAN: Option<Self> = None;
        /// True for floats, whose sums depend on the order.
        const IS_FLOAT: bool = Self::NAN.is_some();

        /// The number, or the one NaN for any NaN.
        #[inline(always)]
        fn of_one_nan(self) -> Self {
            match Self::NAN {
                Some(nan) if self.is_a_nan() => nan,
                _ => self,
            }
        }

        #[inline(always)]
        fn is_a_nan(self) -> bool {
            false
        }

        fn plus(self, update: Self) -> Self;
        fn times(self, update: Self) -> Self;
        fn lesser(self, update: Self) -> Self;
        fn greater(self, update: Self) -> Self;

        /// True for halves, which are added and multiplied as `f32`s.
        const IS_HALF: bool = false;

        /// Converts halves to `f32`s, exactly.
        fn widen(_: &[Self], _: &mut [f32]) {
            unreachable!("no halves");
        }

        /// Rounds `f32`s to halves.
        fn narrow(_: &[f32], _: &mut [Self]) {
            unreachable!("no halves");
        }
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Number for $integer {}

        impl sealed::Number for $integer {
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
        impl Number for $float {}

        impl sealed::Number for $float {
            const KIND: NumberKind = NumberKind::of(stringify!($float));
            const NAN: Option<Self> = Some(Self::from_bits($nan));

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

#[cfg(feature = "half")]
macro_rules! halves {
    ($($half:ident: $name:literal, $nan:literal, $of_bytes:path;)*) => {$(
        impl Number for half::$half {}

        impl sealed::Number for half::$half {
            const KIND: NumberKind = NumberKind::of($name);
            const NAN: Option<Self> = Some(Self::from_bits($nan));

            #[inline(always)]
            fn is_a_nan(self) -> bool {
                self.is_nan()
            }

            fn plus(self, _: Self) -> Self {
                unreachable!("halves are added as f32s");
            }

            fn times(self, _: Self) -> Self {
                unreachable!("halves are multiplied as f32s");
            }

            #[inline(always)]
            fn lesser(self, update: Self) -> Self {
                let is_less = in_order(self.to_bits()) < in_order(update.to_bits());
                if self.is_nan() || is_less && !update.is_nan() { self } else { update }
            }

            #[inline(always)]
            fn greater(self, update: Self) -> Self {
                let is_greater = in_order(self.to_bits()) > in_order(update.to_bits());
                if self.is_nan() || is_greater && !update.is_nan() { self } else { update }
            }

            const IS_HALF: bool = true;

            #[inline(always)]
            fn widen(halves: &[Self], to: &mut [f32]) {
                for (half, to) in halves.iter().zip(to) {
                    *to = $of_bytes(half.to_le_bytes());
                }
            }

            fn narrow(values: &[f32], to: &mut [Self]) {
                crate::encoding::round_to(values, to);
            }
        }
    )*};
}

/// A half's bits as a number that compares as the half does, with -0 below 0.
#[cfg(feature = "half")]
#[inline(always)]
fn in_order(bits: u16) -> i16 {
    let bits = bits.cast_signed();
    // Flips all bits of a negative half but the sign.
    bits ^ (bits >> 15).cast_unsigned().wrapping_shr(1).cast_signed()
}

#[cfg(feature = "half")]
halves! {
    f16: "f16", 0x7e00, crate::encoding::half;
    bf16: "bf16", 0x7fc0, crate::encoding::high_half;
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
