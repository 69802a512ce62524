//! Units: what a lane copies or decodes at once.

use super::types::size;
use crate::encoding::{Decoding, Encoding, FloatKind};

/// A unit: 16, 8, 4 or 2 output bytes, which a lane stores at once. A slice is whole units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    /// A lane loads as many bytes from params at once.
    Vec4,
    Word,
    /// A half that a scatter reduces.
    Half,
    /// Four decoded values; or one, an `f32`.
    FourDecoded(Decoding),
    OneDecoded(Decoding),
}

impl Unit {
    /// The unit, if each slice begins at a multiple of `alignment` bytes and the fill repeats after `fill_words` words; `None` if
    /// slices are no whole units.
    pub(crate) const fn of(
        alignment: u64,
        fill_words: u32,
        decoding: Option<Decoding>,
    ) -> Option<Self> {
        let Some(decoding) = decoding else {
            return match alignment {
                16.. if 4_u32.is_multiple_of(fill_words) => Some(Self::Vec4),
                4.. => Some(Self::Word),
                _ => None,
            };
        };
        let four = Self::FourDecoded(decoding);
        match decoding.to {
            _ if alignment >= four.bytes() => Some(four),
            FloatKind::F32 => Some(Self::OneDecoded(decoding)),
            FloatKind::F16 | FloatKind::Bf16 => None,
        }
    }

    /// How many output bytes the unit has.
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Vec4 => 16,
            Self::FourDecoded(decoding) => 4 * decoding.to.bytes(),
            Self::Word | Self::OneDecoded(_) => 4,
            Self::Half => 2,
        }
    }

    /// The bytes by which starts and strides in params are counted.
    pub(crate) const fn params_bytes(self) -> u64 {
        match self {
            Self::FourDecoded(_) | Self::OneDecoded(_) => 1,
            Self::Vec4 | Self::Word | Self::Half => self.bytes(),
        }
    }

    pub(crate) const fn decoding(self) -> Option<Decoding> {
        match self {
            Self::FourDecoded(decoding) | Self::OneDecoded(decoding) => Some(decoding),
            Self::Vec4 | Self::Word | Self::Half => None,
        }
    }

    /// True if the unit is decoded with scales that lie beside params.
    pub(crate) const fn block_quantized(self) -> bool {
        match self.decoding() {
            Some(of) => of.encoding.block_quantized().is_some(),
            None => false,
        }
    }

    /// The file in shaders/ that loads the unit.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Vec4 => "vec4",
            Self::Word | Self::Half => "words",
            Self::FourDecoded(decoding) => match decoding.to {
                FloatKind::F32 => "four_decoded",
                FloatKind::F16 | FloatKind::Bf16 => "four_halves",
            },
            Self::OneDecoded(_) => "one_decoded",
        }
    }
}

/// The override constants of a decoder, which decodes one value or four at once.
pub(super) fn decoding_overrides(encoding: Encoding, is_one: bool) -> Vec<(&'static str, f64)> {
    let mut overrides = Vec::new();
    if is_one {
        overrides.push(("HAS_ROWS", u8::from(encoding.has_whole_rows()).into()));
    }
    if let Some(quantized) = encoding.block_quantized() {
        overrides.push(("BITS", quantized.bits().into()));
        overrides.push(("BLOCK_LEN", f64::from(size(quantized.block_len()))));
    }
    overrides
}
