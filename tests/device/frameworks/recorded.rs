//! Gathers with the results of other libraries, on the CPU and on the GPU. A line of tests/data/frameworks.jsonl belongs to a row
//! of the guide's tables, and runs the code of that row. A line of tests/data/numpy.jsonl has code of its own.

use std::collections::BTreeSet;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use testkit::device::{cpu_trial, gpu_trial};
use testkit::gpu::Gpu;
use testkit::of_index_type;
use testkit::oracle::{Case, Op};
use testkit::sizes::run_filled;
use wgpu_gather::{BadIndices, GatherPlan, GpuError, Index, RunError};

/// A gather in the guide's words, and a line of a file.
type Recorded = (String, Value);

pub fn trials() -> Vec<Trial> {
    let of_rows = lines(include_str!("../../data/frameworks.jsonl"));
    let mut trials = Vec::new();
    for (there, here) in rows() {
        let of_row = of_rows.iter().filter(|line| line["call"] == there);
        let of_row = of_row.map(|line| (here.to_owned(), line.clone()));
        trials.extend(on_both(there, of_row.collect()));
    }
    let tested = of_rows.iter().map(|line| line["call"].as_str().unwrap());
    let tested: BTreeSet<String> = tested.map(str::to_owned).collect();
    trials.push(cpu_trial("each_line_has_one_row_in_the_guide", move || {
        let documented: Vec<_> = rows().into_iter().map(|(there, _)| there).collect();
        let once: BTreeSet<_> = documented.iter().map(|&there| there.to_owned()).collect();
        assert_eq!(once.len(), documented.len(), "a row is documented twice");
        assert_eq!(tested, once);
    }));
    let numpys = lines(include_str!("../../data/numpy.jsonl")).into_iter();
    let numpys = numpys.map(|line| (line["here"].as_str().unwrap().to_owned(), line));
    let numpys: Vec<Recorded> = numpys.collect();
    assert_eq!([of_rows.len(), numpys.len()], [127, 296]);
    trials.extend(on_both("recorded_results_of_numpy_and_jax", numpys));
    trials
}

/// The columns `there` and `here` of the guide's tables; of `here`, the code.
fn rows() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("../../../src/guide/frameworks.md").lines();
    let cells = lines.filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let rows = cells.filter(|&(there, _)| there != "there");
    rows.map(|(there, here)| (there, here.split('`').nth(1).unwrap()))
        .collect()
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn on_both(name: &str, recorded: Vec<Recorded>) -> [Trial; 2] {
    let on_gpu = recorded.clone();
    let check_all = |recorded: Vec<Recorded>, gpu: Option<&Gpu>| {
        assert!(!recorded.is_empty());
        recorded
            .iter()
            .for_each(|(here, line)| check(here, line, gpu));
    };
    [
        cpu_trial(format!("cpu::{name}"), move || check_all(recorded, None)),
        gpu_trial(format!("gpu::{name}"), move |gpu| {
            check_all(on_gpu, Some(gpu));
            Ok(())
        }),
    ]
}

fn check(here: &str, line: &Value, gpu: Option<&Gpu>) {
    let plan = plan(here, &line["params"], &line["indices"]);
    let params = match line.get("elements") {
        Some(elements) => list(elements, float),
        None => (0..plan.params_len()).map(|n| n as f32).collect(),
    };
    let fill = line.get("fill").map_or(0.0, float);
    let kind = line["type"].as_str().unwrap_or("i64").parse();
    let found = of_index_type!(kind.unwrap(), I => {
        let index = |value: &Value| I::try_from(value.as_i64().unwrap()).unwrap();
        run(gpu, &plan, &params, &list(&line["values"], index), fill)
    });
    let bits = |floats: Vec<f32>| floats.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    match (found, &line["output"]) {
        (Err(RunError::BadIndex(_)), Value::String(_)) => {}
        (Ok((found, mask)), Value::Object(output)) => {
            assert_eq!(json!(plan.output_shape()), output["shape"], "{line}");
            let expected = list(&output["elements"], float);
            assert_eq!(bits(found), bits(expected), "{line}");
            if let Some(expected) = line.get("mask") {
                assert_eq!(&json!(mask), expected, "{line}");
            }
        }
        (found, _) => panic!("{found:?}: {line}"),
    }
}

/// The plan of code as the guide writes it: `Gather::new().axis(1).bad_indices(Fill)`.
fn plan(here: &str, params: &Value, indices: &Value) -> GatherPlan {
    let (operation, attributes) = here.split_once("::new()").unwrap();
    let (mut axis, mut batch_dims, mut broadcast, mut from_end) = (None, 0, false, false);
    let mut policy = BadIndices::default();
    for attribute in attributes.split_terminator(')') {
        match attribute.split_once('(').unwrap() {
            (".axis", number) => axis = Some(number.parse().unwrap()),
            (".batch_dims", number) => batch_dims = number.parse().unwrap(),
            (".broadcast", "true") => broadcast = true,
            (".negative_indices", "FromEnd") => from_end = true,
            (".bad_indices", name) => policy = name.to_lowercase().parse().unwrap(),
            unknown => panic!("{unknown:?}"),
        }
    }
    let op = match operation {
        "Gather" => Op::Gather { axis, batch_dims },
        "GatherNd" => Op::GatherNd { axis, batch_dims },
        "GatherElements" => Op::GatherElements {
            axis: axis.unwrap_or(0),
            broadcast,
        },
        unknown => panic!("{unknown}"),
    };
    let dim = |dim: &Value| usize::try_from(dim.as_u64().unwrap()).unwrap();
    let case = Case {
        op,
        params_shape: list(params, dim),
        indices_shape: list(indices, dim),
        indices: Vec::new(),
        from_end,
    };
    case.plan(policy).unwrap()
}

/// The output, and the mask of bad rows.
fn run<I: Index>(
    gpu: Option<&Gpu>,
    plan: &GatherPlan,
    params: &[f32],
    indices: &[I],
    fill: f32,
) -> Result<(Vec<f32>, Vec<bool>), RunError> {
    let Some(gpu) = gpu else {
        let gathered = run_filled(plan, params, indices, fill)?;
        return Ok((gathered, plan.out_of_range(indices)?));
    };
    let table = gpu.upload(params, plan.params_shape()).unwrap();
    let index_rows = plan.index_row_count();
    let mut mask = gpu.zeros(&[index_rows]).unwrap();
    let request = gpu.gather(plan, &table, indices).fill(fill);
    match request.mask(&mut mask).wait() {
        Ok(gathered) => Ok((gathered, mask.download_blocking().unwrap())),
        Err(GpuError::Run(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn list<T>(values: &Value, of: impl Fn(&Value) -> T) -> Vec<T> {
    values.as_array().unwrap().iter().map(of).collect()
}

/// A number; `null` is NaN.
fn float(value: &Value) -> f32 {
    match value {
        Value::Null => f32::NAN,
        number => number.to_string().parse().unwrap(),
    }
}
