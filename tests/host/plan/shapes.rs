//! Sizes of plans, limits, and tensors that no memory holds. The oracle has the shapes of the table of cases and of all small
//! ones: see tests/host/cpu.rs.

use wgpu_gather::{BadIndices, GatherElements, GatherNd, PlanError};

use super::{BIG, Planned, along, assert_shape, nd};

#[test]
fn a_plan_holds_the_sizes_of_the_one_formula() {
    let plan = along(2, 1, &[2, 3, 7, 4, 5], &[2, 6, 8]).unwrap();
    assert_eq!((plan.row_count(), plan.slice_len()), (7, 20));
    assert_eq!(
        (plan.params_len(), plan.indices_len(), plan.output_len()),
        (840, 96, 5760)
    );

    let plan = nd(1, &[2, 3, 7, 4, 5], &[2, 6, 8, 2]).unwrap();
    assert_eq!((plan.row_count(), plan.slice_len()), (21, 20));
    assert_eq!(
        (plan.params_len(), plan.indices_len(), plan.output_len()),
        (840, 192, 1920)
    );
    let shard = plan.shard(3..8).unwrap();
    assert_eq!((shard.row_count(), shard.params_len()), (21, 200));
}

#[test]
fn shapes_of_2_to_the_40_elements_plan() {
    let plan = nd(0, &[BIG], &[BIG, 1]).unwrap();
    assert_eq!(plan.output_len(), 1 << 40);
    let plan = along(1, 0, &[1 << 20, 1 << 20], &[1 << 21]).unwrap();
    assert_eq!((plan.params_len(), plan.output_len()), (1 << 40, 1 << 41));
    let plan = along(0, 0, &[2, BIG], &[1 << 22]).unwrap();
    assert_eq!((plan.slice_len(), plan.output_len()), (1 << 40, 1 << 62));
}

#[test]
fn ranks_have_no_limit() {
    assert_shape(nd(0, &[1; 20], &[2, 8]), &[&[2][..], &[1; 12]].concat());
    assert_shape(nd(0, &[3], &[1; 20]), &[1; 19]);
    assert_shape(nd(12, &[1; 20], &[1; 20]), &[1; 26]);
    assert_shape(along(19, 0, &[1; 20], &[5]), &[&[1; 19][..], &[5]].concat());
    assert_shape(
        along(-20, 0, &[1; 20], &[2; 20]),
        &[&[2; 20][..], &[1; 19]].concat(),
    );
    assert_shape(along(19, 19, &[1; 20], &[1; 20]), &[1; 20]);
}

#[test]
fn index_rows_into_empty_params_are_an_error() {
    let expected = PlanError::EmptyParams {
        params_shape: vec![3, 0],
    };
    for bad_indices in [
        BadIndices::DeviceDefault,
        BadIndices::Error,
        BadIndices::Fill,
    ] {
        let gather_nd = GatherNd::new().bad_indices(bad_indices);
        for indices_shape in [&[2, 1][..], &[1], &[2, 0], &[2, 2]] {
            assert_eq!(
                gather_nd.plan(&[3, 0], indices_shape),
                Err(expected.clone()),
                "{indices_shape:?}"
            );
        }
    }
}

fn elements(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> Planned {
    GatherElements::new()
        .axis(axis)
        .plan(params_shape, indices_shape)
}

#[test]
fn a_plan_of_gather_elements_prints_its_axis() {
    assert_eq!(
        elements(-1, &[3, 2], &[3, 1]).unwrap().to_string(),
        "gather_elements params [3,2], indices [3,1], axis 1 -> output [3,1]"
    );
}
