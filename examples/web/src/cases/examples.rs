//! The examples of TensorFlow's and Paddle's documentations, and this crate's own examples.

use std::fmt::Debug;

use wgpu_gather::{
    BadIndices, Element, Executor, Gather, GatherPlan, Gatherer, GpuError, Number, Reduce, With,
    wgpu,
};

use super::Checked;
use testkit::cases::Example;
use testkit::conformance::executor::Device;
use testkit::conformance::same;
use testkit::gpu::Gpu;

mod browser {
    include!("../../../../tests/doc_examples/browser.rs");
}

mod gatherer {
    include!("../../../../tests/doc_examples/gatherer.rs");
}

mod prepared {
    include!("../../../../tests/doc_examples/prepared.rs");
}

/// Compares the result that a documentation prints with the results of the device and of the oracle.
pub async fn check_documented(example: &Example, device: Device) -> Checked {
    let case = &example.case;
    let attempt = case.plan(BadIndices::DeviceDefault);
    let plan = attempt.map_err(|error| error.to_string())?;
    same("output shape", plan.output_shape(), example.output_shape)?;
    // Elements may be words, which a GPU cannot hold, so their places in params are gathered instead.
    let places: Vec<usize> = (0..example.params.len()).collect();
    let indices: Vec<i64> = (case.indices.iter())
        .map(|&value| i64::try_from(value).expect("a small index"))
        .collect();
    let places = match device {
        Device::Cpu => plan.gather(&places, &indices).map_err(GpuError::from),
        Device::Gpu(gpu) => {
            let table = gpu.upload(places, plan.params_shape());
            let table = table.map_err(|error| error.to_string())?;
            gpu.gather(&plan, &table, &indices).await
        }
    };
    let places = places.map_err(|error| error.to_string())?;
    let output: Vec<&str> = places.iter().map(|&at| example.params[at]).collect();
    same("output", &output, &example.output)?;
    let answer = case.answer().elements;
    let oracle: Vec<&str> = (answer.iter().flatten())
        .map(|&at| example.params[at])
        .collect();
    same("output of the oracle", &oracle, &example.output)
}

/// Checks the crate's own examples. Returns each name with its result.
pub async fn check_own(gpu: &Gpu) -> [(&'static str, Checked); 5] {
    let text = |checked: Result<Checked, GpuError>| checked.map_err(|error| error.to_string())?;
    [
        ("browser", text(on_either_device().await)),
        ("gatherer", text(recorded(gpu).await)),
        ("prepared", text(prepared_once(gpu).await)),
        ("chain", text(chained(gpu).await)),
        ("scatter", text(scattered(gpu).await)),
    ]
}

async fn on_either_device() -> Result<Checked, GpuError> {
    let expected = [[0, 0, 255, 255], [255, 0, 0, 255], [0; 4]];
    let output = browser::colours(&[1, 0, 2]).await?;
    if output != expected {
        return Ok(same("output", output.as_slice(), &expected));
    }
    let cpu = Executor::cpu();
    let table = cpu.upload(&[5, 6], &[2])?;
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    let output = cpu.gather(gather, &table, &[1, 2]).await?;
    Ok(same("output on the CPU", output.as_slice(), &[6, 0]))
}

/// Params and indices of the examples of embeddings.
fn embeddings() -> (Vec<f32>, Vec<u32>) {
    let params = (0_u16..50_000).flat_map(|row| [f32::from(row); 128]);
    let indices = (0..1_000).map(|n| n * 7_919 % 50_000);
    (params.collect(), indices.collect())
}

async fn recorded(gpu: &Gpu) -> Result<Checked, GpuError> {
    let (params, indices) = embeddings();
    let table = gpu.upload(&params, &[50_000, 128])?;
    let token_ids = gpu.upload(&indices, &[1_000])?;
    let output = gpu.upload(vec![-1.0_f32; 128_000], &[1_000, 128])?;
    let buffers = [table.buffer()?, token_ids.buffer()?, output.buffer()?];

    let recorder = Gatherer::new(gpu.device());
    let mut encoder = encoder(gpu);
    gatherer::record_embedding(&recorder, &mut encoder, buffers[0], buffers[1], buffers[2])?;
    gpu.queue().submit([encoder.finish()]);
    let plan = gatherer::embedding_plan().expect("constant shapes are right");
    let expected = plan.gather(&params, &indices)?;
    Ok(same("output", &output.download().await?, &expected))
}

/// A gather that is prepared once and recorded twice, with other indices in the same buffer.
async fn prepared_once(gpu: &Gpu) -> Result<Checked, GpuError> {
    let (params, indices) = embeddings();
    let table = gpu.upload(&params, &[50_000, 128])?;
    let token_ids = gpu.upload(&indices, &[1_000])?;
    let output = gpu.upload(vec![-1.0_f32; 128_000], &[1_000, 128])?;
    let buffers = [table.buffer()?, token_ids.buffer()?, output.buffer()?];

    let plan = gatherer::embedding_plan().expect("constant shapes are right");
    let lookup =
        prepared::prepare_lookup(gpu.gatherer(), &plan, buffers[0], buffers[1], buffers[2])?;
    for step in [104_729, 1_299_709] {
        let indices: Vec<u32> = (0..1_000).map(|n| n * step % 50_000).collect();
        gpu.queue()
            .write_buffer(token_ids.buffer()?, 0, bytemuck::cast_slice(&indices));
        let mut encoder = encoder(gpu);
        prepared::record_lookup(&lookup, &mut encoder);
        gpu.queue().submit([encoder.finish()]);
        let (found, expected) = (output.download().await?, plan.gather(&params, &indices)?);
        if let Err(problem) = same("output", &found, &expected) {
            return Ok(Err(format!("step {step}: {problem}")));
        }
    }
    Ok(Ok(()))
}

async fn chained(gpu: &Gpu) -> Result<Checked, GpuError> {
    let embeddings = gpu.upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1], &[3, 2])?;
    let tokens_of_words = gpu.upload(&[2_u32, 0, 1, 1], &[2, 2])?;
    let words = gpu.upload(&[1_u32, 0], &[2])?;
    let tokens = gpu.gather(Gather::new(), &tokens_of_words, &words);
    let tokens = tokens.on_gpu().await?;
    let strict = Gather::new().bad_indices(BadIndices::Error);
    let rows = gpu.gather(strict, &embeddings, &tokens).on_gpu().await?;
    let expected = [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 0.0, 0.1];
    Ok(same("output", rows.download().await?.as_slice(), &expected))
}

/// Scatters of each kind of kernel, on the GPU and on the CPU.
async fn scattered(gpu: &Gpu) -> Result<Checked, GpuError> {
    async fn both<T: Number + Element + PartialEq + Debug>(
        gpu: &Gpu,
        (plan, unique): (&GatherPlan, bool),
        reduce: Option<Reduce>,
        number: fn(u16) -> T,
    ) -> Result<Checked, GpuError> {
        let numbers = |first: u16, len: usize| -> Vec<T> {
            let places = (0..len).map(|n| u16::try_from(n % 1000).expect("few"));
            places.map(|n| number(n * 37 % 251 + first)).collect()
        };
        // Two rows past the last are dropped.
        let values = i32::try_from(plan.row_count() + 2).expect("few rows");
        let count = i32::try_from(plan.indices_len()).expect("few index rows");
        let indices: Vec<i32> = (0..count).map(|n| n * 41 % 107 % values).collect();
        let mut outputs = Vec::new();
        for executor in [gpu.executor(), Executor::cpu()] {
            let updates = numbers(7, plan.output_len());
            let updates = executor.upload(updates, &[plan.output_shape().iter().product()])?;
            let target = numbers(0, plan.params_len());
            let mut target = executor.upload(target, plan.params_shape())?;
            let with = match unique {
                true => plan.unique(),
                false => With::from(plan),
            };
            let request = executor.scatter(with, &updates, &indices, &mut target);
            match reduce {
                Some(reduce) => request.reduce(reduce).await?,
                None => request.await?,
            }
            outputs.push(target.download().await?);
        }
        Ok(same("target", &outputs[0], &outputs[1]))
    }
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    // Some 1,500 updates of each row, so that the later ones are summed by themselves.
    let plan = gather.plan(&[4, 5], &[6000])?;
    let float = |n| f32::from(n) * 0.1 - 9.95;
    if let Err(problem) = both(gpu, (&plan, false), Some(Reduce::Add), float).await? {
        return Ok(Err(format!("{plan}: {problem}")));
    }
    for slice_len in [1, 3, 4, 300, 2000] {
        // Of 90 index rows some select one of 40 rows again; each selects another one of 107.
        for (rows, unique) in [(40, false), (107, true)] {
            let plan = gather.plan(&[rows, slice_len], &[90])?;
            let of = (&plan, unique);
            let narrow = |n| u8::try_from(n % 256).expect("a byte");
            let mut checked = vec![
                both(gpu, of, None, narrow).await?,
                both(gpu, of, None, u32::from).await?,
                both(gpu, of, Some(Reduce::Add), u32::from).await?,
                both(gpu, of, Some(Reduce::Min), |n| i32::from(n) - 99).await?,
            ];
            let float = |n| f32::from(n) * 0.1 - 9.95;
            checked.push(both(gpu, of, Some(Reduce::Max), float).await?);
            checked.push(both(gpu, of, Some(Reduce::Add), float).await?);
            if let Some(problem) = checked.into_iter().find(Result::is_err) {
                return Ok(problem.map_err(|problem| format!("{plan}: {problem}")));
            }
        }
    }
    Ok(Ok(()))
}

fn encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&Default::default())
}
