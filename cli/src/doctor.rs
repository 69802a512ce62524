//! `wgpu-gather doctor`: runs the tests' cases on the devices of this machine. Results of TensorFlow and ONNX come
//! from the files of tests/data; small shapes are checked against the tests' oracle.

use std::any::Any;
use std::fmt::Write;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use indicatif::ProgressBar;
use serde_json::{Value, json};
use testkit::conformance::executor::Device;
use testkit::conformance::{BUILT_IN, cases, check};
use testkit::on_gpu::blocking;
use testkit::small_shapes::{jobs_of, params_shapes, small_shapes};
use testkit::voices::{Cpu, Job, POLICIES};
use wgpu_gather::{Gpu, GpuOptions, wgpu};

use crate::Answer;
use crate::adapters;
use crate::args::Choice;
use crate::table::{self, Table, progress};
use wgpu_gather_cli::arrays::Result;

/// One in this many of the small shapes is checked.
const SAMPLED: usize = 997;

/// Most failures of a device that are shown.
const SHOWN: usize = 3;
/// Most characters of a failure that are shown.
const SHOWN_CHARS: usize = 600;

/// Checks the CPU and the adapters that are chosen, or all adapters.
pub fn examine(choice: &Choice) -> Result<Answer> {
    let adapters = adapters::find(choice.adapter.as_deref())?;
    let mut doctor = Doctor::new(1 + adapters.len());
    // The answer holds the failures, so panics print nothing.
    panic::set_hook(Box::new(|_| ()));
    doctor.examine("the CPU", "-", Ok(Device::Cpu));
    for adapter in &adapters {
        let info = adapter.get_info();
        doctor.examine(&info.name, &info.backend.to_string(), open(adapter));
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

/// The cases and the results of the devices examined so far.
struct Doctor {
    cases: Vec<cases::Case>,
    jobs: Vec<Job>,
    bar: ProgressBar,
    examined: Vec<Examined>,
}

/// The result of a device.
struct Examined {
    name: String,
    back_end: String,
    failed: usize,
    /// The text of the first failures.
    failures: Vec<String>,
}

impl Doctor {
    fn new(devices: usize) -> Self {
        let cases: Vec<cases::Case> = BUILT_IN
            .iter()
            .flat_map(|(name, text)| cases::lines(Path::new(name), text))
            .collect();
        let jobs = sampled_jobs();
        Self {
            bar: progress((cases.len() + jobs.len()) * devices),
            cases,
            jobs,
            examined: Vec::new(),
        }
    }

    fn case_count(&self) -> usize {
        self.cases.len() + self.jobs.len()
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
                self.case_count().to_string(),
                (self.case_count() - device.failed).to_string(),
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
                "cases": self.case_count(),
                "failed": device.failed,
                "failures": device.failures,
            })
        });
        json!({ "passed": self.passed(), "devices": devices.collect::<Vec<_>>() })
    }

    /// Runs all cases on a device and keeps its result. A device that did not open fails every case.
    fn examine(&mut self, name: &str, back_end: &str, device: Result<Device>) {
        self.bar.set_message(name.to_owned());
        let (failed, failures) = match device {
            Ok(device) => {
                let failures = self.failures(device);
                (failures.len(), failures)
            }
            Err(error) => {
                self.bar.inc(self.case_count() as u64);
                (self.case_count(), vec![error.to_string()])
            }
        };
        let shown = failures.iter().take(SHOWN);
        self.examined.push(Examined {
            name: name.to_owned(),
            back_end: back_end.to_owned(),
            failed,
            failures: shown
                .map(|failure| failure.chars().take(SHOWN_CHARS).collect())
                .collect(),
        });
    }

    /// Runs all cases on a device and describes each failure.
    fn failures(&self, device: Device) -> Vec<String> {
        let mut failures = Vec::new();
        let mut run_case = |name: &str, check: &dyn Fn() -> std::result::Result<(), String>| {
            let checked = panic::catch_unwind(AssertUnwindSafe(check));
            if let Err(problem) = checked.unwrap_or_else(|panic| Err(message(&*panic))) {
                failures.push(format!("{name}: {problem}"));
            }
            self.bar.inc(1);
        };
        for case in &self.cases {
            run_case(&case.name, &|| {
                let line = case.line.as_ref().map_err(Clone::clone)?;
                pollster::block_on(check::check(line, device))
            });
        }
        for job in &self.jobs {
            run_case("small shapes", &|| {
                match device {
                    Device::Cpu => job.check(&Cpu),
                    Device::Gpu(gpu) => job.check(&blocking(gpu)),
                }
                Ok(())
            });
        }
        failures
    }
}

/// Opens a GPU that lives until the process ends, since the cases need a `'static` GPU.
fn open(adapter: &wgpu::Adapter) -> Result<Device> {
    let gpu = pollster::block_on(Gpu::open(&GpuOptions {
        adapter: Some(adapter.clone()),
        ..Default::default()
    }))?;
    Ok(Device::Gpu(Box::leak(Box::new(gpu))))
}

fn sampled_jobs() -> Vec<Job> {
    let shapes = params_shapes();
    let all = shapes.iter().flat_map(|shape| small_shapes(shape));
    let valid = all.filter(|case| {
        let output = case
            .op
            .output_shape(&case.params_shape, &case.indices_shape);
        output.is_ok()
    });
    valid
        .step_by(SAMPLED)
        .flat_map(|case| jobs_of(case, &POLICIES))
        .collect()
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a message").to_owned()
}
