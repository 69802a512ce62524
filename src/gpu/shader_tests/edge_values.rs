//! Tests each kernel with indices at the edges of types and dims, under each policy, against the oracle and the CPU.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::lanes::{Case, Run};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::element::ElementTypes;
use crate::gpu::find_rows::FindRows;
use crate::gpu::kernel::{Kernel, Unit};
use crate::index::IndexKind;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};
use gather_oracle::sweep;

/// Bytes in a slice, and in an element.
const SLICES: [(u64, usize); 10] = [
    (1, 1),
    (2, 1),
    (4, 2),
    (3, 3),
    (7, 7),
    (12, 12),
    (22, 2),
    (16, 8),
    (1028, 4),
    (4112, 16),
];

pub(super) const WIDE: [IndexKind; 4] = [
    IndexKind::I32,
    IndexKind::U32,
    IndexKind::I64,
    IndexKind::U64,
];

const NARROW: [IndexKind; 4] = [IndexKind::I8, IndexKind::U8, IndexKind::I16, IndexKind::U16];

/// An index type's smallest and largest value.
fn range(kind: IndexKind) -> RangeInclusive<i128> {
    let values = 1 << (8 * kind.bytes());
    let below_zero = if kind.is_signed() { values / 2 } else { 0 };
    -below_zero..=values - below_zero - 1
}

/// Index values near 0, near the ends of the dim and the type, and near 2^31, 2^32 and 2^63 with either sign, and 2^64.
fn edges(kind: IndexKind, dim: u64) -> Vec<i128> {
    let range = range(kind);
    let dim = i128::from(dim);
    let mut edges = BTreeSet::new();
    for corner in [
        0,
        dim,
        -dim,
        *range.start(),
        *range.end(),
        1 << 31,
        -1 << 31,
        1 << 32,
        -1 << 32,
        1 << 63,
        -1 << 63,
        1 << 64,
    ] {
        for near in [-1, 0, 1] {
            edges.insert(corner + near);
        }
    }
    edges.extend([
        (1 << 32) + dim - 1,
        (1 << 32) - dim,
        -(1 << 32) - dim,
        (1 << 63) - dim,
    ]);
    edges.retain(|edge| range.contains(edge));
    edges.into_iter().collect()
}

/// Index rows that hold an edge value in one place and their dims' last entries in the others, and rows that hold it in every
/// place.
pub(super) fn index_rows(kind: IndexKind, dims: &[usize]) -> Vec<i128> {
    let mut rows = Vec::new();
    let last = |&dim: &usize| (dim as i128 - 1).min(*range(kind).end());
    let last: Vec<i128> = dims.iter().map(last).collect();
    for (k, &dim) in dims.iter().enumerate() {
        for edge in edges(kind, dim as u64) {
            let mut row = last.clone();
            row[k] = edge;
            rows.extend(row);
            if k > 0 {
                rows.extend(vec![edge; dims.len()]);
            }
        }
    }
    rows
}

/// The policies: for bad indices, whether a fill is set, and for negative indices.
pub(super) fn policies() -> impl Iterator<Item = (BadIndices, bool, NegativeIndices)> {
    // By default the GPU stores zeros, and with a report it stores the same bytes.
    let fills = |policy: &BadIndices| policy.fills_on_cpu();
    let policies = BadIndices::ALL.iter().copied().filter(fills);
    let policies = policies.map(|policy| (policy, false));
    let policies = policies.chain([(BadIndices::Fill, true)]);
    policies.flat_map(|(bad_indices, fill)| {
        [NegativeIndices::FromEnd, NegativeIndices::Invalid]
            .map(|negative_indices| (bad_indices, fill, negative_indices))
    })
}

/// Runs a gather and checks its output and counter; returns its kernels. If a single dispatch copies long slices, only each
/// workgroup's first, second and last lane run; else all do.
fn check(case: &Case<'_>) -> BTreeSet<&'static str> {
    let mut kernels = BTreeSet::new();
    let dispatches = case.dispatches();
    if let [dispatch] = dispatches[..]
        && matches!(dispatch.kernel, Kernel::Long(_))
    {
        let workgroups = dispatch.shares.workgroups;
        let mut run = Run::new(case, true);
        let step = u32::try_from(dispatch.shares.lane_step).expect("lanes are few");
        let lanes = [0, 1, step - 1].into_iter();
        run.dispatch(&dispatch, 0..workgroups, lanes);
        run.check_written(&dispatch);
        for row in 0..case.plan.dims().output_rows() {
            for unit in [0, 1, step - 1, step, 3 * step] {
                let at = row * case.slice_bytes()
                    + u64::from(unit) * dispatch.kernel.output_unit_bytes();
                assert!(
                    run.is_written(at),
                    "{}: unit {unit} of row {row}",
                    case.plan
                );
            }
        }
        run.check_counter();
    } else {
        let mut run = Run::new(case, true);
        run.all();
        run.check_all();
        if case.fill.is_none() && case.slice_bytes() < 1000 && case.plan.dims().params_rows() < 1000
        {
            let expected = case.on_cpu();
            let found: Vec<_> = (0..case.output_end())
                .map(|at| run.output_byte(at))
                .collect();
            assert!(found == expected, "{}: {:?}", case.plan, case.types);
        }
    }
    for dispatch in dispatches {
        kernels.insert(match (dispatch.kernel, dispatch.find) {
            (Kernel::Packed { .. }, FindRows::Elements { .. }) => "packed elements",
            (Kernel::Rows(_), FindRows::Elements { .. }) => "rows elements",
            (Kernel::Packed { .. }, _) => "packed",
            (Kernel::Lines, FindRows::Elements { .. }) => "lines elements",
            (Kernel::Lines, _) => "lines",
            (Kernel::Bytes { lane_words: 1 }, FindRows::General) => "general bytes",
            (Kernel::Rows(Unit::Vec4), FindRows::General) => "general rows vec4",
            (Kernel::Rows(Unit::Word), FindRows::General) => "general rows words",
            (Kernel::Long(Unit::Vec4), FindRows::General) => "general long vec4",
            (Kernel::Long(Unit::Word), FindRows::General) => "general long words",
            (kernel, _) if kernel.decoding().is_some() => "decoded",
            (Kernel::Rows(_), FindRows::Deep) => "deep rows",
            (Kernel::Bytes { lane_words: 1 }, _) => "bytes",
            (Kernel::Halves(_) | Kernel::WordParts, _) => {
                panic!("{:?} copies no elements", dispatch.kernel)
            }
            (Kernel::Bytes { .. }, _) => "four words",
            (Kernel::FourRows(_), _) => "four rows",
            (Kernel::Rows(Unit::Vec4), _) => "rows vec4",
            (Kernel::Rows(_), _) => "rows words",
            (Kernel::Long(Unit::Vec4), _) => "long vec4",
            (Kernel::Long(_), _) => "long words",
        });
    }
    kernels
}

/// Runs gather_nd by 32- and 64-bit indices, from params with indexed `dims` and each of `slices`; returns the kernels that ran.
fn check_dims(dims: &[usize], slices: &[(u64, usize)]) -> BTreeSet<&'static str> {
    check_kinds(&WIDE, dims, slices)
}

fn check_kinds(
    kinds: &[IndexKind],
    dims: &[usize],
    slices: &[(u64, usize)],
) -> BTreeSet<&'static str> {
    let plan = |rows, slice_len, bad_indices, negative_indices| {
        let gather = GatherNd::new().bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        let plan = gather.plan(&[dims, &[slice_len]].concat(), &[rows, dims.len()]);
        plan.expect("a valid shape")
    };
    check_plans(kinds, dims, slices, plan)
}

/// Runs a plan for each index type, policy and slice, or for one in three of these if there are many slices; returns the
/// kernels that ran.
fn check_plans(
    kinds: &[IndexKind],
    dims: &[usize],
    slices: &[(u64, usize)],
    plan: impl Fn(usize, usize, BadIndices, NegativeIndices) -> GatherPlan,
) -> BTreeSet<&'static str> {
    let mut kernels = BTreeSet::new();
    let of_kind =
        |&kind| policies().flat_map(move |policy| slices.iter().map(move |of| (kind, policy, of)));
    let step = if slices.len() > 3 { 3 } else { 1 };
    for (index_kind, policy, slices) in sweep::some(0, step, 0, kinds.iter().flat_map(of_kind)) {
        let (bad_indices, fills, negative_indices) = policy;
        let &(slice_bytes, element) = slices;
        let values = index_rows(index_kind, dims);
        let value = |at: u64| values[usize::try_from(at).expect("values are few") % values.len()];
        // Packed rows fill whole lanes.
        let rows = (values.len() / dims.len()).next_multiple_of(16);
        let element_bytes = element as u64;
        let slice_len = usize::try_from(slice_bytes / element_bytes);
        let slice_len = slice_len.expect("slices are short");
        let plan = plan(rows, slice_len, bad_indices, negative_indices);
        let types = ElementTypes::new(element_bytes, index_kind);
        let fill: Vec<u8> = (1..).take(element).collect();
        let case = Case {
            fill: fills.then_some(&fill[..]),
            ..Case::new(plan, types, &value)
        };
        kernels.extend(check(&case));
    }
    kernels
}

const GENERAL: [&str; 5] = [
    "general bytes",
    "general long vec4",
    "general long words",
    "general rows vec4",
    "general rows words",
];

#[test]
fn edge_values_of_one_or_two_dims_give_the_rows_of_the_oracle() {
    // 64-bit indices that wrap take the general kernels.
    let both = ["packed", "rows vec4", "rows words"]
        .into_iter()
        .chain(GENERAL);
    let mut one = check_dims(&[5], &SLICES);
    one.extend(check_dims(&[1], &SLICES[..6]));
    // No row can be selected, whatever the policy.
    one.extend(check_plans(
        &WIDE,
        &[0],
        &SLICES[..6],
        |rows, slice_len, bad_indices, negative| {
            let gather = Gather::new().bad_indices(bad_indices);
            let gather = gather.negative_indices(negative);
            gather
                .plan(&[0, slice_len], &[rows])
                .expect("a valid shape")
        },
    ));
    let others = ["bytes", "four words", "long vec4", "long words"];
    assert_eq!(one, both.clone().chain(others).collect());
    assert_eq!(check_dims(&[5, 3], &SLICES), both.collect());
}

#[test]
fn edge_values_of_three_dims_give_the_rows_of_the_oracle() {
    let rows = ["rows vec4", "rows words"];
    let expected: BTreeSet<_> = GENERAL.into_iter().chain(rows).collect();
    assert_eq!(check_dims(&[5, 3, 2], &SLICES), expected);
}

#[test]
fn edge_values_of_four_and_five_dims_give_the_rows_of_the_oracle() {
    let slices = [(4, 4), (16, 16)];
    let general = ["general rows vec4", "general rows words"];
    let four = general.into_iter().chain(["rows vec4", "rows words"]);
    assert_eq!(check_dims(&[3, 2, 1, 4], &slices), four.collect());
    let five = general.into_iter().chain(["deep rows"]);
    assert_eq!(
        check_dims(&[3, 2, 1, 2, 2], &slices[..1]),
        five.clone()
            .filter(|name| !name.ends_with("vec4"))
            .collect()
    );
}

#[test]
fn edge_values_of_dims_near_2_to_the_32_give_the_rows_of_the_oracle() {
    let slices = [(1, 1), (2, 2), (3, 3)];
    let kernels = [
        check_dims(&[1 << 31], &slices),
        check_dims(&[1 << 16, 1 << 15], &slices),
    ];
    let expected = [
        &["bytes", "general bytes", "packed"][..],
        &["general bytes", "packed"],
    ];
    assert_eq!(
        kernels,
        expected.map(|names| names.iter().copied().collect())
    );
    for dim in [(1 << 31) + 1, (1 << 32) - 1, 1 << 32, (1 << 33) + 7] {
        assert_eq!(check_dims(&[dim], &slices[..1]), ["general bytes"].into());
    }
}

#[test]
fn edge_values_of_bytes_and_half_words_give_the_rows_of_the_oracle() {
    let slices = [(1, 1), (3, 1), (4, 2), (8, 4), (16, 8)];
    let one = ["bytes", "packed", "rows vec4", "rows words"].into_iter();
    // Pairs of indices that wrap take the general kernels.
    let general = ["general bytes", "general rows vec4", "general rows words"].into_iter();
    let two: BTreeSet<_> = general.chain(["deep rows"]).collect();
    for dim in [5, 127, 128, 129, 255, 256] {
        assert_eq!(check_kinds(&NARROW, &[dim], &slices), one.clone().collect());
    }
    assert_eq!(check_kinds(&NARROW, &[5, 3], &slices), two);
    for dim in [1 << 15, (1 << 16) - 1, 1 << 16] {
        let kernels = check_kinds(&NARROW, &[dim], &slices[..2]);
        assert_eq!(kernels, ["bytes", "packed"].into());
    }
    let large = check_kinds(&NARROW, &[(1 << 33) + 7], &slices[..1]);
    assert_eq!(large, ["general bytes"].into());
    let long = check_kinds(&NARROW[..1], &[5], &[(1028, 4), (4112, 16)]);
    assert_eq!(long, ["general long vec4", "general long words"].into());
}

#[test]
fn edge_values_of_elements_give_the_rows_of_the_oracle() {
    let plan = |rows, _, bad_indices, negative_indices| {
        let gather = GatherElements::new().bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        gather.plan(&[5, 3], &[rows, 2]).expect("a valid shape")
    };
    let kernels = check_plans(IndexKind::ALL, &[5], &[(1, 1), (4, 4), (16, 16)], plan);
    // The policy Wrap, and indices of 8 and 16 bits, take the general kernels.
    let general = ["general bytes", "general rows vec4", "general rows words"];
    assert_eq!(
        kernels,
        general.into_iter().chain(["rows elements"]).collect()
    );
    // A lane of packed rows takes four neighbours in the innermost dim.
    let plan = |rows: usize, _, bad_indices, negative_indices| {
        let gather = GatherElements::new().bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        gather
            .plan(&[5, 12], &[rows.div_ceil(8), 8])
            .expect("a valid shape")
    };
    let kernels = check_plans(&WIDE, &[5], &[(4, 4), (8, 8)], plan);
    let expected = ["general rows words", "packed elements", "rows elements"];
    assert_eq!(kernels, expected.into());
}

#[test]
fn edge_values_of_lines_give_the_rows_of_the_oracle() {
    // Rows have 10 elements, so some lanes take elements from two.
    let plan = |rows: usize, _, bad_indices, negative_indices| {
        let gather = GatherElements::new().bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        let indices = [rows.div_ceil(20) * 2, 10];
        gather.plan(&[5, 12], &indices).expect("a valid shape")
    };
    let kernels = check_plans(&WIDE, &[5], &[(4, 4)], plan);
    assert_eq!(kernels, ["general rows words", "lines elements"].into());
    // Blocks in one batch, and blocks with a batch each.
    let of_one_batch = |rows: usize, _, bad_indices, negative_indices| {
        let gather = Gather::new().axis(1).bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        gather.plan(&[4, 5], &[rows - 1]).expect("a valid shape")
    };
    let of_batches = |rows: usize, _, bad_indices, negative_indices| {
        let gather = Gather::new().batch_dims(1).bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        let plan = gather.axis(1).plan(&[rows, 5], &[rows, 5]);
        plan.expect("a valid shape")
    };
    let mut kernels = check_plans(&WIDE, &[5], &[(4, 4)], of_one_batch);
    kernels.extend(check_plans(&WIDE, &[5], &[(4, 4)], of_batches));
    assert_eq!(kernels, ["general rows words", "lines"].into());
    let narrow = check_plans(&NARROW, &[5], &[(4, 4)], of_batches);
    assert_eq!(narrow, ["lines"].into());
}
