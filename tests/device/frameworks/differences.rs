//! The page's list of differences: cases in which the libraries disagree, and the result here.

use libtest_mimic::Trial;
use testkit::device::cpu_trial;
use wgpu_gather::{BadIndices, Gather, GatherElements, GatherNd, PlanError};

pub fn trials() -> Vec<Trial> {
    vec![
        cpu_trial("gather_nd_of_empty_slices_is_refused", gather_nd_of_empty),
        cpu_trial("gather_of_empty_slices_reads_no_index", gather_of_empty),
        cpu_trial("an_empty_axis_has_no_entry_to_clamp_to", empty_axis),
        cpu_trial("empty_indices_must_fit_params", empty_indices),
        cpu_trial("index_depth_0_copies_all_of_params", index_depth_0),
    ]
}

/// ONNX Runtime 1.32, Paddle 3.3 and NumPy 2.4 return an output of shape [2, 0].
fn gather_nd_of_empty() {
    let error = GatherNd::new().plan(&[3, 0], &[2, 1]).unwrap_err();
    let text = "Requested more than 0 entries, but params is empty.  Params shape: [3,0]";
    assert_eq!(error.to_string(), text);
}

/// NumPy 2.4 and ONNX Runtime 1.32 refuse the index. Paddle 3.3 and JAX 0.10 return an output of shape [2, 0].
fn gather_of_empty() {
    let plan = Gather::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[3, 0], &[2]).unwrap();
    assert_eq!(plan.output_shape(), [2, 0]);
    assert!(plan.gather(&[0_f32; 0], &[9, 9]).unwrap().is_empty());
}

/// NumPy 2.4 refuses to take from an empty axis, with `mode="clip"` too.
fn empty_axis() {
    let plan = Gather::new().bad_indices(BadIndices::Clamp);
    let plan = plan.plan(&[0, 3], &[1]).unwrap();
    assert_eq!(plan.gather(&[0_f32; 0], &[0]).unwrap(), [0., 0., 0.]);
}

/// PyTorch checks no shape if the index is empty.
fn empty_indices() {
    let gather = GatherElements::new().axis(1);
    let ranks = PlanError::RanksUnequal {
        params_rank: 2,
        indices_rank: 1,
    };
    assert_eq!(gather.plan(&[2, 3], &[0]), Err(ranks));
    let dims = PlanError::IndicesDimAboveParams {
        dim: 0,
        params_dim: 2,
        indices_dim: 5,
    };
    assert_eq!(gather.plan(&[2, 3], &[5, 0]), Err(dims));
    let plan = gather.plan(&[2, 3], &[2, 0]).unwrap();
    let output = plan.gather(&[1., 2., 3., 4., 5., 6.], &[0_i64; 0]);
    assert!(output.unwrap().is_empty());
}

/// The ONNX specification asks for an index depth of 1 or more. ONNX Runtime 1.32 and Paddle 3.3 give these copies.
fn index_depth_0() {
    let plan = GatherNd::new().plan(&[2], &[3, 0]).unwrap();
    assert_eq!(plan.output_shape(), [3, 2]);
    assert_eq!(
        plan.gather(&[7, 8], &[0_i64; 0]).unwrap(),
        [7, 8, 7, 8, 7, 8]
    );
}
