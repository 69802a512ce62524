//! The first gather of a process, which waits for its kernel to be compiled: each sample is a process of its own, with
//! the driver's cache off.

use std::process::Command;
use std::time::Duration;

use wgpu_gather::{BadIndices, Gatherer};

use super::device::{adapter, device_of, new_encoder, submit_and_wait};
use super::naive::{NAIVE_UNIT, Naive};
use super::operands::Operands;
use crate::timing::took;
use crate::workloads::FIRST;

/// Followed by one of `KINDS`: the process is a sample.
pub const ARGUMENT: &str = "--first-gather";

const KINDS: [&str; 2] = [OURS, "naive"];
const OURS: &str = "ours";

/// Variables by which Mesa and NVIDIA's driver leave compiled shaders out of a cache on disk.
const NO_CACHE: [(&str, &str); 2] = [
    ("MESA_SHADER_CACHE_DISABLE", "1"),
    ("__GL_SHADER_DISK_CACHE", "0"),
];

const SAMPLES: usize = 5;

/// Medians of this crate's and of a naive kernel's processes, which take turns.
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

/// One sample, printed in microseconds: from no gatherer, or no shader module, until the output is on the device. The
/// device is there before, and the operands on it.
pub fn sample(kind: &str) -> Result<(), String> {
    if !KINDS.contains(&kind) {
        return Err(format!("{ARGUMENT} wants one of {KINDS:?}"));
    }
    let adapter = adapter()?;
    let gpu = device_of(&adapter, adapter.limits())?;
    let data = FIRST.data::<u32, i32>();
    let plan = FIRST.plan(BadIndices::DeviceDefault);
    let expected = plan.run(&data.params, &data.indices).expect("in range");
    let on_gpu = Operands::new(&gpu, &data, expected.len())?;
    submit_and_wait(&gpu, new_encoder(&gpu));

    let (device, buffers) = (gpu.device(), on_gpu.buffers());
    let took = took(|| {
        let mut encoder = new_encoder(&gpu);
        if kind == OURS {
            let gatherer = Gatherer::new(device);
            let encoded = gatherer.encode(&mut encoder, &plan, &buffers);
            encoded.expect("valid operands");
        } else {
            let kernel = Naive::new(device, NAIVE_UNIT, &plan, on_gpu.naive_buffers());
            kernel.record(&mut encoder);
        }
        submit_and_wait(&gpu, encoder);
    });
    on_gpu.check_output(&gpu, kind, &expected)?;
    println!("{}", took.as_micros());
    Ok(())
}
