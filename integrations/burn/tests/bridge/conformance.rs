//! The recorded results of TensorFlow and ONNX, through the bridge: one trial for each of the 482 lines. A line that
//! burn cannot hold is reported as ignored, with the reason.

use std::path::Path;

use burn::tensor::{Bool, BoolStore, DType, Float, Int};
use libtest_mimic::{Completion, Trial};
use testkit::conformance::BUILT_IN;
use testkit::conformance::cases::{Case, lines};
use testkit::conformance::line::{Expect, Line};
use testkit::oracle;
use testkit::samples::{TENSORFLOWS_POLICIES, index_bytes};
use wgpu_gather_burn::BridgeError;
use wgpu_gather_burn::wgpu_gather::{BadIndices, ElementTypes, GatherPlan};

use crate::common::{Gpu, trial};
use crate::runner::{Operand, gathered, index_dtype};

pub fn trials() -> Vec<Trial> {
    let cases: Vec<Case> = BUILT_IN
        .iter()
        .flat_map(|(name, text)| lines(Path::new(name), text))
        .collect();
    assert_eq!(cases.len(), 482);
    cases.into_iter().map(line_trial).collect()
}

fn line_trial(case: Case) -> Trial {
    let name = format!("lines::{}", case.name);
    let line = case.line.unwrap();
    if let Some(reason) = not_held(&line) {
        return Trial::ignorable_test(name, move || Ok(Completion::ignored_with(reason)));
    }
    trial(name, move |gpu| check(gpu, &line))
}

/// The reason why burn cannot hold the line's tensors.
fn not_held(line: &Line) -> Option<&'static str> {
    if line.params.dtype.starts_with('c') {
        return Some("burn has no complex numbers");
    }
    let rank = line.case.output_shape().map_or(0, |shape| shape.len());
    (rank > 8).then_some("burn's cubecl backend has at most 8 dims")
}

fn check(gpu: &Gpu, line: &Line) {
    let cases = [Some(&line.case), line.case_from_end.as_ref()];
    for case in cases.into_iter().flatten() {
        for policy in TENSORFLOWS_POLICIES {
            check_case(gpu, line, case, policy);
        }
    }
}

fn check_case(gpu: &Gpu, line: &Line, case: &oracle::Case, policy: BadIndices) {
    let plan = case.plan(policy);
    let (zero, bad) = match &line.expect {
        Expect::Output(output) => (output.data.clone(), None),
        Expect::BadRows(bad) => (bad.zero.data.clone(), bad.rows.first()),
        // A limit of TensorFlow only.
        Expect::PlanError { kind, .. } if kind.ends_with("tf_depth_limit") => {
            (on_cpu(line, &case.plan(BadIndices::Fill).unwrap()), None)
        }
        Expect::PlanError { kind, .. } => {
            assert!(plan.is_err(), "planned, expected {kind}");
            return;
        }
    };
    let found = gather(gpu, line, &plan.unwrap(), &case.indices);
    match bad.filter(|_| policy == BadIndices::Error) {
        None => assert!(found.unwrap() == zero, "output ({policy:?})"),
        Some(&row) => {
            let error = found.unwrap_err();
            assert!(matches!(error, BridgeError::BadIndex(_)), "{error}");
            assert_eq!(error.to_string(), case.bad_index_text(row));
        }
    }
}

fn gather(
    gpu: &Gpu,
    line: &Line,
    plan: &GatherPlan,
    indices: &[i128],
) -> Result<Vec<u8>, BridgeError> {
    let dtype = match line.params.dtype {
        "bool" => DType::Bool(BoolStore::Native),
        "i8" => DType::I8,
        "u8" => DType::U8,
        "i16" => DType::I16,
        "u16" => DType::U16,
        "i32" => DType::I32,
        "u32" => DType::U32,
        "i64" => DType::I64,
        "u64" => DType::U64,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        "f32" => DType::F32,
        "f64" => DType::F64,
        other => panic!("{other} is no type of burn's"),
    };
    let params = Operand {
        bytes: line.params.bytes.clone(),
        dtype,
    };
    let indices = Operand {
        bytes: index_bytes(line.index_kind, indices),
        dtype: index_dtype(line.index_kind),
    };
    match dtype {
        DType::Bool(_) => gathered::<Bool>(gpu, &[], plan, params, indices),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            gathered::<Float>(gpu, &[], plan, params, indices)
        }
        _ => gathered::<Int>(gpu, &[], plan, params, indices),
    }
}

fn on_cpu(line: &Line, plan: &GatherPlan) -> Vec<u8> {
    let types = ElementTypes::new(line.params.element_bytes as u64, line.index_kind);
    let indices = index_bytes(line.index_kind, &line.case.indices);
    plan.run_bytes(types, &line.params.bytes, &indices).unwrap()
}
