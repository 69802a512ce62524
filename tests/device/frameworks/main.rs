//! Each row in the tables of src/guide/frameworks.md, on the CPU and on the GPU, and the page's list of differences. The
//! expected results come from the other library's documentation, source or tests, or from running it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrays;
mod differences;
mod nulls;
mod onnx;
mod recorded;
mod row;
mod tensorflow;
mod torch;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use libtest_mimic::Trial;
use row::{Call, Row};
use testkit::device::{self, Arguments, gpu_trial};
use testkit::gpu::Gpu;
use testkit::sizes::run_filled;
use wgpu_gather::{GatherPlan, GpuError, RunError};

fn rows() -> Vec<Row> {
    let mut rows = tensorflow::rows();
    rows.extend(onnx::rows());
    rows.extend(arrays::rows());
    rows.extend(nulls::rows());
    rows.extend(torch::rows());
    rows
}

#[track_caller]
fn check(row: &Row, run: impl Fn(&GatherPlan, &Call) -> Result<(Vec<f32>, Vec<bool>), RunError>) {
    assert!(!row.calls.is_empty());
    let bits = |values: &[f32]| {
        values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    for call in &row.calls {
        let plan = row.here.plan(call);
        match (run(&plan, call), call.output) {
            (Ok((found, mask)), Some((shape, expected))) => {
                assert_eq!(plan.output_shape(), shape, "{}", row.there);
                assert_eq!(bits(&found), bits(expected), "{}: {found:?}", row.there);
                assert_eq!(mask, call.mask.unwrap_or(&mask), "{}", row.there);
            }
            (found, None) => {
                assert!(
                    matches!(found, Err(RunError::BadIndex(_))),
                    "{}: {found:?}",
                    row.there
                );
            }
            (Err(error), Some(_)) => panic!("{}: {error}", row.there),
        }
    }
}

fn on_cpu(plan: &GatherPlan, call: &Call) -> Result<(Vec<f32>, Vec<bool>), RunError> {
    let gathered = run_filled(plan, call.params.1, call.indices.1, call.fill)?;
    Ok((gathered, plan.out_of_range(call.indices.1)?))
}

fn on_gpu(gpu: &Gpu, plan: &GatherPlan, call: &Call) -> Result<(Vec<f32>, Vec<bool>), RunError> {
    let table = gpu.upload(call.params.1, call.params.0).unwrap();
    let index_rows = usize::try_from(plan.index_row_count()).unwrap();
    let mut mask = gpu.zeros(&[index_rows]).unwrap();
    let request = gpu.gather(plan, &table, call.indices.1);
    let gathered = request.fill(call.fill).mask(&mut mask).wait();
    let gathered = gathered.map(|gathered| (gathered, mask.download_blocking().unwrap()));
    gathered.map_err(|error| match error {
        GpuError::Run(error) => error,
        error => panic!("{error}"),
    })
}

/// The columns `there` and `here` of the guide's tables.
fn documented() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("../../../src/guide/frameworks.md").lines();
    let cells = lines.filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    cells.filter(|&(there, _)| there != "there").collect()
}

fn each_documented_row_is_tested() {
    let documented: Vec<_> = documented().into_iter().map(|(there, _)| there).collect();
    let rows = rows();
    let tested: BTreeSet<_> = rows.iter().map(|row| row.there).collect();
    assert_eq!(tested.len(), rows.len(), "a row is tested twice");
    let once: BTreeSet<_> = documented.iter().copied().collect();
    assert_eq!(once.len(), documented.len(), "a row is documented twice");
    assert_eq!(once, tested);
}

fn each_documented_plan_is_the_tested_one() {
    let documented: BTreeMap<_, _> = documented().into_iter().collect();
    for row in rows() {
        let code = format!("`{}`", row.here.code());
        let here = documented[row.there];
        assert!(
            here.starts_with(&code),
            "{}: {code}, found {here}",
            row.there
        );
    }
}

fn main() -> ExitCode {
    let mut trials = differences::trials();
    trials.push(Trial::test("each_documented_row_is_tested", || {
        each_documented_row_is_tested();
        Ok(())
    }));
    trials.push(Trial::test(
        "each_documented_plan_is_the_tested_one",
        || {
            each_documented_plan_is_the_tested_one();
            Ok(())
        },
    ));
    trials.push(Trial::test(
        "cpu::recorded_results_of_numpy_and_jax",
        || {
            recorded::on_the_cpu();
            Ok(())
        },
    ));
    let name = "gpu::recorded_results_of_numpy_and_jax";
    trials.push(gpu_trial(name, |gpu| {
        recorded::on_the_gpu(gpu);
        Ok(())
    }));
    for (number, row) in rows().into_iter().enumerate() {
        trials.push(Trial::test(format!("cpu::{}", row.there), move || {
            check(&row, on_cpu);
            Ok(())
        }));
        let name = format!("gpu::{}", rows()[number].there);
        trials.push(gpu_trial(name, move |gpu| {
            check(&rows()[number], |plan, call| on_gpu(gpu, plan, call));
            Ok(())
        }));
    }
    device::run(&Arguments::from_args(), trials)
}
