//! Plans of gather_elements: output shapes, the place dims after merging, and the errors.

use wgpu_gather::{GatherDims, GatherElements, PlaceDim};

use super::{Planned, assert_error, assert_shape};

fn elements(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> Planned {
    GatherElements::new()
        .axis(axis)
        .plan(params_shape, indices_shape)
}

#[track_caller]
fn dims(axis: i64, params_shape: &[usize], indices_shape: &[usize]) -> GatherDims {
    elements(axis, params_shape, indices_shape)
        .unwrap()
        .dims()
        .clone()
}

fn places(dims: &GatherDims) -> Vec<(u64, u64)> {
    let pair = |dim: &PlaceDim| (dim.size, dim.stride);
    dims.place_dims.iter().map(pair).collect()
}

#[test]
fn the_output_has_the_shape_of_indices() {
    assert_shape(elements(0, &[3, 2], &[5, 2]), &[5, 2]);
    assert_shape(elements(-1, &[3, 2], &[3, 7]), &[3, 7]);
    assert_shape(elements(1, &[3, 2, 4], &[1, 9, 2]), &[1, 9, 2]);
    assert_shape(elements(0, &[3, 2], &[0, 2]), &[0, 2]);
}

#[test]
fn along_the_last_axis_it_is_gather_with_batch_dims() {
    let dims = dims(2, &[2, 3, 7], &[2, 3, 5]);
    assert_eq!(
        (dims.batch_size, dims.index_count, dims.row_count),
        (6, 5, 7)
    );
    assert_eq!((dims.index_stride, places(&dims)), (1, vec![]));
}

#[test]
fn neighbouring_dims_of_equal_length_are_merged() {
    // All dims after the axis are one.
    let whole = dims(1, &[2, 7, 3, 4], &[2, 5, 3, 4]);
    assert_eq!(
        (whole.batch_size, whole.index_count, whole.row_count),
        (2, 60, 84)
    );
    assert_eq!(
        (whole.index_stride, places(&whole)),
        (12, vec![(5, 0), (12, 1)])
    );
    // A last dim that is shorter in indices is not merged with the dim before it.
    let last = dims(1, &[2, 7, 3, 4], &[2, 5, 3, 2]);
    assert_eq!(places(&last), [(5, 0), (3, 4), (2, 1)]);
    // Dims of one entry are left out, except the axis.
    let one = dims(1, &[2, 7, 3, 4], &[1, 5, 1, 2]);
    assert_eq!((one.batch_size, places(&one)), (1, vec![(5, 0), (2, 1)]));
    assert_eq!(places(&dims(1, &[2, 7], &[1, 1])), [(1, 0)]);
    assert_eq!(places(&dims(0, &[7, 2], &[3, 1])), [(3, 0)]);
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
