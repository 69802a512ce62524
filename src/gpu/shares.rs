//! How workgroups share the rows of a dispatch. Pure: functions of sizes.

use super::kernel::{Kernel, LANE_BYTES, LANE_ROWS, LANE_UNITS, WORKGROUP_SIZE};
use super::types::size;

/// The bytes that 32 lanes, a subgroup, load or store at once if each takes a unit of 16 bytes.
const SUBGROUP_BYTES: u64 = 512;

/// Bits after the binary point in the uniform's slot_scale.
pub(crate) const SLOT_BITS: u32 = 16;

impl Kernel {
    /// Rows from which a lane of `Rows` or `FourRows` copies one unit each.
    pub(crate) const fn lane_rows(self) -> u64 {
        match self {
            Self::FourRows(_) => LANE_ROWS as u64,
            _ => 1,
        }
    }

    /// The output bytes that a lane owns wherever slices begin, in `Packed`, `Lines`, `Bytes` and `Halves`; `None` if lanes own units.
    pub(crate) const fn lane_bytes(self) -> Option<u64> {
        match self {
            Self::Packed { .. } | Self::Lines => Some(LANE_BYTES as u64),
            Self::Bytes { lane_words } => Some(4 * lane_words as u64),
            Self::Halves(_) => Some(4),
            Self::Rows(_) | Self::FourRows(_) | Self::Long(_) | Self::WordParts => None,
        }
    }

    /// How workgroups share `rows` slices or pieces, each with `bytes` bytes. In the output they end `output_bytes` bytes after the
    /// word in which the first one starts.
    pub(crate) fn shares(self, rows: u64, bytes: u64, output_bytes: u64) -> Shares {
        let units = bytes / self.slice_unit_bytes();
        if let Some(lane_bytes) = self.lane_bytes() {
            return Shares {
                slots: 0,
                workgroups: output_bytes.div_ceil(lane_bytes * u64::from(WORKGROUP_SIZE)),
                ..Shares::ONE
            };
        }
        match self {
            Self::Long(_) => {
                let lanes = units.div_ceil(LANE_UNITS.into());
                let slice_workgroups = lanes.div_ceil(WORKGROUP_SIZE.into());
                Shares {
                    lane_step: lanes.div_ceil(slice_workgroups),
                    slice_workgroups,
                    workgroups: rows * slice_workgroups,
                    ..Shares::ONE
                }
            }
            Self::FourRows(_) => {
                let step = 1 << (SUBGROUP_BYTES / bytes).max(1).ilog2();
                let slots = u64::from(WORKGROUP_SIZE) / units / step * step;
                Shares::of_slots(slots, step, rows)
            }
            Self::WordParts => {
                let words = bytes / 4;
                let (size, slice_workgroups) = (
                    u64::from(WORKGROUP_SIZE),
                    words.div_ceil(WORKGROUP_SIZE.into()),
                );
                let slots = (size / words).max(1);
                Shares {
                    slots,
                    lane_step: words,
                    slice_workgroups,
                    workgroups: rows.div_ceil(slots) * slice_workgroups,
                }
            }
            _ => Shares::of_slots(u64::from(WORKGROUP_SIZE) / units, 0, rows),
        }
    }
}

/// How the workgroups of a dispatch share its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    /// How many slices a workgroup copies at once; 0 for kernels whose lanes own bytes.
    pub(crate) slots: u64,
    /// `FourRows`: the distance between a lane's rows, a power of two. `Long`: the distance between a lane's units, which is
    /// how many lanes of a workgroup copy. `WordParts`: the words in a slice. Else 0.
    pub(crate) lane_step: u64,
    /// The number of workgroups that copy one slice: 1 for every kernel but `Long` and `WordParts`.
    pub(crate) slice_workgroups: u64,
    pub(crate) workgroups: u64,
}

impl Shares {
    const ONE: Self = Self {
        slots: 1,
        lane_step: 0,
        slice_workgroups: 1,
        workgroups: 1,
    };

    const fn of_slots(slots: u64, lane_step: u64, rows: u64) -> Self {
        let lane_rows = if lane_step > 0 { LANE_ROWS as u64 } else { 1 };
        Self {
            slots,
            lane_step,
            workgroups: rows.div_ceil(slots * lane_rows),
            ..Self::ONE
        }
    }
}

/// The grid that holds all workgroups: width, height, and a depth of 1. It has as few rows as the device allows, all equally
/// wide.
pub(crate) fn grid(workgroups: u64, max_width: u64) -> [u32; 3] {
    let height = workgroups.div_ceil(max_width);
    [size(workgroups.div_ceil(height)), size(height), 1]
}

/// The uniform's slot_scale where a slice has `units` units.
pub(crate) const fn slot_scale(units: u32) -> u32 {
    (1_u32 << SLOT_BITS).div_ceil(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernel::Unit;

    #[test]
    fn four_rows_are_a_subgroup_of_bytes_apart() {
        let shares = |kernel: Kernel, rows, bytes| {
            let shares = kernel.shares(rows, bytes, 0);
            (shares.slots, shares.lane_step, shares.workgroups)
        };
        let (one, four) = (Kernel::Rows(Unit::Vec4), Kernel::FourRows(Unit::Vec4));
        // A workgroup has lanes for 85 slices of 3 units, or for 80 slices in steps of 8.
        assert_eq!(shares(one, 43_688, 48), (85, 0, 514));
        assert_eq!(shares(four, 43_692, 48), (80, 8, 137));
        assert_eq!(shares(one, 1, 4096), (1, 0, 1));
        assert_eq!(shares(one, 511, 4096), (1, 0, 511));
        assert_eq!(shares(four, 515, 4096), (1, 1, 129));
        assert_eq!(shares(four, 1 << 20, 16), (256, 32, 1024));
    }

    #[test]
    fn a_multiplication_tells_each_lane_its_slice() {
        for units in 1..=WORKGROUP_SIZE {
            for lane in 0..WORKGROUP_SIZE {
                let slot = (lane * slot_scale(units)) >> SLOT_BITS;
                assert_eq!(slot, lane / units, "{lane} by {units}");
            }
        }
    }

    #[test]
    fn workgroups_share_long_slices_without_a_cap() {
        let long = |rows, units: u64| {
            let shares = Kernel::Long(Unit::Word).shares(rows, units * 4, 0);
            (shares.slice_workgroups, shares.lane_step, shares.workgroups)
        };
        assert_eq!(long(8, 257), (1, 65, 8));
        assert_eq!(long(8, 1024), (1, 256, 8));
        // 257 lanes, in two workgroups of 129.
        assert_eq!(long(8, 1025), (2, 129, 16));
        assert_eq!(long(1, 1 << 28), (1 << 18, 256, 1 << 18));
    }

    #[test]
    fn packed_and_bytes_lanes_own_parts_of_the_output() {
        let packed = |slice_bytes: u32, rows| {
            let kernel = Kernel::Packed { slice_bytes };
            let bytes = u64::from(slice_bytes);
            kernel.shares(rows, bytes, rows * bytes).workgroups
        };
        assert_eq!([packed(1, 4096), packed(1, 4112)], [1, 2]);
        assert_eq!([packed(4, 1024), packed(4, 1028)], [1, 2]);
        let bytes = |kernel: Kernel, rows, bytes, start| {
            kernel.shares(rows, bytes, start + rows * bytes).workgroups
        };
        // A workgroup writes 256 words, or four times as many. Rows that start within a word may reach into one word
        // more.
        let [one, four] = [1, 4].map(|lane_words| Kernel::Bytes { lane_words });
        assert_eq!([bytes(one, 1, 1024, 0), bytes(one, 1, 1024, 1)], [1, 2]);
        assert_eq!([bytes(one, 341, 3, 1), bytes(one, 341, 3, 2)], [1, 2]);
        assert_eq!([bytes(four, 2, 2047, 2), bytes(four, 2, 2047, 3)], [1, 2]);
    }
}
