//! One gather: burn's tensors to buffers, the gather recorded and submitted, its output a burn tensor.

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Int, Shape, Tensor};
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::server::Handle;
use burn_cubecl::cubecl::wgpu::{AutoCompiler, WgpuResource, WgpuServer};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::{
    BadIndices, BadRows, Buffers, ElementTypes, GatherPlan, IndexKind, Operand, Ranges, wgpu,
};

use crate::tensors::{from_cube, into_cube};
use crate::{Bridge, BridgeError, Gathered, Report};

/// The most dims of a tensor in cubecl: more fail an assertion in its `Tiling`.
const MAX_RANK: usize = 8;

pub(crate) fn run<const D: usize, const M: usize, const O: usize, K: Basic>(
    bridge: &Bridge,
    plan: &GatherPlan,
    params: Tensor<D, K>,
    indices: Tensor<M, Int>,
) -> Result<Gathered<O, K>, BridgeError> {
    let shape = output_shape::<O>(plan)?;
    let params = operand(bridge, Operand::Params, params, plan.params_len())?;
    let indices = operand(bridge, Operand::Indices, indices, plan.indices_len())?;
    let (output, report) = gather(bridge, plan, shape, params, indices)?;
    Ok(Gathered {
        tensor: from_cube(output),
        report,
    })
}

/// A scalar is a tensor of shape `[1]`, as burn holds it.
fn output_shape<const O: usize>(plan: &GatherPlan) -> Result<Shape, BridgeError> {
    let shape = plan.output_shape();
    let shape = if shape.is_empty() { &[1] } else { shape };
    let (expected, found) = (shape.len(), O);
    if expected > MAX_RANK {
        let (limit, found) = (MAX_RANK, expected);
        return Err(BridgeError::RankAboveLimit { limit, found });
    }
    if expected != found {
        return Err(BridgeError::OutputRank { expected, found });
    }
    Ok(Shape::from(shape.to_vec()))
}

/// The tensor in burn's memory, row-major, with its pending operations run.
fn operand<const D: usize, K: Basic>(
    bridge: &Bridge,
    operand: Operand,
    tensor: Tensor<D, K>,
    expected: usize,
) -> Result<CubeTensor, BridgeError> {
    let found = tensor.shape().num_elements();
    if found != expected {
        #[rustfmt::skip]
        return Err(BridgeError::Length { operand, expected, found });
    }
    let tensor = into_cube(operand, tensor)?;
    if tensor.device != bridge.burn {
        let found = format!("{:?}", tensor.device);
        return Err(BridgeError::OtherDevice { operand, found });
    }
    let limit = bridge.device.limits().max_storage_buffer_binding_size;
    let found = (expected as u64).saturating_mul(tensor.dtype.size() as u64);
    if found > limit && !tensor.is_contiguous() {
        #[rustfmt::skip]
        return Err(BridgeError::NotRowMajor { operand, limit, found });
    }
    Ok(into_contiguous(tensor))
}

fn gather(
    bridge: &Bridge,
    plan: &GatherPlan,
    shape: Shape,
    params: CubeTensor,
    indices: CubeTensor,
) -> Result<(CubeTensor, Option<Report>), BridgeError> {
    let types = ElementTypes::new(params.dtype.size() as u64, index_kind(indices.dtype)?);
    let (client, dtype) = (params.client.clone(), params.dtype);
    let bytes = (plan.output_len() as u64).saturating_mul(types.element_bytes());
    let limit = bridge.device.limits().max_buffer_size;
    if bytes > limit {
        let found = bytes;
        return Err(BridgeError::TooLarge { limit, found });
    }
    let output = allocate(&client, bytes);
    let output =
        CubeTensor::new_contiguous(client.clone(), bridge.burn.clone(), shape, output, dtype);
    // Without an output there is nothing to write, and no row is bad.
    if plan.output_len() == 0 {
        return Ok((output, None));
    }
    let report = (plan.bad_indices() == BadIndices::Error).then(|| Report {
        handle: allocate(&client, BadRows::REPORT_BYTES),
        client: client.clone(),
        plan: plan.clone(),
        index_kind: types.index_kind(),
    });

    // While a resource is held, burn neither moves nor reuses its memory.
    let (from, _guard) = resource(&client, Operand::Params, &params.handle)?;
    let (by, _guard) = resource(&client, Operand::Indices, &indices.handle)?;
    let (to, _guard) = resource(&client, Operand::Output, &output.handle)?;
    let reported = report
        .as_ref()
        .map(|report| resource(&client, Operand::Report, &report.handle));
    let reported = reported.transpose()?;

    let mut buffers = Buffers::gather(
        types,
        Ranges {
            params: range(&from),
            indices: range(&by),
            output: range(&to),
        },
    );
    if let Some((report, _guard)) = &reported {
        buffers = buffers.report(range(report));
    }
    if let Some(fill) = &bridge.fill {
        buffers = buffers.fill(fill);
    }
    let label = Some("wgpu-gather-burn/gather");
    let descriptor = wgpu::CommandEncoderDescriptor { label };
    let mut encoder = bridge.device.create_command_encoder(&descriptor);
    bridge.gatherer.encode(&mut encoder, plan, &buffers)?;
    // burn's work goes first: it fills the operands, and may still use the memory that the output takes over. The
    // call for a resource submits that work too in cubecl 0.11, but no document of cubecl's promises it. .ci/burn tests
    // the flush on a cubecl that does not.
    let flushed = client.flush();
    flushed.map_err(|error| BridgeError::burn(Operand::Output, error))?;
    bridge.queue.submit([encoder.finish()]);
    Ok((output, report))
}

fn index_kind(dtype: DType) -> Result<IndexKind, BridgeError> {
    match dtype {
        DType::I8 => Ok(IndexKind::I8),
        DType::U8 => Ok(IndexKind::U8),
        DType::I16 => Ok(IndexKind::I16),
        DType::U16 => Ok(IndexKind::U16),
        DType::I32 => Ok(IndexKind::I32),
        DType::U32 => Ok(IndexKind::U32),
        DType::I64 => Ok(IndexKind::I64),
        DType::U64 => Ok(IndexKind::U64),
        _ => Err(BridgeError::Backend {
            operand: Operand::Indices,
        }),
    }
}

/// Memory of burn's. A tensor larger than a page of burn's pools gets a buffer of its own. A failure shows in
/// [`resource`].
fn allocate(client: &Client, bytes: u64) -> Handle {
    let size = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes <= client.properties().memory.max_page_size {
        client.empty(size)
    } else {
        client.memory_dedicated_allocation((), |()| client.empty(size))
    }
}

/// The buffer that holds the memory of `handle`, and a guard that keeps the memory in place.
fn resource(
    client: &Client,
    operand: Operand,
    handle: &Handle,
) -> Result<(WgpuResource, impl Sized + use<>), BridgeError> {
    let guard = client.get_resource::<WgpuServer<AutoCompiler>>(handle.clone());
    let guard = guard.map_err(|error| BridgeError::burn(operand, error))?;
    Ok((guard.resource().clone(), guard))
}

/// The range of an operand in its buffer, rounded up to whole words.
fn range(resource: &WgpuResource) -> wgpu::BufferSlice<'_> {
    let end = resource.offset + resource.size.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
    let end = end.min(resource.buffer.size());
    resource.buffer.slice(resource.offset..end)
}
