//! Counts the chosen kernels' memory accesses, by a model of a GPU with 32-lane subgroups. The model serves an instruction in
//! parts that carry 128 bytes of payload; a part takes one wavefront for each 128-byte line that it touches. The interpreter
//! runs some subgroups in each gather.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::lanes::{Case, Run, mixed};
use crate::element::ElementTypes;
use crate::gpu::cut::Dispatch;
use crate::gpu::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use crate::gpu::shaders::binding;
use crate::index::IndexKind;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};
use naga_interpreter::Access;

const SUBGROUP: u32 = 32;
const LINE_BYTES: u64 = 128;

/// Params rows in a gather: more than a cache holds, but at most 2 GiB in all.
const PARAMS_ROWS: u64 = 1 << 20;

/// Bytes that a subgroup stores at once. A kernel needs one wavefront for less output too, so storing a smaller output counts as
/// storing a whole line.
const SUBGROUP_BYTES: u64 = 16 * SUBGROUP as u64;

const SLICE_BYTES: [u64; 30] = [
    1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 36, 48, 64, 80, 96, 128, 256, 400, 512, 1024, 1200, 4096,
    4112, 5120, 6144, 8192, 10240, 32768, 65536,
];
const ROWS: [u64; 7] = [1, 8, 64, 512, 4096, 1 << 15, 1 << 20];

#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    wavefronts: u64,
    payload: u64,
}

impl Cost {
    fn wavefronts_a_kib(self) -> f64 {
        self.wavefronts as f64 * 1024.0 / self.payload.max(1) as f64
    }
}

/// What some subgroups in a gather cost.
#[derive(Debug, Default)]
struct Measured {
    /// Wavefronts that load params, for the payload that is stored.
    loads: Cost,
    stores: Cost,
    /// Bytes that lanes store, and how many of these were stored before, by another lane or the same one.
    stored: u64,
    repeated: u64,
    working_lanes: u64,
    /// Most rounds that a lane takes: 1 if each lane loads all indices, then all params, then stores.
    rounds: usize,
}

impl Measured {
    fn add_all(&mut self, case: &Case<'_>, dispatch: &Dispatch, workgroups: Range<u64>) {
        for workgroup in workgroups {
            for first in (0..WORKGROUP_SIZE).step_by(SUBGROUP as usize) {
                self.add(case, dispatch, workgroup, first);
            }
        }
    }

    /// Runs a subgroup.
    fn add(&mut self, case: &Case<'_>, dispatch: &Dispatch, workgroup: u64, first: u32) {
        let mut instructions: BTreeMap<u64, Vec<(u32, Access)>> = BTreeMap::new();
        let mut unique = BTreeSet::new();
        let mut all = 0;
        for lane in first..first + SUBGROUP {
            let mut run = Run::new(case, false);
            run.accesses = Some(Vec::new());
            run.dispatch(dispatch, [workgroup], lane..=lane);
            let mut accesses = run.accesses.unwrap_or_default();
            accesses.retain(|access| access.binding != binding::UNIFORM);
            self.rounds = self.rounds.max(rounds(&accesses));
            let stored = accesses
                .iter()
                .filter(|access| access.binding == binding::OUTPUT);
            let words = stored.flat_map(|access| {
                (access.offset..access.offset + u64::from(access.bytes)).step_by(4)
            });
            let words: Vec<u64> = words.collect();
            self.working_lanes += u64::from(!words.is_empty());
            all += words.len() as u64 * 4;
            unique.extend(words);
            for access in accesses {
                instructions
                    .entry(access.site)
                    .or_default()
                    .push((lane - first, access));
            }
        }
        let payload = unique.len() as u64 * 4;
        self.stored += all;
        self.repeated += all - payload;
        let mut store_instructions = 0;
        for accesses in instructions.values() {
            let wavefronts = wavefronts(accesses);
            match accesses[0].1.binding {
                binding::PARAMS => self.loads.wavefronts += wavefronts,
                binding::OUTPUT => {
                    self.stores.wavefronts += wavefronts;
                    store_instructions += 1;
                }
                _ => {}
            }
        }
        self.loads.payload += payload;
        self.stores.payload += match case.output_end() {
            0..SUBGROUP_BYTES => payload.max(store_instructions * LINE_BYTES),
            _ => payload,
        };
    }
}

/// Wavefronts that one instruction takes, from the accesses by a subgroup's lanes.
fn wavefronts(accesses: &[(u32, Access)]) -> u64 {
    let mut lines = BTreeSet::new();
    for &(lane, access) in accesses {
        let served = u64::from(lane) * u64::from(access.bytes) / LINE_BYTES;
        lines.insert((served, access.offset / LINE_BYTES));
    }
    lines.len() as u64
}

/// Rounds that a lane takes: 1, and 1 more each time it turns back, from params or a store to indices, or from a store to
/// params.
fn rounds(accesses: &[Access]) -> usize {
    let stage = |access: &Access| match access.binding {
        binding::INDICES => 0,
        binding::PARAMS => 1,
        _ => 2,
    };
    let turns_back = accesses
        .windows(2)
        .filter(|two| stage(&two[1]) < stage(&two[0]));
    usize::from(!accesses.is_empty()) + turns_back.count()
}

/// Measures a gather that selects random rows in one block.
fn measure(slice_bytes: u64, rows: u64) -> (Measured, u64, Kernel) {
    let params_rows = PARAMS_ROWS.min((1 << 31) / slice_bytes);
    let shape = |size: u64| usize::try_from(size).expect("tests run where sizes are usize");
    let plan = Gather::new().plan(&[shape(params_rows), shape(slice_bytes)], &[shape(rows)]);
    measure_plan(plan.expect("a valid shape"), 1, IndexKind::I32)
}

/// Measures a gather that selects random rows. Returns what the middle workgroup costs (with those that share its slice; up to 4
/// workgroups all count), the number of lanes that store, and the kernel.
fn measure_plan(
    plan: GatherPlan,
    element_bytes: u64,
    index_kind: IndexKind,
) -> (Measured, u64, Kernel) {
    let types = ElementTypes::new(element_bytes, index_kind);
    let dims = plan.dims().indexed_dims.clone();
    let index = |at: u64| {
        let k = usize::try_from(at % dims.len() as u64).expect("dims are few");
        i128::from(u64::from(mixed(at)) % dims[k])
    };
    let case = Case::new(plan, types, &index);
    // An output above 4 GiB takes several dispatches; the first stands for all.
    let dispatch = case.dispatches()[0];
    let workgroups = dispatch.shares.workgroups;
    // The number of neighbouring workgroups that share a slice.
    let period = dispatch.shares.slice_workgroups;
    let mut measured = Measured::default();
    if workgroups <= 4 {
        measured.add_all(&case, &dispatch, 0..workgroups);
        let lanes = measured.working_lanes;
        return (measured, lanes, dispatch.kernel);
    }
    let middle = workgroups / period / 2 * period;
    measured.add_all(&case, &dispatch, middle..middle + period);
    let full = measured.working_lanes * (workgroups / period - 1);
    let mut last = Measured::default();
    last.add_all(&case, &dispatch, workgroups - period..workgroups);
    measured.rounds = measured.rounds.max(last.rounds);
    (measured, full + last.working_lanes, dispatch.kernel)
}

/// True if `lanes` keep a GPU busy: 65,536 of them, or one for each 64 output bytes.
fn is_enough(lanes: u64, output_bytes: u64) -> bool {
    lanes * 64 >= output_bytes.min(64 << 16)
}

#[test]
fn kernels_are_chosen_for_gpus() {
    let mut misses = Vec::new();
    for slice_bytes in SLICE_BYTES {
        for rows in ROWS {
            let (measured, lanes, kernel) = measure(slice_bytes, rows);
            let mut check = |is_met: bool, line: &str, found: f64, limit: f64| {
                if !is_met {
                    misses.push(format!(
                        "{slice_bytes} B x {rows}, {kernel:?}: {line} {found:.1}, limit {limit:.1}"
                    ));
                }
            };
            let output_bytes = slice_bytes * rows;
            let least = output_bytes.min(64 << 16) / 64;
            check(
                is_enough(lanes, output_bytes),
                "lanes",
                lanes as f64,
                least as f64,
            );
            let lines = slice_bytes.div_ceil(LINE_BYTES);
            let least = (1024.0 / slice_bytes as f64 * lines as f64).max(8.0);
            // Slices may start within lines, and their last units are few.
            let limit = least
                * match kernel {
                    Kernel::Bytes { .. } => 4.0,
                    _ => 2.25,
                };
            let loads = measured.loads.wavefronts_a_kib();
            check(loads <= limit, "load wavefronts a KiB", loads, limit);
            let stores = measured.stores.wavefronts_a_kib();
            // A whole line can be stored at once, unless slices start within lines.
            let limit = if slice_bytes.is_multiple_of(LINE_BYTES) {
                10.0
            } else {
                20.0
            };
            check(stores <= limit, "store wavefronts a KiB", stores, limit);
            let unique = measured.stored - measured.repeated;
            let repeats = measured.repeated as f64 * 100.0 / unique.max(1) as f64;
            check(
                repeats <= 15.0 || output_bytes <= SUBGROUP_BYTES,
                "repeated bytes in 100",
                repeats,
                15.0,
            );
            if matches!(
                kernel,
                Kernel::Rows(_) | Kernel::FourRows(_) | Kernel::Packed { .. }
            ) {
                check(measured.rounds == 1, "rounds", measured.rounds as f64, 1.0);
            }
        }
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Calls with batches, outer dims, elements, index rows or other index types: their accesses are dense, too.
#[test]
fn other_calls_are_dense() {
    let along = |batch_dims, axis, params: &[usize], indices: &[usize]| {
        let gather = Gather::new().batch_dims(batch_dims).axis(axis);
        gather.plan(params, indices).expect("a valid shape")
    };
    let elements = |axis, params: &[usize], indices: &[usize]| {
        let gather = GatherElements::new().axis(axis);
        gather.plan(params, indices).expect("a valid shape")
    };
    let nd = |params: &[usize], indices: &[usize]| {
        let plan = GatherNd::new().plan(params, indices);
        plan.expect("a valid shape")
    };
    let (i32, i64, u8) = (IndexKind::I32, IndexKind::I64, IndexKind::U8);
    let (four_vec4, four_words) = (Kernel::FourRows(Unit::Vec4), Kernel::FourRows(Unit::Word));
    let four_bytes = Kernel::Packed { slice_bytes: 4 };
    let bytes = Kernel::Bytes { lane_words: 4 };
    for (plan, element_bytes, index_kind, kernel) in [
        (along(1, 1, &[64, 4096, 64], &[64, 1024]), 4, i32, four_vec4),
        (along(0, 1, &[512, 4096, 16], &[512]), 4, i32, four_vec4),
        (
            along(1, 2, &[8, 12, 4096, 128], &[8, 1024]),
            4,
            i64,
            four_vec4,
        ),
        (along(0, 1, &[64, 4096, 9], &[1024]), 4, i32, four_words),
        (
            elements(1, &[65_536, 256], &[65_536, 64]),
            4,
            i32,
            four_bytes,
        ),
        (
            elements(0, &[256, 65_536], &[64, 65_536]),
            4,
            i64,
            four_bytes,
        ),
        (
            elements(1, &[100_000, 16], &[100_000, 10]),
            4,
            i32,
            Kernel::Lines,
        ),
        (nd(&[256, 1], &[1 << 22, 1]), 4, u8, four_bytes),
        (nd(&[256, 4], &[1 << 22, 1]), 4, u8, four_vec4),
        (nd(&[64, 128, 128, 16], &[1 << 20, 3]), 4, i32, four_vec4),
        (nd(&[33_552, 1001], &[16_776, 1]), 2, i32, bytes),
        (nd(&[1 << 20, 25], &[1 << 20, 1]), 2, i64, bytes),
        (nd(&[1 << 20, 19], &[1 << 20, 1]), 1, i32, bytes),
    ] {
        let name = format!("{plan}, {element_bytes} B, {index_kind}");
        let slice_bytes = plan.dims().slice_len * element_bytes;
        let (measured, _, found) = measure_plan(plan, element_bytes, index_kind);
        assert_eq!(found, kernel, "{name}");
        let lines = slice_bytes.div_ceil(LINE_BYTES);
        let dense = (1024.0 / slice_bytes as f64 * lines as f64).max(8.0);
        // A lane of four words loads and stores them one by one, 16 bytes from its neighbour's, and may load from two
        // slices.
        let (loads, stores, rounds) = match kernel {
            Kernel::Bytes { .. } => (12.0 * dense, 4.0 * 8.0, 2),
            // Slices start within lines.
            _ if slice_bytes > 4 && !slice_bytes.is_multiple_of(16) => (2.25 * dense, 20.0, 1),
            _ => (2.25 * dense, 1.25 * 8.0, 1),
        };
        let found = [measured.loads, measured.stores].map(Cost::wavefronts_a_kib);
        assert!(found[0] <= loads && found[1] <= stores, "{name}: {found:?}");
        let unique = measured.stored - measured.repeated;
        assert!(
            measured.repeated * 100 <= unique * 15,
            "{name}: {measured:?}"
        );
        assert!(measured.rounds <= rounds, "{name}: {}", measured.rounds);
    }
}

#[test]
fn a_cap_of_64_lanes_a_slice_is_refused() {
    for (slice_bytes, rows) in [(65536, 1), (65536, 8), (32768, 64)] {
        let (_, lanes, _) = measure(slice_bytes, rows);
        assert!(is_enough(lanes, slice_bytes * rows));
        assert!(!is_enough(lanes.min(64 * rows), slice_bytes * rows));
    }
}
