//! Units: what a lane copies or decodes at once.

use crate::encoding::Encoding;

/// A unit: 16 or 4 output bytes, which a lane stores at once. A slice is whole units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    /// A lane loads as many bytes from params at once.
    Vec4,
    Word,
    /// Four decoded values, or one.
    FourDecoded(Encoding),
    OneDecoded(Encoding),
}

impl Unit {
    /// The unit, if each slice begins at a multiple of `alignment` bytes and the fill repeats after `fill_words` words; `None` if
    /// slices are no whole units.
    pub(crate) const fn of(
        alignment: u64,
        fill_words: u32,
        encoding: Option<Encoding>,
    ) -> Option<Self> {
        match (alignment, encoding) {
            (16.., None) if 4_u32.is_multiple_of(fill_words) => Some(Self::Vec4),
            (16.., Some(encoding)) => Some(Self::FourDecoded(encoding)),
            (4.., None) => Some(Self::Word),
            (4.., Some(encoding)) => Some(Self::OneDecoded(encoding)),
            _ => None,
        }
    }

    /// How many output bytes the unit has.
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Vec4 | Self::FourDecoded(_) => 16,
            Self::Word | Self::OneDecoded(_) => 4,
        }
    }

    /// The bytes by which starts and strides in params are counted.
    pub(crate) const fn params_bytes(self) -> u64 {
        match self {
            Self::FourDecoded(_) | Self::OneDecoded(_) => 1,
            Self::Vec4 | Self::Word => self.bytes(),
        }
    }

    pub(crate) const fn encoding(self) -> Option<Encoding> {
        match self {
            Self::FourDecoded(encoding) | Self::OneDecoded(encoding) => Some(encoding),
            Self::Vec4 | Self::Word => None,
        }
    }

    /// The file in shaders/ that loads the unit.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Vec4 => "vec4",
            Self::Word => "words",
            Self::FourDecoded(_) => "four_decoded",
            Self::OneDecoded(_) => "one_decoded",
        }
    }
}
