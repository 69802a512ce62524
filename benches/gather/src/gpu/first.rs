//! Times the first gather of a process, which waits for its kernel to be compiled. Each sample is a new process, with
//! the driver's cache off.

use std::process::Command;
use std::time::Duration;

use testkit::bench::workloads::small;
use wgpu_gather::{BadIndices, Gatherer};

use super::device::{adapter, device_of, new_encoder, submit_and_wait};
use super::naive::{NAIVE_UNIT, Naive};
use super::operands::Operands;
use crate::data::Data;
use crate::timing::took;

/// The argument, followed by one of `KINDS`, that makes a process take one sample.
pub const ARGUMENT: &str = "--first-gather";

const KINDS: [&str; 2] = [OURS, "naive"];
const OURS: &str = "ours";

/// Environment variables that turn off the shader caches on disk of Mesa and of NVIDIA's driver.
const NO_CACHE: [(&str, &str); 2] = [
    ("MESA_SHADER_CACHE_DISABLE", "1"),
    ("__GL_SHADER_DISK_CACHE", "0"),
];

const SAMPLES: usize = 5;

/// Medians of processes with this crate and with a naive kernel, which take turns.
pub fn measure() -> Result<[Duration; 2], String> {
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..SAMPLES {
        for (kind, samples) in KINDS.iter().zip(&mut samples) {
            samples.push(process(kind)?);
        }
    }
    Ok(samples.map(|mut samples| {
        samples.sort();
        samples[SAMPLES / 2]
    }))
}

fn process(kind: &str) -> Result<Duration, String> {
    let failed = |reason: String| format!("the first gather, {kind}: {reason}");
    let executable = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(executable)
        .args([ARGUMENT, kind])
        .envs(NO_CACHE)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    match printed.trim().parse() {
        Ok(microseconds) if output.status.success() => Ok(Duration::from_micros(microseconds)),
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

/// Takes one sample and prints it in microseconds. The time starts before the gatherer, or the naive kernel's shader
/// module, is made and ends when the output is on the device. The device and the operands exist before.
pub fn sample(kind: &str) -> Result<(), String> {
    if !KINDS.contains(&kind) {
        return Err(format!("{ARGUMENT} wants one of {KINDS:?}"));
    }
    let adapter = adapter()?;
    let gpu = device_of(&adapter, adapter.limits())?;
    let data = Data::<u32, i32>::new(&small());
    let plan = data.workload.plan(BadIndices::DeviceDefault);
    let expected = plan.run(&data.params, &data.indices).expect("in range");
    let on_gpu = Operands::new(&gpu, &data, &plan)?;
    submit_and_wait(&gpu, new_encoder(&gpu));

    let (device, buffers) = (gpu.device(), on_gpu.buffers());
    let took = took(|| {
        let mut encoder = new_encoder(&gpu);
        if kind == OURS {
            let gatherer = Gatherer::new(device);
            let encoded = gatherer.encode(&mut encoder, &plan, &buffers);
            encoded.expect("valid operands");
        } else {
            let kernel = Naive::new(device, NAIVE_UNIT, &data.workload, on_gpu.naive_buffers());
            kernel.record(&mut encoder);
        }
        submit_and_wait(&gpu, encoder);
    });
    on_gpu.check_output(kind, &expected)?;
    println!("{}", took.as_micros());
    Ok(())
}
