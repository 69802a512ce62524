//! `wgpu-gather doctor`: compares gathers and sums on this machine's devices with the operations' definitions.

mod cases;
mod random;
mod sums;

use std::any::Any;
use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};

use indicatif::ProgressBar;
use serde_json::{Value, json};
use wgpu_gather::{ElementTypes, Executor, GatherPlan, GpuError, RunError};

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

/// Checks the CPU and the chosen adapters, or all by default.
pub fn examine(choice: &Choice) -> Result<Answer> {
    let adapters = pollster::block_on(choose::adapters(choice.adapter.as_deref()))?;
    let mut doctor = Doctor::new(1 + adapters.len());
    // The answer holds the failures, so panics print nothing.
    panic::set_hook(Box::new(|_| ()));
    doctor.examine("the CPU", "-", Ok(None));
    for adapter in &adapters {
        let info = adapter.get_info();
        let gpu = pollster::block_on(Executor::from_adapter(adapter)).map(Some);
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
        let no_adapter = match self.examined.len() {
            1 => "\nno adapter found",
            _ => "",
        };
        format!("{table}{no_adapter}{details}")
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

    /// Runs all cases on a GPU or the CPU and keeps the result. A GPU that did not open fails every case.
    fn examine(
        &mut self,
        name: &str,
        back_end: &str,
        gpu: std::result::Result<Option<Executor>, GpuError>,
    ) {
        self.bar.set_message(name.to_owned());
        let (failed, failures) = match gpu {
            Ok(gpu) => {
                let failures = self.failures(gpu.as_ref());
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
    fn failures(&self, gpu: Option<&Executor>) -> Vec<String> {
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

/// Compares a gather with its expected output. The error says how they differ.
fn check(case: &Case, gpu: Option<&Executor>) -> std::result::Result<(), String> {
    let plan = case.plan().map_err(|error| error.to_string())?;
    let (params, indices) = (case.params(), case.index_bytes());
    let gathered = match gpu {
        Some(gpu) => on_gpu(gpu, &plan, case.types, &params, &indices),
        None => plan
            .gather_bytes(case.types, &params, &indices)
            .map_err(GpuError::from),
    };
    let found = match gathered {
        Err(GpuError::Run(RunError::BadIndex(bad))) => Err(bad.row),
        gathered => Ok(gathered.map_err(|error| error.to_string())?),
    };
    match (found, case.expected(&params)) {
        (Ok(found), Ok(expected)) if found == expected => Ok(()),
        (Err(found), Err(expected)) if found == expected => Ok(()),
        (Err(row), _) => Err(format!("bad row {row} is not the first bad row")),
        (Ok(_), Err(row)) => Err(format!("bad row {row} is not named")),
        (Ok(found), Ok(expected)) => {
            let at = found.iter().zip(&expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(found.len().min(expected.len()));
            Err(format!("output differs from byte {at} on"))
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
