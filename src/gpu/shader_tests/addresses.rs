//! Tests addresses in large operands: some workgroups of gathers whose bindings end near 4 GiB, or that have many blocks. Every
//! access must stay in its binding, and each workgroup must write its share of the output and no more.

use std::collections::BTreeSet;

use super::lanes::{Case, Run, index_of, mixed, workgroup_bytes};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::element::ElementTypes;
use crate::gpu::find_rows::FindRows;
use crate::gpu::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use crate::index::IndexKind::{self, I32, I64, U32, U64};
use crate::{Gather, GatherElements, GatherNd, GatherPlan};

/// Most bytes in a binding: whole words that 32 bits can count.
pub(super) const MOST: u64 = (1 << 32) - 64;

/// The index at a position: its dim's first or last entry, one out of range, or a random one.
fn index(dims: &[u64], kind: IndexKind, at: u64) -> i128 {
    let k = usize::try_from(at % dims.len() as u64).expect("dims are few");
    let (dim, random) = (i128::from(dims[k]), i128::from(mixed(at)));
    let value = match random % 16 {
        0 => 0,
        1 => dim,
        2 => -1,
        3 => -dim,
        4..8 => dim - 1,
        _ => (i128::from(mixed(at + 1)) << 32 | random) % dim,
    };
    let is_held = match kind {
        IndexKind::I32 => i32::try_from(value).is_ok(),
        IndexKind::U32 => u32::try_from(value).is_ok(),
        IndexKind::I64 => true,
        IndexKind::U64 => value >= 0,
        kind => panic!("no {kind} here"),
    };
    if is_held { value } else { 0 }
}

/// Runs some workgroups in some dispatches. Returns each dispatch's kernel, and true if its row finder is the general one.
fn run(plan: &GatherPlan, element_bytes: u64, kind: IndexKind) -> Vec<(Kernel, bool)> {
    run_types(plan, ElementTypes::new(element_bytes, kind))
}

/// As [`run`], also for encoded params.
pub(super) fn run_types(plan: &GatherPlan, types: ElementTypes) -> Vec<(Kernel, bool)> {
    let dims = plan.dims().indexed_dims.clone();
    let value = |at: u64| index(&dims, types.index_kind, at);
    let case = Case::new(plan.clone(), types, &value);
    let dispatches = case.dispatches();
    let last = dispatches.len() - 1;
    let some: BTreeSet<_> = [0, 1, last / 2, last.saturating_sub(1), last].into();
    let some = dispatches
        .iter()
        .enumerate()
        .filter(|(n, _)| some.contains(n));
    let mut kernels = Vec::new();
    for (_, dispatch) in some {
        for bound in [dispatch.params, dispatch.indices, dispatch.output] {
            assert!(bound.bytes <= MOST, "{plan}: {bound:?}");
        }
        kernels.push((dispatch.kernel, dispatch.find == FindRows::General));
        let workgroups = dispatch.shares.workgroups;
        let grid = dispatch.workgroups.map(u64::from).iter().product::<u64>();
        let all = 0..WORKGROUP_SIZE;
        let mut run = Run::new(&case, true);
        for workgroup in BTreeSet::from([0, workgroups - 1]) {
            run.dispatch(dispatch, [workgroup], all.clone());
            let share = workgroup_bytes(&case, dispatch, workgroup);
            assert!(
                share.start < share.end,
                "{plan}: workgroup {workgroup} of {dispatch:?}"
            );
            for (at, _) in case.expected(dispatch, share) {
                assert!(run.is_written(at), "{plan}: byte {at} of {dispatch:?}");
            }
        }
        let middle = [workgroups / 3, workgroups / 2, workgroups.saturating_sub(2)];
        let some = all.filter(|lane| [0, 1, 2, 31, 32, 33, 100, 254, 255].contains(lane));
        let beyond = workgroups..grid.min(workgroups + 1);
        run.dispatch(dispatch, middle.into_iter().chain(beyond), some);
        run.check_written(dispatch);
    }
    kernels
}

pub(super) fn gather(params: &[usize], indices: &[usize]) -> GatherPlan {
    along(0, 0, params, indices)
}

fn along(batch_dims: i64, axis: i64, params: &[usize], indices: &[usize]) -> GatherPlan {
    let gather = Gather::new().batch_dims(batch_dims).axis(axis);
    let gather = gather.bad_indices(BadIndices::Fill);
    let gather = gather.negative_indices(NegativeIndices::FromEnd);
    gather.plan(params, indices).expect("a valid shape")
}

fn nd(params: &[usize], indices: &[usize]) -> GatherPlan {
    let gather = GatherNd::new().bad_indices(BadIndices::Clamp);
    gather.plan(params, indices).expect("a valid shape")
}

const WORDS: Kernel = Kernel::Rows(Unit::Word);
const VEC4: Kernel = Kernel::Rows(Unit::Vec4);
const ONE_WORD: Kernel = Kernel::Bytes { lane_words: 1 };
const FOUR_WORDS: Kernel = Kernel::Bytes { lane_words: 4 };
const FOUR_ROWS: Kernel = Kernel::FourRows(Unit::Word);
const FOUR_VEC4: Kernel = Kernel::FourRows(Unit::Vec4);
const LINES: Kernel = Kernel::Lines;
const LONG_WORDS: Kernel = Kernel::Long(Unit::Word);
const LONG_VEC4: Kernel = Kernel::Long(Unit::Vec4);

const fn packed(slice_bytes: u32) -> Kernel {
    Kernel::Packed { slice_bytes }
}

/// Runs gathers, and asserts which kernel and row finder each one's first dispatch uses.
#[track_caller]
fn check(is_general: bool, cases: &[(GatherPlan, u64, IndexKind, Kernel)]) {
    for (plan, element_bytes, kind, kernel) in cases {
        let kernels = run(plan, *element_bytes, *kind);
        assert_eq!(kernels[0], (*kernel, is_general), "{plan}");
    }
}

#[test]
fn params_that_end_near_4_gib_are_gathered() {
    check(
        false,
        &[
            (gather(&[1_431_655_744, 3], &[1000]), 1, I32, ONE_WORD),
            (gather(&[1, 4_294_967_231], &[2]), 1, I32, FOUR_WORDS),
            (gather(&[226_050_906, 19], &[1000]), 1, I64, FOUR_WORDS),
            (gather(&[357_913_936, 3], &[1000]), 4, I64, WORDS),
            (gather(&[(1 << 28) - 4], &[1000]), 16, U32, VEC4),
            (gather(&[1_047_552, 1025], &[7]), 4, I32, LONG_WORDS),
            (gather(&[261_888, 1025], &[7]), 16, I32, LONG_VEC4),
            (gather(&[(1 << 30) - 16], &[1040]), 4, I32, packed(4)),
            (gather(&[(1 << 31) - 32], &[1040]), 2, I32, packed(2)),
            (gather(&[1 << 31], &[1040]), 1, I32, packed(1)),
        ],
    );
}

#[test]
fn output_and_indices_that_end_near_4_gib_are_gathered() {
    check(
        false,
        &[
            (gather(&[5, 3], &[1_431_656_764]), 1, I32, ONE_WORD),
            (gather(&[5, 3], &[357_913_941]), 4, I64, FOUR_ROWS),
            (gather(&[5], &[(1 << 28) + 77]), 16, U32, FOUR_VEC4),
            (gather(&[5, 1025], &[1_047_553]), 4, I32, LONG_WORDS),
            (gather(&[5, 1025], &[261_889]), 16, I32, LONG_VEC4),
            (gather(&[5], &[(1 << 30) + 3]), 4, I32, packed(4)),
            (gather(&[5], &[(1 << 31) + 5]), 2, U64, packed(2)),
            (gather(&[5], &[(1 << 32) + 5]), 1, I32, packed(1)),
            (nd(&[5, 3], &[(1 << 29) + 9, 2]), 4, I64, packed(4)),
        ],
    );
}

#[test]
fn blocks_that_end_near_4_gib_are_gathered() {
    check(
        false,
        &[
            (
                along(1, 1, &[2, 715_827_872, 3], &[2, 100]),
                1,
                I32,
                ONE_WORD,
            ),
            (along(1, 1, &[2, 134_217_726], &[2, 1000]), 16, I32, VEC4),
            (along(0, 1, &[3, 349_184, 1025], &[5]), 4, I32, LONG_WORDS),
            (
                along(1, 1, &[2, 536_870_904], &[2, 1040]),
                4,
                I64,
                packed(4),
            ),
            (along(0, 1, &[2, 1_073_741_808], &[1040]), 2, I32, packed(2)),
            (along(0, 1, &[4, 536_870_912], &[1040]), 1, I32, packed(1)),
            (along(0, 1, &[1_000_003, 5], &[1070]), 16, I32, VEC4),
            (along(0, 1, &[1 << 24, 3, 3], &[85]), 1, I32, ONE_WORD),
        ],
    );
}

#[test]
fn rows_of_64_bits_are_gathered_from_their_windows() {
    check(
        true,
        &[
            (gather(&[1 << 33], &[1000]), 1, U64, ONE_WORD),
            (gather(&[1 << 33], &[1000]), 16, I64, VEC4),
            (gather(&[1 << 33, 1025], &[7]), 4, I64, LONG_WORDS),
            (gather(&[(1 << 32) - 1], &[1000]), 1, U32, ONE_WORD),
            (along(1, 1, &[2, 1 << 32], &[2, 300]), 4, U64, WORDS),
            (nd(&[1024, 1024, 1365, 3], &[1000, 3]), 1, I32, ONE_WORD),
            (nd(&[1 << 12, 1 << 12, 1 << 12], &[1000, 3]), 16, I64, VEC4),
            (nd(&[64, 64, 255, 1025], &[7, 3]), 4, I32, LONG_WORDS),
            (
                elements(&[1 << 17, (1 << 14) + 1], &[1 << 15, 1000]),
                4,
                I32,
                WORDS,
            ),
        ],
    );
    // Params rows that one word counts, in several windows.
    check(
        false,
        &[
            (gather(&[1 << 31, 3], &[1000]), 1, U32, ONE_WORD),
            (gather(&[1 << 31], &[1000]), 16, I64, VEC4),
            (nd(&[1024, 1024, 1023], &[1000, 3]), 4, I32, WORDS),
            (nd(&[2, 1024, 1024, 1024], &[1000, 4]), 16, U64, VEC4),
            (gather(&[1 << 31, 3], &[1000]), 4, I32, WORDS),
            (gather(&[1 << 30, 1025], &[7]), 4, I64, LONG_WORDS),
            (
                elements(&[1 << 16, (1 << 14) - 1], &[1 << 15, 1000]),
                4,
                I32,
                packed(4),
            ),
            (
                elements(&[1 << 16, (1 << 14) - 1], &[1 << 15, 999]),
                4,
                I64,
                LINES,
            ),
        ],
    );
}

fn elements(params: &[usize], indices: &[usize]) -> GatherPlan {
    let gather = GatherElements::new().bad_indices(BadIndices::Fill);
    gather.plan(params, indices).expect("a valid shape")
}

#[test]
fn blocks_of_any_size_take_four_rows_a_lane() {
    check(
        false,
        &[
            (along(0, 1, &[1_000_000, 3, 4], &[1]), 4, I32, VEC4),
            (
                along(1, 1, &[1_000_000, 5, 16], &[1_000_000, 2]),
                4,
                I32,
                VEC4,
            ),
            (along(1, 1, &[50_000, 5, 3], &[50_000, 7]), 4, I32, WORDS),
            (along(1, 2, &[300, 40, 9, 2], &[300, 63]), 4, I32, WORDS),
            (along(1, 2, &[300, 40, 9, 9], &[300, 1]), 4, I64, WORDS),
            (along(1, 2, &[3, 40, 9, 9], &[3, 100]), 4, I64, WORDS),
            (along(1, 2, &[3, 40, 9, 9], &[3, 1000]), 4, I64, FOUR_ROWS),
            (along(1, 2, &[300, 40, 9], &[300, 64]), 4, I32, packed(4)),
            (along(1, 2, &[300, 40, 9], &[300, 64]), 1, I64, packed(1)),
            (gather(&[9], &[131_075]), 16, I32, FOUR_VEC4),
            (gather(&[9, 9], &[131_075]), 4, I32, FOUR_ROWS),
            (gather(&[9, 255], &[2049]), 4, I32, FOUR_ROWS),
            (gather(&[9, 256], &[2049]), 16, I32, FOUR_VEC4),
        ],
    );
}

/// A dispatch's grid numbers up to 65,535 batches, blocks in a batch, and workgroups in a block.
#[test]
fn blocks_that_fill_a_grid_take_four_rows_a_lane() {
    let blocks = |batches, indices| along(1, 1, &[batches, 5, 16], &[batches, indices]);
    let outer = |outer| along(0, 1, &[outer, 5, 16], &[256]);
    // A workgroup copies 512 rows of 8 bytes.
    let workgroups = |workgroups: usize| along(0, 1, &[2, 9, 2], &[512 * workgroups]);
    check(
        false,
        &[
            (blocks(65_535, 256), 4, I32, FOUR_VEC4),
            (blocks(65_535, 255), 4, I32, VEC4),
            (blocks(65_536, 256), 4, I32, VEC4),
            (outer(65_535), 4, I64, FOUR_VEC4),
            (outer(65_536), 4, I64, VEC4),
            (workgroups(65_535), 4, U32, FOUR_ROWS),
            (workgroups(65_536), 4, U32, WORDS),
            (
                along(1, 2, &[600, 500, 5, 3], &[600, 400]),
                4,
                I32,
                FOUR_ROWS,
            ),
            (along(1, 1, &[9, 7], &[9, 1 << 16]), 16, U32, FOUR_VEC4),
        ],
    );
}

/// Shards that hold a few rows, while params has up to 2^63.
#[test]
fn rows_of_64_bits_are_products_of_words() {
    for (number, dims) in (0..).zip([
        [1_000_003, 4_000_000_007],
        [65_537, 4_294_967_295],
        [4_294_967_295, 2_000_000_011],
    ]) {
        for seed in 0..16 {
            let [a, b] = [0, 1].map(|k| u64::from(mixed(number << 8 | seed << 1 | k)));
            let (a, b) = (a % dims[0], b % (dims[1] - 40));
            let first_row = index_of(a * dims[1] + b);
            let value = |at: u64| i128::from(if at.is_multiple_of(2) { a } else { b + at / 2 });
            let shape = dims.map(index_of);
            let plan = nd(&shape, &[40, 2]).shard(first_row..first_row + 30);
            let types = ElementTypes::new(1, if seed % 2 == 0 { I64 } else { U64 });
            let case = Case::new(plan.expect("rows in range"), types, &value);
            let mut run = Run::new(&case, true);
            run.all();
            run.check_all();
        }
    }
}
