//! The table of kernels and the choice among them. Pure: knows sizes, not devices.

use std::ops::RangeInclusive;

use crate::element::IndexKind;

/// Invocations of a workgroup: two warps of NVIDIA, one wavefront of AMD, and a quarter of the least that
/// WebGPU guarantees.
pub(crate) const WORKGROUP_SIZE: u32 = 64;

/// Units that one lane copies before another lane helps.
const UNITS_PER_LANE: u64 = 4;

/// At most this many lanes (a power of two, as a shift) share a slice, unless it is longer than they may copy:
/// one workgroup.
const MAX_LANES_LOG2: u32 = WORKGROUP_SIZE.ilog2();

/// A lane copies fewer than twice as many. llvmpipe ends every loop after 65,535 turns and says nothing, and
/// under an emulated driver it may pose as a GPU.
const MANY_UNITS_PER_LANE: u64 = 4096;

/// What an entry point loads and stores at once. A slice is a whole number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unit {
    Vec4,
    Vec2,
    Word,
    Byte,
}

impl Unit {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 4] = [Self::Vec4, Self::Vec2, Self::Word, Self::Byte];

    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Self::Vec4 => 16,
            Self::Vec2 => 8,
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
    /// Groups of [`GROUP_ROWS`] rows that an invocation takes, where rows can be taken in groups; 0 if they
    /// are better not.
    pub(crate) groups: u32,
    /// A slice is one unit.
    pub(crate) one_unit: bool,
}

/// Rows whose indices an invocation loads together.
pub(crate) const GROUP_ROWS: u64 = 4;

/// What an invocation copies on a CPU that poses as a GPU, in whole groups but no more than so many. There, slices
/// of which a group is more are better taken one by one.
const CPU_INVOCATION_BYTES: u64 = 1024;
const MAX_GROUPS: u64 = 16;

/// Slices of these sizes are there copied in this many bytes an invocation, if enough workgroups are left to share:
/// each of the slices in flight is then as far from the next one in the output, a whole number of pages.
const CPU_PAGED_SLICES: RangeInclusive<u64> = 256..=1024;
const CPU_PAGED_INVOCATION_BYTES: u64 = 1 << 14;
const MIN_PAGED_WORKGROUPS: u64 = 16;

/// The largest index depth of entry points of groups.
pub(crate) const MAX_GROUPED_DEPTH: usize = 2;

impl Kernel {
    /// The widest unit that divides a slice. On a GPU a lane for every few units, and groups for slices of one
    /// unit, but of 8 bytes, which invocations side by side store as one. On a CPU that poses as one, where it is
    /// invocations and loads that cost, as few as make work for its cores and end in time.
    pub(crate) fn choose(
        slice_bytes: u64,
        output_rows: u64,
        device_type: wgpu::DeviceType,
    ) -> Self {
        let unit = match slice_bytes {
            bytes if bytes % 16 == 0 => Unit::Vec4,
            bytes if bytes % 8 == 0 => Unit::Vec2,
            bytes if bytes % 4 == 0 => Unit::Word,
            _ => Unit::Byte,
        };
        let one_unit = slice_bytes == unit.bytes();
        // A dispatch binds no more of a slice than 32 bits count.
        let units = slice_bytes.min(u32::MAX.into()) / unit.bytes();
        let lanes_log2 = |units_per_lane: u64| (units / units_per_lane).max(1).ilog2();
        let (lanes_log2, groups) = match (unit, device_type) {
            (Unit::Byte, _) => (0, 0),
            (_, wgpu::DeviceType::Cpu) => {
                let workgroup_bytes = u64::from(WORKGROUP_SIZE) * CPU_PAGED_INVOCATION_BYTES;
                let is_paged = CPU_PAGED_SLICES.contains(&slice_bytes)
                    && output_rows.saturating_mul(slice_bytes)
                        >= MIN_PAGED_WORKGROUPS * workgroup_bytes;
                let bytes = if is_paged {
                    CPU_PAGED_INVOCATION_BYTES
                } else {
                    CPU_INVOCATION_BYTES
                };
                let groups = bytes / GROUP_ROWS / slice_bytes.max(1);
                let groups = u32::try_from(groups.min(MAX_GROUPS)).expect("a few groups");
                (lanes_log2(MANY_UNITS_PER_LANE), groups)
            }
            _ => {
                let lanes_log2 = lanes_log2(UNITS_PER_LANE)
                    .min(MAX_LANES_LOG2)
                    .max(lanes_log2(MANY_UNITS_PER_LANE));
                (lanes_log2, u32::from(one_unit && unit != Unit::Vec2))
            }
        };
        Self {
            unit,
            lanes_log2,
            groups,
            one_unit,
        }
    }

    /// How an entry point takes rows that are grouped or not.
    pub(crate) fn rows(self, grouped: bool) -> Rows {
        match (grouped, self.one_unit, self.groups) {
            (false, _, _) => Rows::Single,
            (true, false, _) => Rows::Groups,
            (true, true, 1) => Rows::GroupOfUnits,
            (true, true, _) => Rows::GroupsOfUnits,
        }
    }
}

/// What a pipeline is made for: never a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PipelineKey {
    pub(crate) entry_point: EntryPoint,
    pub(crate) index_kind: IndexKind,
    pub(crate) from_end: bool,
    pub(crate) clamp: bool,
    /// Bad rows hold another value than zero.
    pub(crate) fill: bool,
    /// What an index row selects depends on its place too.
    pub(crate) places: bool,
    pub(crate) wide: bool,
    /// All output rows are of one part of params, of which all rows are bound; never if wide. Drivers that
    /// have no real branches would divide for nothing.
    pub(crate) one_part: bool,
    /// An operand that is only read lives in a buffer that is written, so that all are bound for both.
    pub(crate) one_buffer: bool,
    /// For entry points of groups; 1 for the others, which read it.
    pub(crate) index_depth: u32,
}

/// Which rows an invocation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rows {
    Single,
    /// Groups of [`GROUP_ROWS`] rows.
    Groups,
    /// The same of slices of one unit.
    GroupsOfUnits,
    /// One such group. What takes several is three times the code, and takes registers that a GPU has better uses for.
    GroupOfUnits,
}

impl Rows {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 4] = [
        Self::Single,
        Self::Groups,
        Self::GroupsOfUnits,
        Self::GroupOfUnits,
    ];
}

/// Where an entry point writes which rows are bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BadRowsTo {
    Nowhere,
    /// From where another entry point brings them into the report.
    Notes,
    /// Where the dispatch is alone, and small.
    Report,
}

impl BadRowsTo {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 3] = [Self::Nowhere, Self::Notes, Self::Report];
}

/// The compute shaders in shaders/gather.wgsl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryPoint {
    Gather {
        unit: Unit,
        /// Single ones of bytes.
        rows: Rows,
        bad_rows: BadRowsTo,
    },
    ReportBadRows,
    CountRows,
}

impl EntryPoint {
    pub(crate) const fn name(self) -> &'static str {
        let (unit, rows, bad_rows) = match self {
            Self::Gather {
                unit,
                rows,
                bad_rows,
            } => (unit, rows, bad_rows),
            Self::ReportBadRows => return "report_bad_rows",
            Self::CountRows => return "count_rows",
        };
        let [name, with_notes, with_report] = match (unit, rows) {
            (Unit::Vec4, Rows::Single) => [
                "gather_vec4",
                "gather_vec4_report",
                "gather_vec4_own_report",
            ],
            (Unit::Vec4, _) => [
                "gather_groups_vec4",
                "gather_groups_vec4_report",
                "gather_groups_vec4_own_report",
            ],
            (Unit::Vec2, Rows::Single) => [
                "gather_vec2",
                "gather_vec2_report",
                "gather_vec2_own_report",
            ],
            (Unit::Vec2, _) => [
                "gather_groups_vec2",
                "gather_groups_vec2_report",
                "gather_groups_vec2_own_report",
            ],
            (Unit::Word, Rows::Single) => [
                "gather_words",
                "gather_words_report",
                "gather_words_own_report",
            ],
            (Unit::Word, Rows::Groups) => [
                "gather_groups_words",
                "gather_groups_words_report",
                "gather_groups_words_own_report",
            ],
            (Unit::Word, Rows::GroupsOfUnits | Rows::GroupOfUnits) => [
                "gather_packed_words",
                "gather_packed_words_report",
                "gather_packed_words_own_report",
            ],
            (Unit::Byte, _) => [
                "gather_bytes",
                "gather_bytes_report",
                "gather_bytes_own_report",
            ],
        };
        match bad_rows {
            BadRowsTo::Nowhere => name,
            BadRowsTo::Notes => with_notes,
            BadRowsTo::Report => with_report,
        }
    }

    /// The bindings that the entry point reads or writes.
    pub(crate) const fn bindings(self) -> &'static [u32] {
        match self {
            Self::Gather { bad_rows, .. } => match bad_rows {
                BadRowsTo::Nowhere => &[
                    binding::WINDOW,
                    binding::PARAMS,
                    binding::INDICES,
                    binding::OUTPUT,
                ],
                BadRowsTo::Notes => &[
                    binding::WINDOW,
                    binding::PARAMS,
                    binding::INDICES,
                    binding::OUTPUT,
                    binding::NOTES,
                ],
                BadRowsTo::Report => &[
                    binding::WINDOW,
                    binding::PARAMS,
                    binding::INDICES,
                    binding::OUTPUT,
                    binding::NOTES,
                    binding::REPORT,
                ],
            },
            Self::ReportBadRows => &[
                binding::WINDOW,
                binding::INDICES,
                binding::NOTES,
                binding::REPORT,
            ],
            Self::CountRows => &[binding::COUNT, binding::COUNTED, binding::GRID],
        }
    }
}

/// The numbers of the shader's bindings.
pub(crate) mod binding {
    pub(crate) const WINDOW: u32 = 0;
    pub(crate) const PARAMS: u32 = 1;
    pub(crate) const INDICES: u32 = 2;
    pub(crate) const OUTPUT: u32 = 3;
    pub(crate) const NOTES: u32 = 4;
    pub(crate) const REPORT: u32 = 5;
    pub(crate) const COUNT: u32 = 6;
    pub(crate) const COUNTED: u32 = 7;
    pub(crate) const GRID: u32 = 8;
}

impl PipelineKey {
    /// The same for every gather.
    pub(crate) const COUNT_ROWS: Self = Self {
        entry_point: EntryPoint::CountRows,
        index_kind: IndexKind::U32,
        from_end: false,
        clamp: false,
        fill: false,
        places: false,
        wide: false,
        one_part: false,
        one_buffer: false,
        index_depth: 1,
    };

    /// One for each width of an index, which is all that the entry point reads of the gather.
    pub(crate) fn report_bad_rows(index_kind: IndexKind, one_buffer: bool) -> Self {
        Self {
            entry_point: EntryPoint::ReportBadRows,
            index_kind: match index_kind {
                IndexKind::I32 | IndexKind::U32 => IndexKind::U32,
                IndexKind::I64 | IndexKind::U64 => IndexKind::U64,
            },
            one_buffer,
            ..Self::COUNT_ROWS
        }
    }

    /// The shader's overrides.
    pub(crate) fn overrides(self) -> [(&'static str, f64); 12] {
        let flag = |set| f64::from(u8::from(set));
        let (one_unit, one_group) = match self.entry_point {
            EntryPoint::Gather { rows, .. } => (
                matches!(rows, Rows::GroupsOfUnits | Rows::GroupOfUnits),
                rows == Rows::GroupOfUnits,
            ),
            EntryPoint::ReportBadRows | EntryPoint::CountRows => (false, false),
        };
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
            ("INDEX_SIGNED", flag(self.index_kind.is_signed())),
            ("FROM_END", flag(self.from_end)),
            ("CLAMP", flag(self.clamp)),
            ("FILL", flag(self.fill)),
            ("PLACES", flag(self.places)),
            ("WIDE", flag(self.wide)),
            ("ONE_PART", flag(self.one_part)),
            ("INDEX_DEPTH", f64::from(self.index_depth)),
            ("ONE_UNIT", flag(one_unit)),
            ("ONE_GROUP", flag(one_group)),
        ]
    }
}

#[cfg(test)]
mod tests;
