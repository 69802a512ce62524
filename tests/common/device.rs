//! The one GPU of a test binary, and trials on it: ignored, and shown as such, where there is none;
//! failed there with `GATHER_REQUIRE_GPU=1`, and where it is not the one that `GATHER_EXPECT_DRIVER` names.

use std::sync::OnceLock;

use libtest_mimic::{Completion, Failed, Trial};
use wgpu_gather::Gpu;

pub use super::on_gpu::{OnGpu, blocking};
use super::{driver, log};

/// The adapter that the environment chooses, or why there is none.
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
    let gpu = pollster::block_on(Gpu::from_env()).map_err(|error| error.to_string())?;
    if let Some(expected) = driver::expected() {
        driver::check(&expected, &gpu.device().adapter_info())?;
    }
    Ok(gpu)
}

/// Why a machine without the GPU fails.
fn required() -> Option<String> {
    let required = std::env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1");
    let required = required.then(|| "GATHER_REQUIRE_GPU=1".to_owned());
    required.or_else(|| driver::expected().map(|expected| format!("{expected} is expected")))
}

/// A test that needs a GPU.
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
