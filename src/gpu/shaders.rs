//! The shader modules: each is made of a few files of shaders/, so that no more is compiled than a gather needs.

use super::kernel::{EntryPoint, FindRows, Kernel, Unit};

/// A shader module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Shader {
    Vec4,
    Words,
    Packed,
    Bytes,
    GeneralVec4,
    GeneralWords,
    GeneralBytes,
    Report,
}

macro_rules! composed {
    ($($file:literal),*) => {
        concat!($(include_str!(concat!("../../shaders/", $file, ".wgsl")), "\n"),*)
    };
}

impl Shader {
    pub(crate) const ALL: [Self; 8] = [
        Self::Vec4,
        Self::Words,
        Self::Packed,
        Self::Bytes,
        Self::GeneralVec4,
        Self::GeneralWords,
        Self::GeneralBytes,
        Self::Report,
    ];

    pub(crate) const fn of(entry_point: EntryPoint) -> Self {
        let EntryPoint::Gather { kernel, find, .. } = entry_point else {
            return Self::Report;
        };
        match (find, kernel) {
            (_, Kernel::Packed { .. }) => Self::Packed,
            (FindRows::Words { .. }, Kernel::Bytes) => Self::Bytes,
            (
                FindRows::Words { .. },
                Kernel::Rows(unit) | Kernel::FourRows(unit) | Kernel::Long(unit),
            ) => match unit {
                Unit::Vec4 => Self::Vec4,
                Unit::Word => Self::Words,
            },
            (FindRows::General, Kernel::Bytes) => Self::GeneralBytes,
            (
                FindRows::General,
                Kernel::Rows(unit) | Kernel::FourRows(unit) | Kernel::Long(unit),
            ) => match unit {
                Unit::Vec4 => Self::GeneralVec4,
                Unit::Word => Self::GeneralWords,
            },
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Vec4 => "vec4",
            Self::Words => "words",
            Self::Packed => "packed",
            Self::Bytes => "bytes",
            Self::GeneralVec4 => "general_vec4",
            Self::GeneralWords => "general_words",
            Self::GeneralBytes => "general_bytes",
            Self::Report => "report",
        }
    }

    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::Vec4 => composed!("common", "index_rows", "vec4", "rows", "four_rows", "long"),
            Self::Words => composed!("common", "index_rows", "words", "rows", "four_rows", "long"),
            Self::Packed => composed!("common", "packed"),
            Self::Bytes => composed!("common", "index_rows", "bytes"),
            Self::GeneralVec4 => composed!("common", "general", "vec4", "rows", "long"),
            Self::GeneralWords => composed!("common", "general", "words", "rows", "long"),
            Self::GeneralBytes => composed!("common", "general", "bytes"),
            Self::Report => composed!("common", "report"),
        }
    }

    /// The shader for operands of which one that is only read lives in a buffer that is written. A buffer that is bound in
    /// several places must be bound for writing in all of them, although the shader writes to one alone.
    pub(crate) fn aliased_source(self) -> String {
        self.source()
            .replace("var<storage, read>", "var<storage, read_write>")
    }
}
