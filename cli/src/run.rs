//! `wgpu-gather run`: one gather, from files to a file. A gather moves bytes, so only an element's size matters:
//! float16 is gathered like uint16.

use std::path::Path;

use bytemuck::Pod;
use wgpu_gather::{
    Executor, Gather, GatherElements, GatherIndex, GatherNd, GatherPlan, Gpu, GpuError, GpuOptions,
    NegativeIndices,
};

use crate::args::{Device, Operation, Run};
use wgpu_gather_cli::arrays::{Array, Result, read, write};

/// Gathers from file to file. Returns a line with the output's path, dtype and shape, and the device.
pub fn run(args: &Run) -> Result<String> {
    let params = read(&args.params)?;
    let indices = read(&args.indices)?;
    let plan = make_plan(args, &params.shape, &indices.shape)?;
    let device = match args.device {
        Device::Cpu => None,
        Device::Auto => Some(Executor::from(pollster::block_on(Gpu::open(
            &GpuOptions::from_env(),
        )))),
        Device::Gpu => Some(Executor::from(Ok(pollster::block_on(Gpu::open(
            &GpuOptions::from_env(),
        ))?))),
    };
    let device = device.as_ref();

    let bytes = match params.dtype.bytes {
        1 => gather::<[u8; 1]>(device, &plan, &params, &indices, &args.indices)?,
        2 => gather::<[u8; 2]>(device, &plan, &params, &indices, &args.indices)?,
        4 => gather::<[u8; 4]>(device, &plan, &params, &indices, &args.indices)?,
        8 => gather::<[u8; 8]>(device, &plan, &params, &indices, &args.indices)?,
        _ => gather::<[u8; 16]>(device, &plan, &params, &indices, &args.indices)?,
    };
    let (dtype, shape) = (params.dtype, plan.output_shape().to_vec());
    let answer = format!(
        "{}: {dtype} {shape:?}, gathered on {}",
        args.output.display(),
        device.map_or("the CPU".into(), ToString::to_string)
    );
    let output = Array {
        dtype,
        shape,
        bytes,
    };
    write(&args.output, &output)?;
    Ok(answer)
}

fn make_plan(args: &Run, params: &[usize], indices: &[usize]) -> Result<GatherPlan> {
    let negative_indices = if args.from_end {
        NegativeIndices::FromEnd
    } else {
        NegativeIndices::Invalid
    };
    let plan = match args.operation {
        Operation::GatherNd => GatherNd::new()
            .batch_dims(args.batch_dims)
            .bad_indices(args.bad_indices())
            .negative_indices(negative_indices)
            .plan(params, indices),
        Operation::GatherElements => GatherElements::new()
            .axis(args.axis.unwrap_or(0))
            .bad_indices(args.bad_indices())
            .negative_indices(negative_indices)
            .plan(params, indices),
        Operation::Gather => {
            let gather = Gather::new()
                .batch_dims(args.batch_dims)
                .bad_indices(args.bad_indices())
                .negative_indices(negative_indices);
            args.axis
                .map_or(gather, |axis| gather.axis(axis))
                .plan(params, indices)
        }
    };
    Ok(plan?)
}

/// Gathers elements of the size of `T`, with indices of the dtype of `indices`. Without a device the CPU gathers.
fn gather<T: Pod + Default + Send + Sync>(
    device: Option<&Executor>,
    plan: &GatherPlan,
    params: &Array,
    indices: &Array,
    indices_path: &Path,
) -> Result<Vec<u8>> {
    let params: &[T] = bytemuck::cast_slice(&params.bytes);
    let output = match indices.dtype.code() {
        "i4" => run_plan(device, plan, params, &indices.numbers(i32::from_le_bytes)?),
        "i8" => run_plan(device, plan, params, &indices.numbers(i64::from_le_bytes)?),
        "u4" => run_plan(device, plan, params, &indices.numbers(u32::from_le_bytes)?),
        "u8" => run_plan(device, plan, params, &indices.numbers(u64::from_le_bytes)?),
        _ => {
            return Err(format!(
                "{}: indices must be int32, int64, uint32 or uint64, found {}",
                indices_path.display(),
                indices.dtype
            )
            .into());
        }
    }?;
    Ok(bytemuck::allocation::cast_vec(output))
}

fn run_plan<T, I>(
    device: Option<&Executor>,
    plan: &GatherPlan,
    params: &[T],
    indices: &[I],
) -> std::result::Result<Vec<T>, GpuError>
where
    T: Pod + Default + Send + Sync,
    I: GatherIndex,
{
    match device {
        Some(executor) => executor.gather(plan, params, indices).wait(),
        None => Ok(plan.run(params, indices)?),
    }
}
