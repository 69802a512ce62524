//! Compares one line with one device's results. An error says what differs.

use wgpu_gather::{BadIndexError, PlanError};

use super::executor::Device;
use super::line::{BadRows, Expect, Line, Output};
use super::{same, same_bytes};
use crate::oracle::Op;
use crate::samples::TENSORFLOWS_POLICIES;

pub async fn check(line: &Line, device: Device) -> Result<(), String> {
    match &line.expect {
        Expect::Output(output) => {
            check_gather(line, device, output, None).await?;
            check_oracle(line, output, &[])
        }
        Expect::BadRows(bad) => {
            check_gather(line, device, &bad.zero, Some(bad)).await?;
            check_oracle(line, &bad.zero, &bad.rows)
        }
        // Only TensorFlow limits an index row to 7 values, batch dims included.
        Expect::PlanError { kind, .. } if kind.ends_with("tf_depth_limit") => {
            let (output, bad_rows) = oracle_output(line)?;
            same("bad rows", bad_rows.as_slice(), &[])?;
            check_gather(line, device, &output, None).await
        }
        Expect::PlanError { kind, text } => check_plan_error(line, kind, text.as_deref()),
    }
}

/// Compares with `output`, which holds zeros in the `bad` rows' slices.
async fn check_gather(
    line: &Line,
    device: Device,
    output: &Output,
    bad: Option<&BadRows>,
) -> Result<(), String> {
    for case in [Some(&line.case), line.case_from_end.as_ref()]
        .into_iter()
        .flatten()
    {
        for policy in TENSORFLOWS_POLICIES {
            let plan = case
                .plan(policy)
                .map_err(|error| format!("planning failed: {error}"))?;
            same("output shape", plan.output_shape(), &output.shape)?;
            let result = device
                .run(&plan, &line.params, line.index_kind, &case.indices)
                .await?;
            match (result, bad.filter(|_| device.names_bad_rows(policy))) {
                (Ok(data), None) => {
                    same_bytes(&format!("output ({policy:?})"), &data, &output.data)?
                }
                (Err(error), Some(bad)) => check_bad_index(line, bad, &error)?,
                (Ok(_), Some(bad)) => {
                    return Err(format!(
                        "an output ({policy:?}), expected the error {}",
                        bad.text
                    ));
                }
                (Err(error), None) => {
                    return Err(format!(
                        "an error ({policy:?}), expected an output: {error}"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn check_bad_index(line: &Line, bad: &BadRows, error: &BadIndexError) -> Result<(), String> {
    let first = *bad.rows.first().ok_or("bad_rows is empty")?;
    same("first bad row", &error.row, &first)?;
    let ours = error.to_string();
    same("text", &ours, &line.case.bad_index_text(first))?;

    if bad.exact {
        if !same_text(line.case.op, &ours, &bad.text) {
            return Err(format!("text is {ours:?}, TensorFlow's is {:?}", bad.text));
        }
        return Ok(());
    }
    let mut texts = bad.rows.iter().map(|&row| line.case.bad_index_text(row));
    if !texts.any(|text| same_text(line.case.op, &text, &bad.text)) {
        return Err(format!(
            "TensorFlow's text names no bad row: {:?}",
            bad.text
        ));
    }
    Ok(())
}

/// True if the error texts agree. TensorFlow's gather_nd flattens two or more batch dims in the position, so for these only
/// the text after the position is compared.
fn same_text(op: Op, ours: &str, tensorflow: &str) -> bool {
    let after_position = |text: &str| text.find(" = ").map(|at| text[at..].to_owned());
    match op {
        Op::GatherNd {
            batch_dims: 2.., ..
        } => after_position(ours) == after_position(tensorflow),
        _ => ours == tensorflow,
    }
}

/// Checks that the oracle agrees with TensorFlow on the output and on all bad rows.
fn check_oracle(line: &Line, output: &Output, bad_rows: &[usize]) -> Result<(), String> {
    let (oracle, bad) = oracle_output(line)?;
    same("bad rows of the oracle", bad.as_slice(), bad_rows)?;
    same("output shape of the oracle", &oracle.shape, &output.shape)?;
    same_bytes("output of the oracle", &oracle.data, &output.data)
}

/// The oracle's output, with zeros in the bad rows' slices, and the bad rows.
fn oracle_output(line: &Line) -> Result<(Output, Vec<usize>), String> {
    let (case, element_bytes) = (&line.case, line.params.element_bytes);
    let shape = case.output_shape()?;
    let answer = case.answer();
    let mut data = vec![0; answer.elements.len() * element_bytes];
    for (element, at) in data.chunks_exact_mut(element_bytes).zip(&answer.elements) {
        if let Some(at) = at {
            element.copy_from_slice(&line.params.bytes[at * element_bytes..][..element_bytes]);
        }
    }
    Ok((
        Output { shape, data },
        answer.bad_rows.into_iter().collect(),
    ))
}

fn check_plan_error(line: &Line, kind: &str, text: Option<&str>) -> Result<(), String> {
    for policy in TENSORFLOWS_POLICIES {
        let error = match line.case.plan(policy) {
            Ok(plan) => return Err(format!("planned {plan}, expected error_kind {kind}")),
            Err(error) => error,
        };
        same(
            &format!("error_kind of {error:?}"),
            error_kind(&error),
            kind,
        )?;
        if let (PlanError::EmptyParams { .. }, Some(text)) = (&error, text) {
            same("text", error.to_string().as_str(), text)?;
        }
    }
    Ok(())
}

/// The conformance files' word for an error's variant.
fn error_kind(error: &PlanError) -> &'static str {
    match error {
        PlanError::BatchDimsNegative { .. } => "batch_dims_negative",
        PlanError::BatchDimsOutOfRange { .. } => "batch_dims_range",
        PlanError::BatchDimsNotBelowIndicesRank { .. } => "batch_dims_ge_rank_indices",
        PlanError::BatchDimsNotBelowParamsRank { .. } => "batch_dims_ge_rank_params",
        PlanError::BatchDimsAboveAxis { .. } => "axis_lt_batch_dims",
        PlanError::BatchDimsUnequal { .. } => "batch_mismatch",
        PlanError::ParamsScalar => "params_scalar",
        PlanError::IndicesScalar => "indices_scalar",
        PlanError::IndexDepthAboveRank { .. } => "depth_gt_rank",
        PlanError::AxisOutOfRange { .. } => "axis_range",
        PlanError::EmptyParams { .. } => "empty_params",
        _ => "none of the files' kinds",
    }
}
