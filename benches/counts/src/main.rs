//! Makes one library call, so that `.ci/counts` can count its instructions with callgrind: `wgpu-gather-counts MEASURE`.
//! Without a measure, prints all measures.

use std::hint::black_box;
use std::process::ExitCode;

use testkit::bench::workloads::{self, Element, Workload};
use wgpu_gather::{
    BadIndices, Buffers, ElementTypes, Gather, GatherPlan, Gatherer, IndexKind, Ranges, wgpu,
};

/// Gathers on the CPU, in the benchmark's shapes.
const WORKLOADS: [&str; 7] = ["W1", "W3", "W4", "W7u8", "W9s", "E1", "W10"];

/// Calls that record a small gather, on wgpu's no-op back end.
const RECORDINGS: [&str; 3] = ["encode", "prepare", "prepared_encode"];

/// Callgrind counts only the instructions of this function and its callees.
#[inline(never)]
fn counted(call: &mut dyn FnMut()) {
    call();
}

fn main() -> ExitCode {
    let Some(measure) = std::env::args().nth(1) else {
        println!("{}\n{}", WORKLOADS.join("\n"), RECORDINGS.join("\n"));
        return ExitCode::SUCCESS;
    };
    let all = workloads::usual().into_iter().chain(workloads::other());
    let found = all.into_iter().find(|workload| workload.name == measure);
    match found {
        Some(workload) => gather(&workload),
        None if RECORDINGS.contains(&&measure[..]) => record(&measure),
        None => {
            eprintln!("no measure {measure}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn gather(workload: &Workload) {
    let plan = workload.plan(BadIndices::Error);
    let indices = workload.indices().map(u32::cast_signed);
    let indices: Vec<i32> = indices.collect();
    assert_eq!(workload.index, IndexKind::I32);
    match workload.element {
        Element::F32 => gather_into(&plan, 0.0_f32, &indices),
        Element::F16 => gather_into(&plan, 0_u16, &indices),
        Element::U8 => gather_into(&plan, 0_u8, &indices),
    }
}

/// Params are zeros, which cost no time to make and do not change a gather's instructions.
fn gather_into<T: Copy + Default + Send + Sync>(plan: &GatherPlan, zero: T, indices: &[i32]) {
    let params = vec![zero; plan.params_len()];
    let mut output = vec![zero; plan.output_len()];
    counted(&mut || {
        let run = plan.gather_into(black_box(&params), indices, &mut output);
        run.expect("the indices are in range");
    });
    black_box(output);
}

/// Records a gather: 64 rows of 64 bytes. An equal call before the counted one makes pipelines and memory.
fn record(measure: &str) {
    let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let buffer = |size| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    };
    let (params, indices, output) = (buffer(64_000), buffer(256), buffer(4096));
    let plan = Gather::new().plan(&[1000, 16], &[64]);
    let plan = plan.expect("valid shapes");
    let buffers = Buffers::gather(
        ElementTypes::of::<f32, i32>(),
        Ranges {
            params: params.slice(..),
            indices: indices.slice(..),
            output: output.slice(..),
        },
    );
    let gatherer = Gatherer::new(&device);
    let prepared = gatherer.prepare(&plan, &buffers).expect("valid operands");
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut encode = || {
        let encoded = gatherer.encode(&mut encoder, &plan, &buffers);
        encoded.expect("valid operands");
    };
    let mut other = device.create_command_encoder(&Default::default());
    let mut replay = || prepared.encode(&mut other);
    let mut prepare = || drop(black_box(gatherer.prepare(&plan, &buffers)));
    let call: &mut dyn FnMut() = match measure {
        "encode" => &mut encode,
        "prepare" => &mut prepare,
        _ => &mut replay,
    };
    call();
    counted(call);
}
