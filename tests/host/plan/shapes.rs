//! Output shapes and sizes: the documentations' examples, limits, and tensors that no memory holds.

use wgpu_gather::{BadIndices, Gather, GatherElements, GatherNd, PlanError};

use super::{BIG, Planned, along, assert_error, assert_shape, nd};

#[test]
fn the_gather_nd_documentations_shapes_are_planned() {
    assert_shape(nd(0, &[2, 2], &[2, 2]), &[2]);
    assert_shape(nd(0, &[2, 2], &[2, 1]), &[2, 2]);
    assert_shape(nd(0, &[2, 2, 2], &[1, 1]), &[1, 2, 2]);
    assert_shape(nd(0, &[2, 2, 2], &[2, 2]), &[2, 2]);
    assert_shape(nd(0, &[2, 2, 2], &[2, 3]), &[2]);
    assert_shape(nd(0, &[2, 2], &[2, 1, 2]), &[2, 1]);
    assert_shape(nd(0, &[2, 2], &[2, 1, 1]), &[2, 1, 2]);
    assert_shape(nd(1, &[2, 2, 2], &[2, 1]), &[2, 2]);
    assert_shape(nd(1, &[2, 2, 2], &[2, 1, 1]), &[2, 1, 2]);
    assert_shape(nd(1, &[2, 2, 2], &[2, 1, 2]), &[2, 1]);
    assert_shape(nd(1, &[5, 7, 3], &[5, 1]), &[5, 3]);
    // From Paddle's documentation, where x is [2, 3, 4].
    assert_shape(nd(0, &[2, 3, 4], &[1]), &[3, 4]);
    assert_shape(nd(0, &[2, 3, 4], &[2]), &[4]);
    assert_shape(nd(0, &[2, 3, 4], &[3]), &[]);
}

#[test]
fn the_gather_documentations_shapes_are_planned() {
    assert_shape(along(0, 0, &[6], &[]), &[]);
    assert_shape(along(0, 0, &[6], &[4]), &[4]);
    assert_shape(along(0, 0, &[6], &[2, 2]), &[2, 2]);
    assert_shape(along(0, 0, &[4, 3], &[2]), &[2, 3]);
    assert_shape(along(1, 0, &[4, 3], &[2]), &[4, 2]);
    assert_shape(along(-1, 0, &[4, 3], &[]), &[4]);
    assert_shape(along(2, 0, &[5, 6, 7, 8], &[10, 11]), &[5, 6, 10, 11, 8]);
    assert_shape(along(1, 1, &[3, 5], &[3, 2]), &[3, 2]);
    assert_shape(along(2, 1, &[2, 3, 7, 4], &[2, 5]), &[2, 3, 5, 4]);
    assert_shape(along(-1, -1, &[2, 3, 7], &[2, 5]), &[2, 3, 5]);
}

#[test]
fn an_axis_not_given_is_batch_dims_as_given() {
    for (batch_dims, params_shape, indices_shape, expected) in [
        (
            -1,
            [2, 3, 4],
            [2, 3].as_slice(),
            (2, 1, [2, 3, 3].as_slice()),
        ),
        (-2, [2, 3, 4], &[2, 2], (1, 0, &[2, 2, 2, 4])),
        (1, [2, 3, 4], &[2, 2], (1, 1, &[2, 2, 4])),
        (0, [2, 3, 4], &[5], (0, 0, &[5, 3, 4])),
    ] {
        let plan = Gather::new()
            .batch_dims(batch_dims)
            .plan(&params_shape, indices_shape)
            .unwrap();
        let (axis, batch_dims, output_shape) = expected;
        let text = plan.to_string();
        assert!(
            text.contains(&format!("axis {axis}, batch_dims {batch_dims} ->")),
            "{text}"
        );
        assert_eq!(plan.output_shape(), output_shape, "{text}");
    }
}

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
fn index_depth_is_at_most_8_unless_no_index_rows() {
    assert_shape(nd(0, &[2; 8], &[3, 8]), &[3]);
    assert_shape(nd(1, &[2; 9], &[2, 3, 8]), &[2, 3]);
    let plan = nd(0, &[2; 9], &[0, 9]).unwrap();
    assert_eq!(plan.output_shape(), [0]);
    assert_eq!(plan.run(&[7_u8; 512], &[0_i32; 0]), Ok(vec![]));
    assert_eq!(
        nd(0, &[2; 9], &[3, 9]),
        Err(PlanError::IndexDepthAboveLimit { index_depth: 9 })
    );
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
fn dims_of_zero_make_a_plan() {
    assert_shape(along(0, 0, &[3, 0], &[2]), &[2, 0]);
    assert_shape(along(0, 0, &[0, 3], &[0]), &[0, 3]);
    assert_shape(along(0, 0, &[0, 3], &[2]), &[2, 3]);
    assert_shape(along(1, 0, &[0, 3], &[2]), &[0, 2]);
    assert_shape(along(1, 1, &[0, 3], &[0, 2]), &[0, 2]);
    assert_shape(nd(0, &[3, 0], &[0, 1]), &[0, 0]);
    assert_shape(nd(1, &[0, 3], &[0, 2, 1]), &[0, 2]);
    assert_shape(nd(0, &[2, 3], &[4, 0]), &[4, 2, 3]);
    assert_shape(nd(0, &[2, 3], &[0, 0]), &[0, 2, 3]);
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
fn gather_elements_has_the_shape_of_indices() {
    assert_shape(elements(0, &[3, 2], &[5, 2]), &[5, 2]);
    assert_shape(elements(-1, &[3, 2], &[3, 7]), &[3, 7]);
    assert_shape(elements(1, &[3, 2, 4], &[1, 9, 2]), &[1, 9, 2]);
    assert_shape(elements(0, &[3, 2], &[0, 2]), &[0, 2]);
}

#[test]
fn mistakes_of_gather_elements_are_named() {
    assert_error(elements(0, &[], &[]), "params must be at least a vector");
    assert_error(
        elements(2, &[3, 2], &[3, 2]),
        "axis must be in [-2, 2) for params of rank 2, found 2",
    );
    assert_error(
        elements(0, &[3, 2], &[4, 3]),
        "indices.shape[1] must be at most params.shape[1] = 2, found 3",
    );
}

#[test]
fn a_plan_of_gather_elements_prints_its_axis() {
    assert_eq!(
        elements(-1, &[3, 2], &[3, 1]).unwrap().to_string(),
        "gather_elements params [3,2], indices [3,1], axis 1 -> output [3,1]"
    );
}
