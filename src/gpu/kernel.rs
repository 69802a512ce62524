//! The table of kernels and the choice among them. Pure: knows sizes, not devices.

use crate::element::IndexKind;

/// Invocations of a workgroup: two warps of NVIDIA, one wavefront of AMD, and a quarter of the least that
/// WebGPU guarantees.
pub(crate) const WORKGROUP_SIZE: u32 = 64;

/// Units that one lane copies before another lane helps.
const UNITS_PER_LANE: u64 = 4;

/// At most this many lanes (a power of two, as a shift) share a slice: one workgroup.
const MAX_LANES_LOG2: u32 = WORKGROUP_SIZE.ilog2();

/// What an entry point loads and stores at once. A slice is a whole number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Vec4,
    Word,
    Byte,
}

impl Unit {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 3] = [Self::Vec4, Self::Word, Self::Byte];

    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Vec4 => 16,
            Self::Word => 4,
            Self::Byte => 1,
        }
    }
}

/// How the slices of a plan are shared among invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Kernel {
    pub(crate) unit: Unit,
    /// The power of two of invocations that share a slice; 0 for bytes, where invocations own words.
    pub(crate) lanes_log2: u32,
}

impl Kernel {
    /// The widest unit that divides a slice, and a lane for every few of them.
    pub(crate) fn choose(slice_bytes: u64) -> Self {
        let unit = match slice_bytes {
            bytes if bytes % 16 == 0 => Unit::Vec4,
            bytes if bytes % 4 == 0 => Unit::Word,
            _ => {
                return Self {
                    unit: Unit::Byte,
                    lanes_log2: 0,
                };
            }
        };
        let lanes = slice_bytes / unit.bytes() / UNITS_PER_LANE;
        Self {
            unit,
            lanes_log2: lanes.max(1).ilog2().min(MAX_LANES_LOG2),
        }
    }
}

/// What a pipeline is made for: never a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) entry_point: EntryPoint,
    pub(crate) index_kind: IndexKind,
    pub(crate) from_end: bool,
    pub(crate) wide: bool,
}

/// The compute shaders in shaders/gather.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryPoint {
    Gather { unit: Unit, report: bool },
    CopyFirstBadRow,
}

impl EntryPoint {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gather {
                unit: Unit::Vec4,
                report: false,
            } => "gather_vec4",
            Self::Gather {
                unit: Unit::Vec4,
                report: true,
            } => "gather_vec4_report",
            Self::Gather {
                unit: Unit::Word,
                report: false,
            } => "gather_words",
            Self::Gather {
                unit: Unit::Word,
                report: true,
            } => "gather_words_report",
            Self::Gather {
                unit: Unit::Byte,
                report: false,
            } => "gather_bytes",
            Self::Gather {
                unit: Unit::Byte,
                report: true,
            } => "gather_bytes_report",
            Self::CopyFirstBadRow => "copy_first_bad_row",
        }
    }

    /// The bindings that the entry point reads or writes.
    pub(crate) const fn bindings(self) -> &'static [u32] {
        match self {
            Self::Gather { report: false, .. } => &[
                binding::WINDOW,
                binding::PARAMS,
                binding::INDICES,
                binding::OUTPUT,
            ],
            Self::Gather { report: true, .. } => &[
                binding::WINDOW,
                binding::PARAMS,
                binding::INDICES,
                binding::OUTPUT,
                binding::REPORT,
            ],
            Self::CopyFirstBadRow => &[binding::WINDOW, binding::INDICES, binding::REPORT],
        }
    }
}

/// The numbers of the shader's bindings.
pub(crate) mod binding {
    pub(crate) const WINDOW: u32 = 0;
    pub(crate) const PARAMS: u32 = 1;
    pub(crate) const INDICES: u32 = 2;
    pub(crate) const OUTPUT: u32 = 3;
    pub(crate) const REPORT: u32 = 4;
}

impl PipelineKey {
    /// The shader's overrides.
    pub(crate) fn overrides(self) -> [(&'static str, f64); 5] {
        [
            ("WORKGROUP_SIZE", f64::from(WORKGROUP_SIZE)),
            (
                "INDEX_WORDS",
                if self.index_kind.bytes() == 8 {
                    2.0
                } else {
                    1.0
                },
            ),
            (
                "INDEX_SIGNED",
                f64::from(u8::from(self.index_kind.is_signed())),
            ),
            ("FROM_END", f64::from(u8::from(self.from_end))),
            ("WIDE", f64::from(u8::from(self.wide))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gather;

    #[track_caller]
    fn assert_kernel(params_shape: &[usize], element_bytes: u64, unit: Unit, lanes: u32) {
        let plan = Gather::new()
            .plan(params_shape, &[5])
            .expect("a valid shape");
        let kernel = Kernel::choose(plan.dims().slice_len * element_bytes);
        assert_eq!(
            (kernel.unit, 1 << kernel.lanes_log2),
            (unit, lanes),
            "{params_shape:?} x {element_bytes}"
        );
    }

    #[test]
    fn a_slice_takes_the_widest_unit_that_divides_it() {
        assert_kernel(&[9], 4, Unit::Word, 1);
        assert_kernel(&[9, 3], 4, Unit::Word, 1);
        assert_kernel(&[9, 4], 4, Unit::Vec4, 1);
        assert_kernel(&[9, 16], 1, Unit::Vec4, 1);
        assert_kernel(&[9, 12], 1, Unit::Word, 1);
        assert_kernel(&[9, 3], 2, Unit::Byte, 1);
        assert_kernel(&[9, 64], 1, Unit::Vec4, 1);
        assert_kernel(&[9], 16, Unit::Vec4, 1);
        assert_kernel(&[9], 6, Unit::Byte, 1);
    }

    #[test]
    fn long_slices_are_shared_by_lanes() {
        assert_kernel(&[9, 31], 16, Unit::Vec4, 4);
        assert_kernel(&[9, 32], 16, Unit::Vec4, 8);
        assert_kernel(&[9, 9], 4, Unit::Word, 2);
        assert_kernel(&[9, 1 << 20], 16, Unit::Vec4, 64);
        assert_kernel(&[9, (1 << 20) + 1], 1, Unit::Byte, 1);
    }
}
