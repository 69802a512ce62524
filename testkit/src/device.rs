//! The GPU that all trials of a test binary share. Without a GPU the trials are ignored or, with
//! `GATHER_REQUIRE_GPU=1`, fail. With `GATHER_EXPECT_DRIVER` they fail on every driver but the named one.

use std::sync::OnceLock;

use libtest_mimic::{Completion, Failed, Trial};
use wgpu_gather::{Gpu, GpuError};

pub use super::on_gpu::{OnGpu, blocking};
use super::{choose, driver, log};

/// Opens a GPU of its own, on the adapter that the environment chooses.
pub fn open_gpu() -> Result<Gpu, GpuError> {
    pollster::block_on(choose::open(None))
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
    if let Some(expected) = driver::expected() {
        driver::check(&expected, &gpu.device().adapter_info())?;
    }
    Ok(gpu)
}

/// The setting that makes a missing GPU a failure; none if the trials are ignored then.
fn required() -> Option<String> {
    let required = std::env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1");
    let required = required.then(|| "GATHER_REQUIRE_GPU=1".to_owned());
    required.or_else(|| driver::expected().map(|expected| format!("{expected} is expected")))
}

/// A trial on the shared GPU.
pub fn gpu_trial(
    name: impl Into<String>,
    run: impl FnOnce(&'static Gpu) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || match gpu() {
        Ok(gpu) => run(gpu).map(|()| Completion::Completed),
        Err(error) => match required() {
            Some(required) => Err(format!("{required}, but {error}").into()),
            None => Ok(Completion::ignored_with(error)),
        },
    })
}
