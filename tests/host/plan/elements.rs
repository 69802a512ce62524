//! Plans of gather_elements: output shapes and the errors.

use wgpu_gather::GatherElements;

use super::{Planned, assert_error, assert_shape};

fn elements(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> Planned {
    GatherElements::new()
        .axis(axis)
        .plan(params_shape, indices_shape)
}

#[test]
fn the_output_has_the_shape_of_indices() {
    assert_shape(elements(0, &[3, 2], &[5, 2]), &[5, 2]);
    assert_shape(elements(-1, &[3, 2], &[3, 7]), &[3, 7]);
    assert_shape(elements(1, &[3, 2, 4], &[1, 9, 2]), &[1, 9, 2]);
    assert_shape(elements(0, &[3, 2], &[0, 2]), &[0, 2]);
}

#[test]
fn mistakes_are_named() {
    assert_error(elements(0, &[], &[]), "params must be at least a vector");
    assert_error(
        elements(2, &[3, 2], &[3, 2]),
        "axis must be in [-2, 2) for params of rank 2, found 2",
    );
    assert_error(
        elements(0, &[3, 2], &[3]),
        "indices must have the rank of params = 2, found 1",
    );
    assert_error(
        elements(0, &[3, 2], &[4, 3]),
        "indices.shape[1] must be at most params.shape[1] = 2, found 3",
    );
}

#[test]
fn a_plan_prints_its_axis() {
    assert_eq!(
        elements(-1, &[3, 2], &[3, 1]).unwrap().to_string(),
        "gather_elements params [3,2], indices [3,1], axis 1 -> output [3,1]"
    );
}
