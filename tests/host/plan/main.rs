//! The planner, without a device: the shapes that make a plan, the plan's sizes and text, and planning errors.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod errors;
#[cfg(feature = "gpu")]
mod explain;
mod known_failures;
mod names;
mod shapes;

use wgpu_gather::{BadIndices, Gather, GatherNd, GatherPlan, NegativeIndices, PlanError};

type Planned = Result<GatherPlan, PlanError>;

/// A length whose square is beyond `i64::MAX`.
const BIG: usize = 1 << 40;

fn nd(batch_dims: i64, params_shape: &[usize], indices_shape: &[usize]) -> Planned {
    GatherNd::new()
        .batch_dims(batch_dims)
        .plan(params_shape, indices_shape)
}

fn along(axis: i64, batch_dims: i64, params_shape: &[usize], indices_shape: &[usize]) -> Planned {
    Gather::new()
        .axis(axis)
        .batch_dims(batch_dims)
        .plan(params_shape, indices_shape)
}

#[track_caller]
fn assert_error(planned: Planned, text: &str) {
    assert_eq!(planned.expect_err("no plan").to_string(), text);
}

#[track_caller]
fn assert_shape(planned: Planned, output_shape: &[usize]) {
    assert_eq!(planned.unwrap().output_shape(), output_shape);
}

#[test]
fn a_plan_keeps_what_it_was_made_from() {
    let plan = Gather::new()
        .axis(-1)
        .batch_dims(-1)
        .bad_indices(BadIndices::Fill)
        .negative_indices(NegativeIndices::FromEnd)
        .plan(&[2, 3], &[2, 4])
        .unwrap();
    assert_eq!(plan.bad_indices(), BadIndices::Fill);
    assert_eq!(plan.params_shape(), [2, 3]);
    assert_eq!(plan.indices_shape(), [2, 4]);
    assert_eq!(
        plan.gather(&[1, 2, 3, 4, 5, 6], &[-1; 8]),
        Ok(vec![3, 3, 3, 3, 6, 6, 6, 6])
    );
    let plan = nd(1, &[2, 3], &[2, 4, 1]).unwrap();
    assert_eq!(plan.bad_indices(), BadIndices::DeviceDefault);
    assert!(plan.gather(&[1, 2, 3, 4, 5, 6], &[-1; 8]).is_err());
}

#[test]
fn plans_of_equivalent_arguments_are_equal() {
    let plan = along(1, 1, &[2, 3], &[2, 4]).unwrap();
    assert_eq!(plan, along(-1, -1, &[2, 3], &[2, 4]).unwrap());
    let gather = Gather::new().axis(1).batch_dims(1);
    for other in [
        along(1, 1, &[2, 5], &[2, 4]),
        along(1, 1, &[2, 3], &[2, 5]),
        along(1, 0, &[2, 3], &[2, 4]),
        nd(1, &[2, 3], &[2, 4, 1]),
        gather.bad_indices(BadIndices::Fill).plan(&[2, 3], &[2, 4]),
        gather
            .negative_indices(NegativeIndices::FromEnd)
            .plan(&[2, 3], &[2, 4]),
    ] {
        assert_ne!(plan, other.unwrap());
    }
}

#[test]
fn a_plan_prints_as_one_line() {
    for (planned, text) in [
        (
            nd(0, &[5, 7, 3], &[4, 2]),
            "gather_nd params [5,7,3], indices [4,2], batch_dims 0 -> output [4,3]",
        ),
        (
            nd(1, &[5, 7], &[5, 1]),
            "gather_nd params [5,7], indices [5,1], batch_dims 1 -> output [5]",
        ),
        (
            GatherNd::new().axis(1).plan(&[5, 7, 3], &[4, 1]),
            "gather_nd params [5,7,3], indices [4,1], axis 1, batch_dims 0 -> output [5,4,3]",
        ),
        (
            along(0, 0, &[3], &[]),
            "gather params [3], indices [], axis 0, batch_dims 0 -> output []",
        ),
        (
            along(-1, -1, &[2, 3], &[2, 4]),
            "gather params [2,3], indices [2,4], axis 1, batch_dims 1 -> output [2,4]",
        ),
    ] {
        assert_eq!(planned.unwrap().to_string(), text);
    }
    let debug = format!("{:?}", nd(0, &[5, 7, 3], &[4, 2]).unwrap());
    assert!(
        debug.starts_with("GatherPlan { operation: GatherNd, params_shape: [5, 7, 3]"),
        "{debug}"
    );
}
