//! Which adapter an `Executor` uses: the caller's, the environment's, or the one that `Executor::gpu_or_cpu` takes.

use std::process::{Command, Output};

use libtest_mimic::{Completion, Failed, Trial};
use wgpu_gather::{Executor, Gather, GpuError, wgpu};

use crate::to_host::block_on;
use crate::{flat, trial};
use testkit::device::{self, gpu_trial};
use testkit::gpu::Gpu;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_device_has_all_limits_of_its_adapter", limits),
        trial("each_adapter_gives_a_device_of_its_own", each_adapter),
        trial("an_executor_takes_no_software_adapter", executor),
        trial("the_environment_names_an_adapter", by_name),
        Trial::ignorable_test("the_environment_opens_a_gl_adapter", gl_from_env),
        // The two tests above run this in a process whose environment they set.
        gpu_trial(GATHERS, |gpu| {
            let table = flat(gpu, &[1, 2, 3]);
            let output = gpu.gather(Gather::new(), &table, &[2, 0]).wait();
            assert_eq!(output, Ok(vec![3, 1]));
            Ok(())
        }),
    ]
}

const GATHERS: &str = "the_adapter_of_the_environment_gathers";

/// The limits must not be WebGPU's defaults, which allow buffers of 256 MiB and bindings of 128 MiB.
fn limits(_: &'static Gpu) {
    let instance = wgpu::Instance::new(device::descriptor());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = block_on(adapter).unwrap();
    let gpu = block_on(Gpu::from_adapter(&adapter)).unwrap();
    assert_eq!(gpu.device().limits(), adapter.limits());
    assert_ne!(gpu.device().limits(), wgpu::Limits::default());
}

fn each_adapter(_: &'static Gpu) {
    let instance = wgpu::Instance::new(device::descriptor());
    let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut opened = 0;
    for adapter in &adapters {
        let info = adapter.get_info();
        match block_on(Gpu::from_adapter(adapter)) {
            Ok(gpu) => {
                assert_eq!(gpu.device().adapter_info(), info);
                opened += 1;
            }
            Err(GpuError::NoDevice { adapter, .. }) => assert_eq!(adapter, info.name),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(opened > 0);
}

fn executor(_: &'static Gpu) {
    let instance = wgpu::Instance::default();
    let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let infos = adapters.iter().map(wgpu::Adapter::get_info);
    let (software, others): (Vec<_>, Vec<_>) =
        infos.partition(|info| info.device_type == wgpu::DeviceType::Cpu);
    for executor in [
        block_on(Executor::gpu_or_cpu()),
        Executor::gpu_or_cpu_blocking(),
    ] {
        match executor.device() {
            Ok(device) => {
                let device_type = device.adapter_info().device_type;
                assert_ne!(device_type, wgpu::DeviceType::Cpu);
            }
            Err(_) => {
                assert!(others.is_empty(), "{others:?}, {executor}");
                let text = |name: &str| {
                    format!(
                        "the CPU (no GPU: only the software adapter {name}, which is slower than the CPU path)"
                    )
                };
                let mut texts = software.iter().map(|info| text(&info.name));
                let says_why = texts.any(|text| text == executor.to_string());
                assert!(says_why || software.is_empty(), "{executor}");
            }
        }
        let table = executor.upload(&[1, 2, 3], &[3]).unwrap();
        let output = executor.gather(Gather::new(), &table, &[2, 0]).wait();
        assert_eq!(output, Ok(vec![3, 1]));
    }
}

/// Runs the trial [`GATHERS`] in a process of its own, with these variables.
fn in_process(variables: &[(&str, &str)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", GATHERS])
        .env_remove("WGPU_ADAPTER_NAME")
        .env_remove("GATHER_EXPECT_DRIVER")
        .env("GATHER_REQUIRE_GPU", "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr];
    texts.map(|text| String::from_utf8_lossy(text)).concat()
}

/// A name in upper case opens its adapter; a name that no adapter has is refused.
fn by_name(gpu: &'static Gpu) {
    let name = gpu.device().adapter_info().name;
    let ran = in_process(&[("WGPU_ADAPTER_NAME", &name.to_uppercase())]);
    let printed = text(&ran);
    assert!(printed.contains("1 passed"), "{printed}");
    assert!(printed.contains(&format!("name: {name:?}")), "{printed}");
    let ran = in_process(&[("WGPU_ADAPTER_NAME", "no such adapter")]);
    let printed = text(&ran);
    assert!(!ran.status.success(), "{printed}");
    let refused = "no GPU: none has \"no such adapter\" in its name, found ";
    let mut lines = printed.lines().filter(|line| line.contains(refused));
    assert!(lines.any(|line| line.contains(&name)), "{printed}");
}

fn gl_from_env() -> Result<Completion, Failed> {
    let mut descriptor = device::descriptor();
    descriptor.backends = wgpu::Backends::GL;
    let instance = wgpu::Instance::new(descriptor);
    let adapter = block_on(instance.request_adapter(&Default::default()));
    let opened = match adapter {
        Ok(adapter) => block_on(Gpu::from_adapter(&adapter)).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = opened {
        return Ok(device::ignored(error));
    }
    let ran = in_process(&[("WGPU_BACKEND", "gl")]);
    let printed = text(&ran);
    let passed = ran.status.success() && printed.contains("1 passed");
    match passed && printed.contains("backend: Gl") {
        true => Ok(Completion::Completed),
        false => Err(printed.into()),
    }
}
