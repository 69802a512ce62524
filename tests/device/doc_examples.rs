//! Runs the documentation's GPU examples, which rustdoc only compiles, from the files that the docs include. The README and
//! pages of the guide repeat some of the files word for word.

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

mod shards {
    include!("../doc_examples/shards.rs");
}

mod top_8 {
    include!("../doc_examples/top_8.rs");
}

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One at a time, as each example makes a device of its own, like a user's program.
    arguments.test_threads = Some(1);
    let trials = vec![
        Trial::test("pages_hold_what_runs_here", || {
            let readme = include_str!("../../README.md");
            for (page, start, example) in [
                (
                    readme,
                    "rust,no_run",
                    include_str!("../doc_examples/own_device.rs"),
                ),
                (
                    readme,
                    "rust,no_run",
                    include_str!("../doc_examples/gpu.rs"),
                ),
                (
                    include_str!("../../src/guide/large_tables.md"),
                    "no_run",
                    include_str!("../doc_examples/shards.rs"),
                ),
                (
                    include_str!("../../src/guide/recipes.md"),
                    "no_run",
                    include_str!("../doc_examples/top_8.rs"),
                ),
            ] {
                let block = format!("```{start}\n{example}```\n");
                assert!(page.contains(&block), "not on its page:\n{block}");
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
        gpu_trial("the_order_of_a_key", gather_in_order),
        gpu_trial("a_table_in_shards", |_| gather_from_shards()),
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

/// The order is NumPy's: equal keys keep their order.
fn gather_in_order(gpu: &Gpu) -> Result<(), libtest_mimic::Failed> {
    let depths: Vec<f32> = (0..1000_u16)
        .map(|id| f32::from(id * 37 % 101) - 50.0)
        .collect();
    let key_of = |depth: &f32| match depth.to_bits() {
        bits if *depth < 0.0 => !bits,
        bits => bits | 1 << 31,
    };
    let keys = gpu.upload(depths.iter().map(key_of).collect::<Vec<_>>(), &[1000])?;
    let order = gpu.upload((0..1000).collect::<Vec<u32>>(), &[1000])?;
    let rows: Vec<[f32; 3]> = (0_u16..)
        .zip(&depths)
        .map(|(id, &depth)| [depth, id.into(), 0.0])
        .collect();
    let table = gpu.upload(rows.as_flattened(), &[1000, 3])?;
    let output = gpu.zeros::<f32>(&[8, 3])?;
    let mut sorter = lampshade::KeyValueSoaSorter::new(gpu.device(), gpu.queue());
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let buffers = [
        table.buffer()?,
        keys.buffer()?,
        order.buffer()?,
        output.buffer()?,
    ];
    top_8::top_8(&mut encoder, (gpu.gatherer(), &mut sorter), buffers)
        .map_err(|error| error.to_string())?;
    gpu.queue().submit([encoder.finish()]);
    let mut sorted = rows;
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(output.download_blocking()?, sorted[..8].as_flattened());
    Ok(())
}

/// On a device whose buffers hold 2,048 of 5,000 rows.
fn gather_from_shards() -> Result<(), libtest_mimic::Failed> {
    let instance = wgpu::Instance::new(device::descriptor());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = pollster::block_on(adapter)?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits {
            max_buffer_size: 1 << 20,
            ..Default::default()
        },
        ..Default::default()
    }))?;
    let gpu = Gpu::from_parts(device, queue);
    let params: Vec<u8> = (0..=250).cycle().take(5_000 * 128).collect();
    let params: Vec<f32> = params.into_iter().map(f32::from).collect();
    let table = shards::upload_rows(gpu.device(), &params);
    let rows: Vec<usize> = table.iter().map(|(rows, _)| *rows).collect();
    assert_eq!(rows, [2048, 2048, 904]);
    let ids: Vec<u32> = (0..1_000).map(|n| n * 7919 % 5_000).collect();
    let indices = gpu.upload(&ids, &[1_000])?;
    let output = gpu.zeros::<f32>(&[1_000, 128])?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    shards::look_up(
        gpu.gatherer(),
        &mut encoder,
        &table,
        indices.buffer()?,
        output.buffer()?,
    )?;
    gpu.queue().submit([encoder.finish()]);
    let expected = Gather::new()
        .plan(&[5_000, 128], &[1_000])?
        .gather(&params, &ids)?;
    assert!(output.download_blocking()? == expected);
    Ok(())
}
