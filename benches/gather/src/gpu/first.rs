//! Times the first gather of a process, which waits for its kernel to be compiled. Each sample is a new process, with
//! the driver's cache off.

use std::process::Command;
use std::time::Duration;

use testkit::bench::workloads::small;
use testkit::gpu::buffers_of;
use wgpu_gather::{BadIndices, Gatherer};

use super::card::{Card, adapter};
use super::naive::{NAIVE, Naive};
use crate::timing::took;

/// The argument, followed by one of `KINDS`, that makes a process take one sample.
pub const ARGUMENT: &str = "--first-gather";

const KINDS: [&str; 2] = [OURS, NAIVE];
const OURS: &str = "ours";

/// Environment variables that turn off Mesa's and NVIDIA's shader caches on disk.
const NO_CACHE: [(&str, &str); 2] = [
    ("MESA_SHADER_CACHE_DISABLE", "1"),
    ("__GL_SHADER_DISK_CACHE", "0"),
];

const SAMPLES: usize = 5;

/// Medians over processes that run this crate and a naive kernel, in turn.
pub fn measure() -> Result<[(&'static str, Duration); 2], String> {
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..SAMPLES {
        for (kind, samples) in KINDS.iter().zip(&mut samples) {
            samples.push(process(kind)?);
        }
    }
    let [ours, naive] = samples.map(|mut samples| {
        samples.sort();
        samples[SAMPLES / 2]
    });
    Ok([(OURS, ours), (NAIVE, naive)])
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
    let card = Card::new(&adapter()?)?;
    let workload = small();
    let plan = workload.plan(BadIndices::Fill);
    let params: Vec<u32> = workload.params_bits().collect();
    let indices: Vec<u32> = workload.indices().collect();
    let expected = plan.gather(&params, &indices).expect("in range");
    let on_card = |words: &[u32]| {
        let buffer = card.storage(size_of_val(words) as u64);
        card.upload(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    };
    let [params, indices] = [&params, &indices].map(|words| on_card(words));
    let output = card.storage(size_of_val(&expected[..]) as u64);
    let ranges = [&params, &indices, &output].map(|buffer| buffer.slice(..));

    let took = took(|| {
        let mut encoder = card.encoder();
        if kind == OURS {
            let buffers = buffers_of(workload.types(), ranges);
            let gatherer = Gatherer::new(&card.device);
            let encoded = gatherer.encode(&mut encoder, &plan, &buffers);
            encoded.expect("valid operands");
        } else {
            let kernel = Naive::new(&card, &workload).expect("plain rows");
            let operands = kernel.bind(&card, ranges);
            let mut pass = encoder.begin_compute_pass(&Default::default());
            kernel.record(&mut pass, &operands);
        }
        card.submit_and_wait(encoder);
    });
    let mut found = Vec::new();
    card.download(&output, 0, output.size(), |_, bytes| {
        found.extend_from_slice(bytes);
    });
    if found != bytemuck::cast_slice::<u32, u8>(&expected) {
        return Err(format!("{kind}: the output differs from the CPU's"));
    }
    println!("{}", took.as_micros());
    Ok(())
}
