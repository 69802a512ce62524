//! How rows are decoded: an encoding and a float type.

use super::{Encoding, FloatKind};

/// How rows are decoded: from which encoding, and to which type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Decoding {
    pub(crate) encoding: Encoding,
    pub(crate) to: FloatKind,
}

/// For instance "Q8_0", or "Q8_0 to f16".
#[cfg(feature = "gpu")]
impl std::fmt::Display for Decoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { encoding, to } = self;
        match to {
            FloatKind::F32 => encoding.fmt(f),
            FloatKind::F16 | FloatKind::Bf16 => write!(f, "{encoding} to {to}"),
        }
    }
}

#[cfg(feature = "gpu")]
impl Decoding {
    /// The parameters that a pipeline depends on.
    pub(crate) const fn of_pipeline(self) -> Self {
        Self {
            encoding: self.encoding.of_pipeline(),
            ..self
        }
    }

    /// The file in shaders/ that rounds the decoded values.
    pub(crate) const fn rounding_file(self) -> Option<&'static str> {
        self.to.rounding_file()
    }
}

#[cfg(feature = "gpu")]
impl FloatKind {
    /// The file in shaders/ that rounds to the type.
    pub(crate) const fn rounding_file(self) -> Option<&'static str> {
        match self {
            Self::F32 => None,
            Self::F16 => Some("to_f16"),
            Self::Bf16 => Some("to_bf16"),
        }
    }
}
