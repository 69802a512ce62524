//! `wgpu-gather doctor`: compares gathers and sums on this machine's GPUs with the CPU's results.

mod cases;
mod random;
mod sums;

use std::any::Any;
use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};

use indicatif::ProgressBar;
use serde_json::{Value, json};
use wgpu_gather::{ElementTypes, Executor, GatherPlan, GpuError};

use crate::args::Choice;
use crate::choose;
use crate::output::Answer;
use crate::progress::of_steps;
use crate::table::{self, Table};
use cases::Case;
use sums::Sum;
use wgpu_gather_cli::arrays::Result;

/// Gathers and sums that each device runs.
const GATHERS: u64 = 1500;
const SUMS: u64 = 20;
const CASES: u64 = GATHERS + SUMS;

/// Most failures shown per device.
const SHOWN: usize = 3;
/// Most characters shown per failure.
const SHOWN_CHARS: usize = 600;

/// Checks the chosen adapters, or all by default.
pub fn examine(choice: &Choice) -> Result<Answer> {
    let adapters = pollster::block_on(choose::adapters(choice.adapter.as_deref()))?;
    let mut doctor = Doctor::new(adapters.len());
    // The answer holds the failures, so panics print nothing.
    panic::set_hook(Box::new(|_| ()));
    for adapter in &adapters {
        let info = adapter.get_info();
        let gpu = pollster::block_on(Executor::from_adapter(adapter));
        doctor.examine(&info.name, &info.backend.to_string(), gpu);
    }
    let _ = panic::take_hook();
    doctor.bar.finish_and_clear();
    Ok(Answer {
        text: match choice.form.json {
            true => format!("{:#}", doctor.json()),
            false => doctor.text(),
        },
        passed: doctor.passed(),
    })
}

/// The results of the devices examined so far.
struct Doctor {
    bar: ProgressBar,
    examined: Vec<Examined>,
}

/// The result for one device.
struct Examined {
    name: String,
    back_end: String,
    failed: u64,
    /// The text of the first failures.
    failures: Vec<String>,
}

impl Doctor {
    fn new(devices: usize) -> Self {
        Self {
            bar: of_steps(devices as u64 * CASES),
            examined: Vec::new(),
        }
    }

    fn passed(&self) -> bool {
        self.examined.iter().all(|device| device.failed == 0)
    }

    fn text(&self) -> String {
        if self.examined.is_empty() {
            return "no adapter found".to_owned();
        }
        let mut table = Table::new(&["adapter", "back end"], &["cases", "passed", "failed"]);
        let mut details = String::new();
        for device in &self.examined {
            let Examined { name, back_end, .. } = device;
            table.row(vec![
                name.clone(),
                back_end.clone(),
                CASES.to_string(),
                (CASES - device.failed).to_string(),
                match device.failed {
                    0 => table::passed("0"),
                    failed => table::failed(&failed.to_string()),
                },
            ]);
            for failure in &device.failures {
                let _ = write!(details, "\n\n{name} ({back_end}): {failure}");
            }
        }
        format!("{table}{details}")
    }

    fn json(&self) -> Value {
        let devices = self.examined.iter().map(|device| {
            json!({
                "name": device.name,
                "back_end": device.back_end,
                "cases": CASES,
                "failed": device.failed,
                "failures": device.failures,
            })
        });
        json!({ "passed": self.passed(), "devices": devices.collect::<Vec<_>>() })
    }

    /// Runs all cases on a GPU and keeps the result. A GPU that did not open fails every case.
    fn examine(
        &mut self,
        name: &str,
        back_end: &str,
        gpu: std::result::Result<Executor, GpuError>,
    ) {
        self.bar.set_message(name.to_owned());
        let (failed, failures) = match gpu {
            Ok(gpu) => {
                let failures = self.failures(&gpu);
                (failures.len() as u64, failures)
            }
            Err(error) => {
                self.bar.inc(CASES);
                (CASES, vec![error.to_string()])
            }
        };
        let shown = failures.iter().take(SHOWN);
        let start = |failure: &String| failure.chars().take(SHOWN_CHARS).collect();
        self.examined.push(Examined {
            name: name.to_owned(),
            back_end: back_end.to_owned(),
            failed,
            failures: shown.map(start).collect(),
        });
    }

    /// Runs all cases and describes each failure.
    fn failures(&self, gpu: &Executor) -> Vec<String> {
        let mut failures = Vec::new();
        let run = |check: &dyn Fn() -> std::result::Result<(), String>| {
            let checked = panic::catch_unwind(AssertUnwindSafe(check));
            self.bar.inc(1);
            checked.unwrap_or_else(|panic| Err(message(&*panic))).err()
        };
        for seed in 0..GATHERS {
            let case = Case::random(seed);
            let problem = run(&|| check(&case, gpu));
            failures.extend(problem.map(|problem| format!("{problem}: {case:?}")));
        }
        for seed in 0..SUMS {
            let sum = Sum::random(seed);
            failures.extend(run(&|| sum.check(gpu)));
        }
        failures
    }
}

fn on_gpu(
    gpu: &Executor,
    plan: &GatherPlan,
    types: ElementTypes,
    params: &[u8],
    indices: &[u8],
) -> std::result::Result<Vec<u8>, GpuError> {
    let params = gpu.upload(params, &[params.len()])?;
    let indices = gpu.upload(indices, &[indices.len()])?;
    gpu.gather_bytes(plan, types, &params, &indices).wait()
}

/// Compares a gather on a GPU with the CPU's. The error says how they differ.
fn check(case: &Case, gpu: &Executor) -> std::result::Result<(), String> {
    let plan = case.plan().map_err(|error| error.to_string())?;
    let (params, indices) = (case.params(), case.index_bytes());
    let found = on_gpu(gpu, &plan, case.types, &params, &indices);
    let expected = plan.gather_bytes(case.types, &params, &indices);
    match (found, expected.map_err(GpuError::from)) {
        (found, expected) if found == expected => Ok(()),
        (Ok(found), Ok(expected)) => {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            Err(format!("output differs from byte {at} on"))
        }
        (Err(error), Err(expected)) => Err(format!("{error}, where the CPU says {expected}")),
        (Err(error), Ok(_)) => Err(error.to_string()),
        (Ok(_), Err(expected)) => Err(format!("no error, where the CPU says {expected}")),
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
