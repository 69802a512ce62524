//! Runs the passes that write masks in the interpreter. They read no index row of another pass, and write each word of the mask
//! once.

use super::edge_values::index_rows;
use super::lanes::{Case, Run, byte_of, index_of, mixed, word_before};
use super::oracle::is_bad;
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::element::ElementTypes;
use crate::gpu::work::Stage;
use crate::index::IndexKind;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};

/// Runs all lanes in all passes of the mask, and compares every mask byte with the oracle. Returns the number of passes.
fn check(case: &Case<'_>) -> usize {
    let (plan, index_kind) = (&case.plan, case.types.index_kind);
    let mut run = Run::new(case, false);
    run.stage(Stage::Mask);
    let written = &run.mask;
    let rows = plan.dims().index_rows();
    assert_eq!(written.len() as u64, rows.div_ceil(4), "{plan}");
    for at in 0..rows.next_multiple_of(4) {
        let word = written[&(at / 4)];
        let expected = match at < rows {
            true => u8::from(is_bad(plan, case.index, at)),
            false => byte_of(word_before(at / 4), at),
        };
        let policy = plan.bad_indices();
        assert_eq!(
            byte_of(word, at),
            expected,
            "{plan}, {index_kind}, {policy:?}: row {at}"
        );
    }
    run.entry_points.len()
}

fn case<'a>(plan: GatherPlan, index_kind: IndexKind, index: &'a dyn Fn(u64) -> i128) -> Case<'a> {
    let types = ElementTypes::new(4, index_kind);
    Case {
        has_mask: true,
        ..Case::new(plan, types, index)
    }
}

/// Each index type, depth and policy, with dims past 32 bits and dims of 0.
#[test]
fn edge_values_are_in_the_mask_of_the_oracle() {
    let dims: [&[usize]; 9] = [
        &[5],
        &[128],
        &[256],
        &[1 << 33],
        &[3, 7],
        &[2, (1 << 32) + 1],
        &[3, 1 << 31, 2],
        &[0, 2],
        &[2, 3, 2, 3, 2, 3, 2, 200],
    ];
    let policies = [
        (BadIndices::Fill, NegativeIndices::Invalid),
        (BadIndices::Error, NegativeIndices::FromEnd),
        (BadIndices::Clamp, NegativeIndices::FromEnd),
        (BadIndices::Wrap, NegativeIndices::Invalid),
    ];
    for (dims, &kind) in dims
        .iter()
        .flat_map(|&dims| IndexKind::ALL.iter().map(move |k| (dims, k)))
    {
        let mut values = index_rows(kind, dims);
        if kind.is_signed() {
            values.extend(vec![-1; dims.len()]);
        }
        let index = |at: u64| values[index_of(at)];
        let indices_shape = [values.len() / dims.len(), dims.len()];
        for (bad_indices, negative_indices) in policies {
            let gather = GatherNd::new().bad_indices(bad_indices);
            // Counting from the end, gather_nd plans index rows into params without elements.
            let plan = match dims.contains(&0) {
                true => gather.negative_indices(NegativeIndices::FromEnd),
                false => gather.negative_indices(negative_indices),
            };
            let plan = plan.plan(dims, &indices_shape).expect("a valid shape");
            assert_eq!(check(&case(plan, kind, &index)), 1);
        }
    }
}

/// Values from `-dim` up to `3 * dim - 1`.
fn around(dim: u64) -> impl Fn(u64) -> i128 {
    move |at| i128::from(mixed(at)) % i128::from(4 * dim) - i128::from(dim)
}

#[test]
fn small_bindings_cut_masks_of_each_operation() {
    let nd = |rows: usize, depth| GatherNd::new().plan(&[3; 8], &[rows, depth]);
    let from_end = Gather::new().negative_indices(NegativeIndices::FromEnd);
    let elements = GatherElements::new().axis(1);
    let plans = [
        Gather::new().plan(&[3], &[1030]),
        from_end.axis(1).plan(&[2, 3, 4], &[5, 203]),
        from_end.axis(1).batch_dims(1).plan(&[7, 3], &[7, 91]),
        elements.plan(&[2, 3, 4], &[2, 150, 3]),
        elements.broadcast(true).plan(&[4, 3, 6], &[1, 555, 1]),
        nd(777, 2),
        nd(513, 3),
        nd(301, 8),
        nd(1001, 0),
        nd(2, 0),
        Gather::new().plan(&[3, 0], &[9]),
        Gather::new().plan(&[3], &[]),
    ];
    let index = around(3);
    let mut most = 0;
    for plan in plans.map(|plan| plan.expect("a valid shape")) {
        for (number, &kind) in IndexKind::ALL.iter().enumerate() {
            let index = |at| match kind.is_signed() {
                true => index(at),
                false => index(at).abs(),
            };
            let mut case = case(plan.clone(), kind, &index);
            for (binding_bytes, alignment, workgroups) in
                [(700, 256, 3), (512, 64, 1), (1 << 20, 256, 1)]
            {
                case.limits = wgpu::Limits {
                    max_storage_buffer_binding_size: binding_bytes,
                    min_storage_buffer_offset_alignment: alignment,
                    max_compute_workgroups_per_dimension: workgroups,
                    ..wgpu::Limits::default()
                };
                most = most.max(check(&case));
            }
            if number == 0 {
                check(&Case {
                    plan: case.plan.shard(0..0).expect("no rows"),
                    ..case
                });
            }
        }
    }
    assert!(most > 30, "{most} dispatches");
}

/// A grid with several lines of workgroups; in the last line, some workgroups have no index row.
#[test]
fn workgroups_in_a_grid_check_each_row_once() {
    let plan = Gather::new().plan(&[9], &[8 * 1024 - 3]);
    let index = around(9);
    let mut case = case(plan.expect("a valid shape"), IndexKind::I8, &index);
    case.limits.max_compute_workgroups_per_dimension = 3;
    assert_eq!(check(&case), 1);
}
