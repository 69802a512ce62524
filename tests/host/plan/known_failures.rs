//! Other gathers' bugs, named after their advisories and bug reports, on the planner and the CPU.
//! tests/device/gpu/known_failures.rs has the GPU's part. One buffer for reading and writing, with which burn and tract fail, is
//! in tests/device/misuse/sharing.rs.

use wgpu_gather::{BadIndices, Gather, GatherNd, GatherPlan, NegativeIndices, RunError};

use super::{along, assert_error, nd};

#[track_caller]
fn assert_bad_index(run: Result<Vec<i32>, RunError>, text: &str) {
    assert!(matches!(run, Err(RunError::BadIndex(_))), "{run:?}");
    assert_eq!(run.unwrap_err().to_string(), text);
}

/// The output under the policy `Fill`: a bad row is zeros, not memory beside params.
fn zeroed(plan: impl Fn(BadIndices) -> GatherPlan, params: &[i32], indices: &[i64]) -> Vec<i32> {
    plan(BadIndices::Fill).run(params, indices).unwrap()
}

#[test]
fn cve_2021_29589_division_by_a_dim_of_zero() {
    assert_error(
        nd(0, &[2, 0, 3], &[4, 2]),
        "Requested more than 0 entries, but params is empty.  Params shape: [2,0,3]",
    );
    assert_eq!(
        nd(0, &[2, 0, 3], &[0, 2]).unwrap().run(&[0; 0], &[0; 0]),
        Ok(vec![])
    );
    assert_eq!(
        along(0, 0, &[2, 0], &[3]).unwrap().run(&[0; 0], &[0, 1, 9]),
        Ok(vec![])
    );
    assert_eq!(
        along(1, 0, &[0, 2], &[3]).unwrap().run(&[0; 0], &[0, 1, 9]),
        Ok(vec![])
    );
}

#[test]
fn cve_2021_37653_batch_of_size_zero() {
    let plan = along(1, 1, &[0, 3], &[0, 2]).unwrap();
    assert_eq!(
        (plan.output_shape(), plan.run(&[0; 0], &[0; 0])),
        (&[0, 2][..], Ok(vec![]))
    );
    let plan = nd(1, &[0, 3], &[0, 2, 1]).unwrap();
    assert_eq!(
        (plan.output_shape(), plan.run(&[0; 0], &[0; 0])),
        (&[0, 2][..], Ok(vec![]))
    );
}

#[test]
fn cve_2021_37654_batch_dims_at_the_rank_of_params() {
    let text = |found| format!("batch_dims must be less than rank(params) = 1, found {found}");
    assert_error(nd(1, &[2], &[2, 1]), &text(1));
    assert_error(nd(2, &[2], &[2, 1, 1]), &text(2));
    assert_error(along(0, 1, &[2], &[2, 1]), &text(1));
    assert_error(along(0, -1, &[2], &[2, 1]), &text(1));
    assert_error(along(0, 2, &[2], &[2, 1]), &text(2));
}

#[test]
fn cve_2021_37687_negative_index_read() {
    let plan = along(0, 0, &[3], &[2]).unwrap();
    assert_bad_index(
        plan.run(&[1, 2, 3], &[0, -1]),
        "indices[1] = -1 is not in [0, 3)",
    );
    assert_bad_index(
        plan.run(&[1, 2, 3], &[0, i64::MIN]),
        "indices[1] = -9223372036854775808 is not in [0, 3)",
    );
    let plan = nd(0, &[2, 2], &[1, 2]).unwrap();
    assert_bad_index(
        plan.run(&[1, 2, 3, 4], &[1, -1]),
        "indices[0] = [1, -1] does not index into param shape [2,2]",
    );
    let of_policy = |policy| {
        GatherNd::new()
            .bad_indices(policy)
            .plan(&[2, 2], &[2, 2])
            .unwrap()
    };
    assert_eq!(zeroed(of_policy, &[1, 2, 3, 4], &[1, -1, 1, 1]), [0, 4]);
}

#[test]
fn cve_2022_35937_and_35938_index_past_the_dim_read() {
    let plan = nd(0, &[2, 2], &[1, 2]).unwrap();
    for index in [[0, 2], [2, 0], [0, 1 << 32], [1_i64 << 32, 1]] {
        assert_bad_index(
            plan.run(&[1, 2, 3, 4], &index),
            &format!(
                "indices[0] = [{}, {}] does not index into param shape [2,2]",
                index[0], index[1]
            ),
        );
    }
    let of_policy = |policy| Gather::new().bad_indices(policy).plan(&[3], &[3]).unwrap();
    assert_eq!(zeroed(of_policy, &[1, 2, 3], &[3, 2, 1 << 32]), [0, 3, 0]);
}

#[test]
fn cve_2021_37641_operand_of_rank_zero() {
    assert_error(nd(0, &[], &[1, 1]), "params must be at least a vector");
    assert_error(nd(0, &[], &[0]), "params must be at least a vector");
    assert_error(nd(0, &[3], &[]), "indices must be at least a vector");
    assert_error(along(0, 0, &[], &[]), "params must be at least a vector");
    assert_eq!(
        along(0, 0, &[3], &[]).unwrap().run(&[1, 2, 3], &[2]),
        Ok(vec![3])
    );
}

#[test]
fn onnxruntime_27963_index_0_into_a_dim_of_zero() {
    let plan = along(0, 0, &[0], &[1]).unwrap();
    let Err(RunError::BadIndex(bad)) = plan.run(&[0; 0], &[0]) else {
        panic!("0 is not in [0, 0)");
    };
    assert_eq!(
        (bad.row, &bad.position[..], &bad.index[..]),
        (0, &[0][..], &[0][..])
    );
    assert_eq!(bad.to_string(), "indices[0] = 0 is not in [0, 0)");
    let into = plan.run_into(&[0; 0], &[0], &mut [9]);
    assert_eq!(into, Err(RunError::BadIndex(bad)));
    let from_end = Gather::new().negative_indices(NegativeIndices::FromEnd);
    let plan = from_end.plan(&[0], &[1]).unwrap();
    assert_bad_index(plan.run(&[0; 0], &[-1]), "indices[0] = -1 is not in [0, 0)");
}

#[test]
fn onnxruntime_27444_sizes_beyond_32_bits_are_kept() {
    // Elements without bytes: a table of 2^33 takes no memory.
    let params = vec![(); 1 << 33];
    let plan = along(0, 0, &[1 << 33], &[3]).unwrap();
    assert_eq!(
        plan.run(&params, &[1 << 31, 1 << 32, (1_i64 << 33) - 1]),
        Ok(vec![(); 3])
    );
    let bad = plan.run(&params, &[1 << 31, 1_i64 << 33, 0]).unwrap_err();
    assert_eq!(
        bad.to_string(),
        "indices[1] = 8589934592 is not in [0, 8589934592)"
    );
    let plan = nd(0, &[1 << 16, 1 << 17], &[2, 2]).unwrap();
    assert_eq!(plan.row_count(), 1 << 33);
    assert_eq!(
        plan.run(&params, &[65_535, 131_071, 32_768, 0]),
        Ok(vec![(); 2])
    );
}

#[test]
fn tfsa_2020_009_axis_below_minus_the_rank() {
    for axis in [-3, -4, i64::from(i32::MIN), i64::MIN] {
        assert_error(
            along(axis, 0, &[2, 3], &[1]),
            &format!("axis must be in [-2, 2) for params of rank 2, found {axis}"),
        );
    }
}
