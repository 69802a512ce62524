//! The trials of a test binary, and the GPU that they share. Without a GPU the trials are ignored or, with
//! `GATHER_REQUIRE_GPU=1`, fail. With `GATHER_EXPECT_DRIVER` they fail on every driver but the named one.

use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use libtest_mimic::Arguments;
use libtest_mimic::{Completion, Failed, Trial};
use wgpu_gather::{GpuError, wgpu};

pub use super::choose::descriptor;
pub use super::gpu::Gpu;
pub use super::on_gpu::{OnGpu, blocking};
use super::{choose, log};

/// Opens a GPU of its own, on the adapter that the environment chooses.
pub fn open_gpu() -> Result<Gpu, GpuError> {
    pollster::block_on(choose::open(None)).map(Gpu::from)
}

/// The GPU that the environment chooses; the error says why there is none.
pub fn gpu() -> Result<&'static Gpu, &'static str> {
    static GPU: OnceLock<Result<Gpu, String>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| {
        log::watch();
        let gpu = open();
        match &gpu {
            Ok(gpu) => eprintln!("GPU trials run on {:?}", gpu.device().adapter_info()),
            Err(error) => eprintln!("GPU trials do not run: {error}"),
        }
        gpu
    });
    gpu.as_ref().map_err(String::as_str)
}

fn open() -> Result<Gpu, String> {
    let gpu = open_gpu().map_err(|error| error.to_string())?;
    if let Some(expected) = expected_driver() {
        check_driver(&expected, &gpu.device().adapter_info())?;
    }
    Ok(gpu)
}

/// The setting that makes a missing GPU a failure; none if the trials are ignored then.
fn required() -> Option<String> {
    let required = std::env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1");
    let required = required.then(|| "GATHER_REQUIRE_GPU=1".to_owned());
    required.or_else(|| expected_driver().map(|expected| format!("{expected} is expected")))
}

/// A trial that needs no device.
pub fn cpu_trial(name: impl Into<String>, run: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        run();
        Ok(())
    })
}

/// As [`cpu_trial`], with the name of the function.
pub fn trial_of<F: FnOnce() + Send + 'static>(run: F) -> Trial {
    let path = std::any::type_name::<F>();
    cpu_trial(path.rsplit("::").next().unwrap_or(path), run)
}

/// A trial of a program that finds the GPU by itself.
pub fn program_trial(name: impl Into<String>, run: impl FnOnce() + Send + 'static) -> Trial {
    gpu_trial(name, move |_| {
        run();
        Ok(())
    })
}

/// A trial on the shared GPU.
pub fn gpu_trial(
    name: impl Into<String>,
    run: impl FnOnce(&'static Gpu) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || match gpu() {
        Ok(gpu) => run(gpu).map(|()| Completion::Completed),
        Err(error) => without_gpu(error),
    })
}

/// Ends a trial that needs a GPU, where there is none: a failure if a GPU is required.
pub fn without_gpu(error: &str) -> Result<Completion, Failed> {
    match required() {
        Some(required) => Err(format!("{required}, but {error}").into()),
        None => Ok(ignored(error)),
    }
}

/// True for GL on the CPU, which has run a submission when submit returns.
pub fn is_gl_on_the_cpu(gpu: &Gpu) -> bool {
    let info = gpu.device().adapter_info();
    info.device_type == wgpu::DeviceType::Cpu && info.backend == wgpu::Backend::Gl
}

static IGNORED: AtomicUsize = AtomicUsize::new(0);

/// Ends a trial that needs another driver than this machine has.
pub fn ignored(reason: impl ToString) -> Completion {
    IGNORED.fetch_add(1, Ordering::Relaxed);
    Completion::ignored_with(reason)
}

/// Runs the trials. The last line that it prints says how many were ignored for want of a driver, and what to install.
///
/// On GL on the CPU they run one after another: wgpu panics if a thread waits a second for another's GL call, which can
/// take that long beside busy processes.
pub fn run(arguments: &Arguments, trials: Vec<Trial>) -> ExitCode {
    let mut arguments = arguments.clone();
    if !arguments.list && gpu().is_ok_and(is_gl_on_the_cpu) {
        arguments.test_threads = Some(1);
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        let ignored = IGNORED.load(Ordering::Relaxed);
        let remedy = match ignored {
            0 => "",
            _ => {
                "; for these, install a driver of Vulkan and of GL: on Debian, apt-get install \
                 mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri"
            }
        };
        println!("GPU trials ignored: {ignored}{remedy}");
    }
    conclusion.exit_code()
}

const EXPECT_DRIVER: &str = "GATHER_EXPECT_DRIVER";

/// The value of `GATHER_EXPECT_DRIVER`.
pub fn expected_driver() -> Option<String> {
    std::env::var(EXPECT_DRIVER).ok()
}

/// Returns an error that describes `found` if it is not the expected driver: for `vulkan/SwiftShader`, a Vulkan adapter
/// whose name or driver contains `SwiftShader`.
fn check_driver(expected: &str, found: &wgpu::AdapterInfo) -> Result<(), String> {
    let (back_end, driver) = expected.split_once('/').unwrap_or((expected, ""));
    let (name, of) = (&found.name, &found.driver);
    let is_it = |text: &str| text.to_lowercase().contains(&driver.to_lowercase());
    // Every name contains an empty text.
    if found.backend.to_str() == back_end && !driver.is_empty() && (is_it(name) || is_it(of)) {
        return Ok(());
    }
    Err(format!(
        "{EXPECT_DRIVER}={expected}, but the adapter is {name:?}, driver {of:?} {:?}, on {}",
        found.driver_info,
        found.backend.to_str()
    ))
}
