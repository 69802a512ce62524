//! The shader modules. Each joins a few files of shaders/, so that only the code that a gather needs is compiled.

use super::kernel::{FindRows, Kernel, Unit};

/// Pipelines depend on the entry point and on aliasing, not on a shape or a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) entry_point: EntryPoint,
    /// True if an operand that is only read shares a buffer with a written one. All are then bound for writing.
    pub(crate) aliased: bool,
}

/// The entry points in shaders/.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryPoint {
    Gather {
        kernel: Kernel,
        find: FindRows,
        report: bool,
    },
    FinishReport,
    CountRows,
    /// Writes the mask of bad rows.
    OutOfRange,
}

impl EntryPoint {
    pub(crate) const fn key(self, aliased: bool) -> PipelineKey {
        PipelineKey {
            entry_point: self,
            aliased,
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gather { kernel, report, .. } => kernel.name(report),
            Self::FinishReport => "finish_report",
            Self::CountRows => "count_rows",
            Self::OutOfRange => "out_of_range",
        }
    }

    /// The bindings that the entry point reads or writes.
    pub(crate) const fn bindings(self) -> &'static [u32] {
        match self {
            Self::Gather { report: false, .. } => &[
                binding::UNIFORM,
                binding::PARAMS,
                binding::INDICES,
                binding::OUTPUT,
            ],
            Self::Gather { report: true, .. } => &[
                binding::UNIFORM,
                binding::PARAMS,
                binding::INDICES,
                binding::OUTPUT,
                binding::COUNTER,
            ],
            Self::FinishReport => &[
                binding::UNIFORM,
                binding::INDICES,
                binding::COUNTER,
                binding::REPORT,
            ],
            Self::CountRows => &[
                binding::COUNT,
                binding::INDIRECT_UNIFORM,
                binding::WORKGROUPS,
            ],
            Self::OutOfRange => &[binding::UNIFORM, binding::INDICES, binding::MASK],
        }
    }

    /// The values of the shader's override constants.
    pub(crate) fn overrides(self) -> Vec<(&'static str, f64)> {
        let mut overrides = Vec::new();
        if let Self::Gather { kernel, find, .. } = self {
            if let FindRows::Words { index_words, depth } = find {
                overrides.push(("INDEX_WORDS", index_words.into()));
                overrides.push(("DEPTH", depth.into()));
            }
            if let Kernel::Packed { slice_bytes } = kernel {
                overrides.push(("PACKED_BYTES", slice_bytes.into()));
            }
        }
        overrides
    }
}

/// The numbers of the shaders' bindings.
pub(crate) mod binding {
    pub(crate) const UNIFORM: u32 = 0;
    pub(crate) const PARAMS: u32 = 1;
    pub(crate) const INDICES: u32 = 2;
    pub(crate) const OUTPUT: u32 = 3;
    pub(crate) const COUNTER: u32 = 4;
    pub(crate) const REPORT: u32 = 5;
    pub(crate) const COUNT: u32 = 6;
    pub(crate) const INDIRECT_UNIFORM: u32 = 7;
    pub(crate) const WORKGROUPS: u32 = 8;
    pub(crate) const MASK: u32 = 9;

    /// True if the entry points that use the binding write to it.
    pub(crate) const fn is_written(number: u32) -> bool {
        matches!(
            number,
            OUTPUT | COUNTER | REPORT | INDIRECT_UNIFORM | WORKGROUPS | MASK
        )
    }
}

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
    Mask,
}

/// The texts of shaders/. Modules share them, so each is in an app once.
macro_rules! texts {
    ($($name:ident: $file:literal,)*) => {
        $(static $name: &str = include_str!(concat!("../../shaders/", $file, ".wgsl"));)*
    };
}

texts! {
    COMMON: "common",
    INDEX_ROWS: "index_rows",
    GENERAL: "general",
    VEC4: "vec4",
    WORDS: "words",
    ROWS: "rows",
    FOUR_ROWS: "four_rows",
    LONG: "long",
    PACKED: "packed",
    BYTES: "bytes",
    REPORT: "report",
    MASK: "mask",
}

impl Shader {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 9] = [
        Self::Vec4,
        Self::Words,
        Self::Packed,
        Self::Bytes,
        Self::GeneralVec4,
        Self::GeneralWords,
        Self::GeneralBytes,
        Self::Report,
        Self::Mask,
    ];

    pub(crate) const fn of(entry_point: EntryPoint) -> Self {
        let (kernel, find) = match entry_point {
            EntryPoint::Gather { kernel, find, .. } => (kernel, find),
            EntryPoint::FinishReport | EntryPoint::CountRows => return Self::Report,
            EntryPoint::OutOfRange => return Self::Mask,
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
            Self::Mask => "mask",
        }
    }

    pub(crate) fn source(self) -> String {
        let texts = match self {
            Self::Vec4 => &[COMMON, INDEX_ROWS, VEC4, ROWS, FOUR_ROWS, LONG][..],
            Self::Words => &[COMMON, INDEX_ROWS, WORDS, ROWS, FOUR_ROWS, LONG],
            Self::Packed => &[COMMON, PACKED],
            Self::Bytes => &[COMMON, INDEX_ROWS, BYTES],
            Self::GeneralVec4 => &[COMMON, GENERAL, VEC4, ROWS, LONG],
            Self::GeneralWords => &[COMMON, GENERAL, WORDS, ROWS, LONG],
            Self::GeneralBytes => &[COMMON, GENERAL, BYTES],
            Self::Report => &[COMMON, REPORT],
            Self::Mask => &[COMMON, GENERAL, MASK],
        };
        texts.join("\n")
    }

    /// The source for aliased operands. wgpu requires that a buffer with a binding of the access `read_write` has
    /// that access in all of its bindings, although the shader writes to only one.
    pub(crate) fn aliased_source(self) -> String {
        self.source()
            .replace("var<storage, read>", "var<storage, read_write>")
    }
}
