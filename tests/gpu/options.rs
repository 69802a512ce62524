//! The choice of an adapter by `GpuOptions`, and `Executor::new`, on the adapters of this machine.

use std::process::Command;

use libtest_mimic::{Completion, Trial};
use wgpu_gather::{Executor, Gather, Gpu, GpuError, GpuOptions, wgpu};

use crate::common::device::gpu_trial;
use crate::to_host::block_on;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("an_adapter_is_chosen_by_its_name", by_name),
        trial("a_software_adapter_is_not_taken_unasked", software),
        trial("gpu_else_cpu_takes_no_software_adapter", gpu_else_cpu),
        Trial::ignorable_test("from_env_opens_a_gl_adapter", gl_from_env),
        // For the test above, which sets the environment of a process of its own.
        gpu_trial("the_adapter_of_the_environment_gathers", |gpu| {
            let output = gpu.gather(Gather::new(), &[1, 2, 3], &[2, 0]).wait();
            assert_eq!(output, Ok(vec![3, 1]));
            Ok(())
        }),
    ]
}

/// The options by which the trials' adapter was chosen, with its whole name.
fn same_adapter(gpu: &Gpu) -> GpuOptions {
    GpuOptions {
        adapter_name: Some(gpu.device().adapter_info().name.to_uppercase()),
        ..GpuOptions::from_env()
    }
}

fn by_name(gpu: &'static Gpu) {
    let options = same_adapter(gpu);
    let opened = block_on(Gpu::open(&options)).unwrap();
    assert_eq!(opened.to_string(), gpu.to_string());
    let options = GpuOptions {
        adapter_name: Some("no such adapter".into()),
        ..options
    };
    let Err(GpuError::NoAdapter(text)) = block_on(Gpu::open(&options)) else {
        panic!("no adapter has the name");
    };
    let known = gpu.device().adapter_info().name;
    assert!(text.starts_with("none has \"no such adapter\" in its name, found "));
    assert!(text.contains(&known), "{text}");
}

fn software(gpu: &'static Gpu) {
    let options = GpuOptions {
        software: false,
        ..same_adapter(gpu)
    };
    let info = gpu.device().adapter_info();
    let executor = Executor::from(block_on(Gpu::open(&options)));
    match executor {
        Executor::Gpu(_) => assert_ne!(info.device_type, wgpu::DeviceType::Cpu),
        Executor::Cpu(_) => {
            assert_eq!(info.device_type, wgpu::DeviceType::Cpu);
            let name = info.name;
            let text = format!(
                "the CPU (no adapter found: only the software adapter {name}, which is slower than the CPU path)"
            );
            assert_eq!(executor.to_string(), text);
        }
    }
}

fn gpu_else_cpu(_: &'static Gpu) {
    let instance = wgpu::Instance::default();
    let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut types = adapters
        .iter()
        .map(|adapter| adapter.get_info().device_type);
    let has_gpu = types.any(|device_type| device_type != wgpu::DeviceType::Cpu);
    let executor = block_on(Executor::new());
    assert_eq!(matches!(executor, Executor::Gpu(_)), has_gpu, "{executor}");
    let output = executor.gather(Gather::new(), &[1, 2, 3], &[2, 0]).wait();
    assert_eq!(output, Ok(vec![3, 1]));
}

/// Runs the trial `the_adapter_of_the_environment_gathers` with `WGPU_BACKEND=gl`.
fn gl_from_env() -> Result<Completion, libtest_mimic::Failed> {
    let options = GpuOptions {
        backends: wgpu::Backends::GL,
        ..Default::default()
    };
    if let Err(error) = block_on(Gpu::open(&options)) {
        return Ok(Completion::ignored_with(error.to_string()));
    }
    let ran = Command::new(std::env::current_exe()?)
        .args(["--exact", "the_adapter_of_the_environment_gathers"])
        .env("WGPU_BACKEND", "gl")
        .env_remove("WGPU_ADAPTER_NAME")
        .env_remove("GATHER_EXPECT_DRIVER")
        .output()?;
    let (printed, errors) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    let passed = ran.status.success() && printed.contains("1 passed");
    match passed && errors.contains("backend: Gl") {
        true => Ok(Completion::Completed),
        false => Err(format!("{printed}{errors}").into()),
    }
}
