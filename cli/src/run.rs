//! `wgpu-gather run`: one gather, from files to a file. A gather moves bytes, so only an element's size matters:
//! float16 is gathered like uint16.

use wgpu_gather::{
    ElementTypes, Executor, Gather, GatherElements, GatherNd, GatherPlan, Gpu, GpuError, IndexKind,
    NegativeIndices,
};

use crate::args::{Device, Operation, Run};
use crate::choose;
use wgpu_gather_cli::arrays::npy_write::write_to_stdout;
use wgpu_gather_cli::arrays::{Array, Result, read, write};

/// Gathers from file to file. Returns a line with the output's path, dtype and shape, and the device; none if standard
/// output has the array.
pub fn run(args: &Run) -> Result<Option<String>> {
    let params = read(&args.params)?;
    let indices = read(&args.indices)?;
    let index_kind = match indices.dtype.code() {
        "i1" => IndexKind::I8,
        "u1" => IndexKind::U8,
        "i2" => IndexKind::I16,
        "u2" => IndexKind::U16,
        "i4" => IndexKind::I32,
        "i8" => IndexKind::I64,
        "u4" => IndexKind::U32,
        "u8" => IndexKind::U64,
        _ => {
            return Err(format!(
                "{}: indices must be integers, found {}",
                args.indices.display(),
                indices.dtype
            )
            .into());
        }
    };
    let types = ElementTypes::new(params.dtype.bytes as u64, index_kind);
    let plan = make_plan(args, &params.shape, &indices.shape)?;
    let device = match args.device {
        Device::Cpu => None,
        // A GPU that is named is not replaced by the CPU.
        Device::Auto if args.adapter.is_none() => Some(Executor::from(open(args))),
        Device::Auto | Device::Gpu => Some(Executor::Gpu(open(args)?)),
    };
    let bytes = match &device {
        Some(Executor::Gpu(gpu)) => {
            let upload = |bytes: &[u8]| gpu.upload(bytes, &[bytes.len()]);
            let (params, indices) = (upload(&params.bytes)?, upload(&indices.bytes)?);
            gpu.gather_bytes(&plan, types, &params, &indices).wait()?
        }
        _ => plan.run_bytes(types, &params.bytes, &indices.bytes)?,
    };
    let (dtype, shape) = (params.dtype, plan.output_shape().to_vec());
    let answer = format!(
        "{}: {dtype} {shape:?}, gathered on {}",
        args.output.display(),
        device.map_or("the CPU".into(), |device| device.to_string())
    );
    let output = Array {
        dtype,
        shape,
        bytes,
    };
    if args.output_is_stdout() {
        write_to_stdout(&output)?;
        return Ok(None);
    }
    write(&args.output, &output)?;
    Ok(Some(answer))
}

fn open(args: &Run) -> std::result::Result<Gpu, GpuError> {
    pollster::block_on(choose::open(args.adapter.as_deref()))
}

fn make_plan(args: &Run, params: &[usize], indices: &[usize]) -> Result<GatherPlan> {
    let negative_indices = if args.from_end {
        NegativeIndices::FromEnd
    } else {
        NegativeIndices::Invalid
    };
    let plan = match args.operation {
        Operation::GatherNd => {
            let gather = GatherNd::new()
                .batch_dims(args.batch_dims)
                .bad_indices(args.bad_indices())
                .negative_indices(negative_indices);
            args.axis
                .map_or(gather, |axis| gather.axis(axis))
                .plan(params, indices)
        }
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
