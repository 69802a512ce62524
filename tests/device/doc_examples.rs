//! Runs the documentation's GPU examples, which rustdoc only compiles, from the files that the docs include. The README
//! repeats some of the files word for word.

use std::process::ExitCode;

use libtest_mimic::Trial;
use testkit::device::{self, Arguments, gpu_trial};
use testkit::gpu::Gpu;
use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Ranges, wgpu};

mod gpu {
    include!("../doc_examples/gpu.rs");

    pub fn run() -> Result<(), wgpu_gather::GpuError> {
        main()
    }
}

mod bytes {
    include!("../doc_examples/bytes.rs");

    pub fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

mod chain {
    include!("../doc_examples/chain.rs");

    pub fn run() -> Result<(), wgpu_gather::GpuError> {
        main()
    }
}

mod filled {
    include!("../doc_examples/filled.rs");

    pub fn run() -> Result<(), wgpu_gather::GpuError> {
        main()
    }
}

mod own_device {
    include!("../doc_examples/own_device.rs");

    pub fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

mod gatherer {
    include!("../doc_examples/gatherer.rs");
}

mod prepared {
    include!("../doc_examples/prepared.rs");
}

mod in_pass {
    include!("../doc_examples/in_pass.rs");
}

mod browser {
    include!("../doc_examples/browser.rs");
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One at a time, as each example makes a device of its own, like a user's program.
    arguments.test_threads = Some(1);
    let trials = vec![
        Trial::test("the_readme_holds_what_runs_here", || {
            for example in [
                include_str!("../doc_examples/own_device.rs"),
                include_str!("../doc_examples/gpu.rs"),
            ] {
                let block = format!("```rust,no_run\n{example}```\n");
                assert!(
                    include_str!("../../README.md").contains(&block),
                    "not in the README:\n{block}"
                );
            }
            Ok(())
        }),
        gpu_trial("a_table_on_the_gpu", |_| Ok(gpu::run()?)),
        gpu_trial("a_chain_on_the_gpu", |_| Ok(chain::run()?)),
        gpu_trial("a_fill", |_| Ok(filled::run()?)),
        gpu_trial("bytes_of_types_known_at_run_time", |_| Ok(bytes::run()?)),
        gpu_trial("a_device_of_the_apps_own", |_| Ok(own_device::run()?)),
        gpu_trial("an_encoder_of_the_apps_own", record_embedding),
        gpu_trial("a_gather_between_passes_of_an_app", gather_in_a_pass),
        gpu_trial("a_gather_that_a_browser_awaits", |_| {
            let output = pollster::block_on(browser::colours(&[1, 0, 2]))?;
            assert_eq!(output, [[0, 0, 255, 255], [255, 0, 0, 255], [0; 4]]);
            Ok(())
        }),
    ];
    device::run(&arguments, trials)
}

fn record_embedding(gpu: &Gpu) -> Result<(), libtest_mimic::Failed> {
    let params: Vec<f32> = (0_u16..50_000)
        .flat_map(|row| [f32::from(row); 128])
        .collect();
    let indices: Vec<u32> = (0..1_000).map(|n| n * 7919 % 50_000).collect();
    let plan = gatherer::embedding_plan()?;
    let table = gpu.upload(&params, plan.params_shape())?;
    let token_ids = gpu.upload(&indices, plan.indices_shape())?;
    let output = gpu.upload(vec![-1.0_f32; 128_000], plan.output_shape())?;

    let recorder = Gatherer::new(gpu.device());
    let mut encoder = gpu
        .device()
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let buffers = [table.buffer()?, token_ids.buffer()?, output.buffer()?];
    gatherer::record_embedding(&recorder, &mut encoder, buffers[0], buffers[1], buffers[2])?;
    gpu.queue().submit([encoder.finish()]);
    let expected = plan.gather(&params, &indices)?;
    assert_eq!(output.download_blocking()?, expected);

    // The gather is prepared once and recorded again with other indices in the same buffer.
    let lookup = prepared::prepare_lookup(&recorder, &plan, buffers[0], buffers[1], buffers[2])?;
    for step in [104_729, 1_299_709] {
        let indices: Vec<u32> = (0..1_000).map(|n| n * step % 50_000).collect();
        gpu.queue()
            .write_buffer(token_ids.buffer()?, 0, bytemuck::cast_slice(&indices));
        let mut encoder = gpu
            .device()
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        prepared::record_lookup(&lookup, &mut encoder);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(output.download_blocking()?, plan.gather(&params, &indices)?);
    }
    Ok(())
}

/// The dispatches before the gather write its indices, and those after it read its output. Here they are gathers too.
fn gather_in_a_pass(gpu: &Gpu) -> Result<(), libtest_mimic::Failed> {
    let plan = Gather::new().plan(&[3], &[2])?;
    let tensor = |values: &[u32]| gpu.upload(values, &[values.len()]);
    let tables = [
        tensor(&[2, 0, 1])?,
        tensor(&[1, 2, 0])?,
        tensor(&[10, 20, 30])?,
    ];
    // The indices of the first gather, then the output of each.
    let rows = [
        tensor(&[0, 2])?,
        tensor(&[9; 2])?,
        tensor(&[9; 2])?,
        tensor(&[9; 2])?,
    ];
    let prepare = |n: usize| -> Result<_, libtest_mimic::Failed> {
        let buffers = Buffers::gather(
            ElementTypes::of::<u32, u32>(),
            Ranges {
                params: tables[n].buffer()?.slice(..),
                indices: rows[n].buffer()?.slice(..),
                output: rows[n + 1].buffer()?.slice(..),
            },
        );
        Ok(gpu.gatherer().prepare(&plan, &buffers)?)
    };
    let [before, gather, after] = [prepare(0)?, prepare(1)?, prepare(2)?];

    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    let app: [&dyn Fn(&mut wgpu::ComputePass<'_>); 2] =
        [&|pass| before.encode_in_pass(pass), &|pass| {
            after.encode_in_pass(pass)
        }];
    in_pass::frame(&mut pass, app, &gather);
    drop(pass);
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(rows[1].download_blocking()?, [2, 1]);
    assert_eq!(rows[2].download_blocking()?, [0, 2]);
    assert_eq!(rows[3].download_blocking()?, [10, 30]);
    Ok(())
}
