//! The float types that rows are decoded to, and the rounding to the shorter ones.

#[cfg(feature = "half")]
use half::slice::HalfFloatSliceExt;

#[cfg(feature = "half")]
use crate::memory::halfwords;
use crate::memory::{Byte, Leveled, run_at_best_level, to_f16s, value, write_into};
use crate::names::names;

/// A float type: the one that rows are decoded to, or that of a [`BlockQuantized`](crate::BlockQuantized)'s scales.
///
/// `Display` prints, and `FromStr` reads, `f32`, `f16` or `bf16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum FloatKind {
    /// `f32`.
    #[default]
    F32,
    /// IEEE half floats.
    F16,
    /// The high halves of `f32`s.
    Bf16,
}

names! {
    /// All float types.
    FloatKind, "float type":
    F32 = "f32",
    F16 = "f16",
    Bf16 = "bf16",
}

impl FloatKind {
    /// Bytes in a number.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }
}

/// A type that rows are decoded to: `f32`, or with the feature `half` also `half::f16` and `half::bf16`. No other type has this trait.
///
/// A half is the decoded `f32`, rounded once to the nearest, ties to the even one. Subnormal halves and -0 are kept. What is
/// above the largest half by half a step or more is an infinity. Each NaN becomes `0x7e00` (`f16`) or `0x7fc0` (`bf16`). But `F16`
/// rows as `f16`, and `Bf16` rows as `bf16`, keep all bits.
pub trait Float: Copy + Default + Send + Sync + sealed::Float {}

mod sealed {
    pub trait Float: Sized {
        const KIND: super::FloatKind;

        /// Values of this type as `f32`s, or halves as bytes.
        fn params(values: &[Self]) -> Result<&[f32], &[u8]>;
    }
}

macro_rules! floats {
    ($($(#[$when:meta])* $kind:ident: $float:ty, |$values:ident| $params:expr;)*) => {$(
        $(#[$when])*
        impl Float for $float {}

        $(#[$when])*
        impl sealed::Float for $float {
            const KIND: FloatKind = FloatKind::$kind;

            fn params($values: &[Self]) -> Result<&[f32], &[u8]> {
                $params
            }
        }
    )*};
}

floats! {
    F32: f32, |values| Ok(values);
    #[cfg(feature = "half")]
    F16: half::f16, |values| Err(halfwords(values.reinterpret_cast()));
    #[cfg(feature = "half")]
    Bf16: half::bf16, |values| Err(halfwords(values.reinterpret_cast()));
}

/// Values that are decoded before they are rounded. They stay in the first cache. Each block is smaller.
const PIECE: usize = 256;

/// The float type that rows are decoded to, and room for values that are rounded after they are decoded.
pub(crate) struct Output {
    kind: FloatKind,
    room: Option<[f32; PIECE]>,
}

impl Output {
    pub(crate) fn new(kind: FloatKind) -> Self {
        let room = (kind != FloatKind::F32).then_some([0.0; PIECE]);
        Self { kind, room }
    }

    /// Fills `to`: `decode` writes `f32`s to its room, from the value with this number on.
    pub(crate) fn store(&mut self, to: &mut [Byte], decode: &dyn Fn(usize, &mut [Byte])) {
        let Some(room) = &mut self.room else {
            return decode(0, to);
        };
        for (number, halves) in to.as_chunks_mut().0.chunks_mut(PIECE).enumerate() {
            let values = &mut room[..halves.len()];
            write_into(values, |room| decode(number * PIECE, room));
            round(self.kind, values, halves);
        }
    }
}

/// Rounds values to halves of a kind.
fn round(kind: FloatKind, values: &[f32], halves: &mut [[Byte; 2]]) {
    if kind == FloatKind::Bf16 {
        return run_at_best_level(Round(values, halves, to_bf16));
    }
    let done = to_f16s(values, halves);
    if done < values.len() {
        run_at_best_level(Round(&values[done..], &mut halves[done..], to_f16));
    }
}

/// Writes values as elements of a kind: each NaN as the one of that kind.
pub(crate) fn store(kind: FloatKind, values: &[f32], to: &mut [Byte]) {
    match kind {
        FloatKind::F32 => run_at_best_level(OfOneNan(values, to.as_chunks_mut().0)),
        FloatKind::F16 | FloatKind::Bf16 => round(kind, values, to.as_chunks_mut().0),
    }
}

/// The bits of the one NaN.
const NAN: u32 = 0x7fc0_0000;

/// Copies values, with the one NaN for any NaN.
struct OfOneNan<'a>(&'a [f32], &'a mut [[Byte; 4]]);

impl Leveled for OfOneNan<'_> {
    #[inline(always)]
    fn run(self) {
        for (&number, to) in self.0.iter().zip(self.1) {
            *to = value(if number.is_nan() {
                f32::from_bits(NAN)
            } else {
                number
            });
        }
    }
}

/// Rounds values to halves.
#[cfg(feature = "half")]
pub(crate) fn round_to<T: Float>(values: &[f32], halves: &mut [T]) {
    write_into(halves, |halves| {
        round(T::KIND, values, halves.as_chunks_mut().0);
    });
}

/// Rounds each value.
struct Round<'a, R>(&'a [f32], &'a mut [[Byte; 2]], R);

impl<R: Fn(f32) -> u16> Leveled for Round<'_, R> {
    #[inline(always)]
    fn run(self) {
        let Self(values, halves, round) = self;
        for (&value, half) in values.iter().zip(halves) {
            *half = round(value).to_ne_bytes().map(Byte::new);
        }
    }
}

/// The nearest half float.
#[inline(always)]
fn to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    // All from 2^16 on is an infinity.
    let magnitude = (bits & 0x7fff_ffff).min(0x4780_0000);
    // Subnormal halves have the exponent of the least normal one, 2^-14.
    let exponent = (magnitude & 0x7f80_0000).max(0x3880_0000);
    // Counted in steps between halves, up to 2^11 of them. A sum with 2^23 has no fraction bits.
    let steps = f32::from_bits(magnitude) * f32::from_bits(0x8400_0000 - exponent);
    let steps = (steps + 8_388_608.0).to_bits() - 0x4b00_0000;
    let half = ((exponent - 0x3880_0000) >> 13) + steps;
    low_half(if value.is_nan() {
        0x7e00
    } else {
        half | (bits >> 16 & 0x8000)
    })
}

/// The nearest high half of an `f32`.
#[inline(always)]
fn to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    low_half(if value.is_nan() { 0x7fc0 } else { nearest })
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the high half is 0")]
fn low_half(bits: u32) -> u16 {
    bits as u16
}
