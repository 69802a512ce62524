//! Gathers with NumPy's and JAX's results, which tests/data/numpy_cases.py has recorded.

use serde_json::Value;
use wgpu_gather::{
    BadIndices, Executor, Gather, GatherElements, GatherIndex, GatherNd, GatherPlan, GpuError,
    NegativeIndices, RunError,
};

use testkit::sizes::run_filled;

const CASES: usize = 640;
const FILL: i32 = -1;

pub fn on_the_cpu() {
    check(&Cpu);
}

pub fn on_the_gpu(gpu: &Executor) {
    check(gpu);
}

trait Device {
    fn gather<I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        params: &[i32],
        indices: &[I],
    ) -> Result<Vec<i32>, RunError>;
}

struct Cpu;

impl Device for Cpu {
    fn gather<I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        params: &[i32],
        indices: &[I],
    ) -> Result<Vec<i32>, RunError> {
        run_filled(plan, params, indices, FILL)
    }
}

impl Device for Executor {
    fn gather<I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        params: &[i32],
        indices: &[I],
    ) -> Result<Vec<i32>, RunError> {
        let table = self.upload(params, plan.params_shape()).unwrap();
        let gathered = self.gather(plan, &table, indices).fill(FILL).wait();
        gathered.map_err(|error| match error {
            GpuError::Run(error) => error,
            error => panic!("{error}"),
        })
    }
}

fn check(device: &impl Device) {
    let lines = include_str!("../../data/numpy.jsonl").lines();
    assert_eq!(lines.clone().count(), CASES);
    for line in lines {
        let case: Value = serde_json::from_str(line).unwrap();
        let plan = plan(&case);
        let params_len = usize::try_from(plan.params_len()).unwrap();
        let params: Vec<i32> = (0..).take(params_len).collect();
        let values = numbers(&case["values"]);
        let output = match case["type"].as_str() {
            None => device.gather(&plan, &params, &values),
            Some("int8") => device.gather(&plan, &params, &narrow::<i8>(&values)),
            Some("uint8") => device.gather(&plan, &params, &narrow::<u8>(&values)),
            Some("int16") => device.gather(&plan, &params, &narrow::<i16>(&values)),
            Some("uint16") => device.gather(&plan, &params, &narrow::<u16>(&values)),
            Some(index_type) => panic!("indices of {index_type}"),
        };
        if case["output"] == "error" {
            assert!(matches!(output, Err(RunError::BadIndex(_))), "{line}");
            continue;
        }
        let output: Vec<i64> = output.unwrap().into_iter().map(i64::from).collect();
        assert_eq!(
            plan.output_shape(),
            shape(&case["output"]["shape"]),
            "{line}"
        );
        assert_eq!(output, numbers(&case["output"]["elements"]), "{line}");
    }
}

fn plan(case: &Value) -> GatherPlan {
    let (negative, bad) = match case["mode"].as_str().unwrap() {
        "raise" => (NegativeIndices::FromEnd, BadIndices::Error),
        "fill" | "jax fill" => (NegativeIndices::FromEnd, BadIndices::Fill),
        "clip" => (NegativeIndices::Invalid, BadIndices::Clamp),
        "jax clip" => (NegativeIndices::FromEnd, BadIndices::Clamp),
        "wrap" => (NegativeIndices::Invalid, BadIndices::Wrap),
        mode => panic!("mode {mode}"),
    };
    let axis = case["axis"].as_i64().unwrap();
    let (params, indices) = (shape(&case["params"]), shape(&case["indices"]));
    let plan = match case["op"].as_str().unwrap() {
        "gather" => Gather::new()
            .axis(axis)
            .negative_indices(negative)
            .bad_indices(bad)
            .plan(&params, &indices),
        "gather_nd" => GatherNd::new()
            .axis(axis)
            .negative_indices(negative)
            .bad_indices(bad)
            .plan(&params, &indices),
        "gather_elements" => GatherElements::new()
            .axis(axis)
            .broadcast(true)
            .negative_indices(negative)
            .bad_indices(bad)
            .plan(&params, &indices),
        op => panic!("op {op}"),
    };
    plan.unwrap()
}

fn numbers(values: &Value) -> Vec<i64> {
    let values = values.as_array().unwrap();
    values.iter().map(|value| value.as_i64().unwrap()).collect()
}

fn narrow<I: TryFrom<i64, Error: std::fmt::Debug>>(values: &[i64]) -> Vec<I> {
    values
        .iter()
        .map(|&value| value.try_into().unwrap())
        .collect()
}

fn shape(dims: &Value) -> Vec<usize> {
    let dims = numbers(dims).into_iter();
    dims.map(|dim| usize::try_from(dim).unwrap()).collect()
}
