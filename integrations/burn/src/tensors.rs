//! burn's tensors as cubecl's, and back. With fusion, a tensor's pending operations run first.

use burn::backend::{
    BackendTensor, BackendTypes, Cube, DispatchAutodiffContext, DispatchTensor, DispatchTensorKind,
};
use burn::tensor::Tensor;
use burn::tensor::kind::Basic;
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::Operand;

use crate::BridgeError;

/// A tensor of burn's dispatch, of any kind.
type Primitive = <Cube as BackendTypes>::FloatTensorPrimitive;

pub(crate) fn into_cube<const D: usize, K: Basic>(
    operand: Operand,
    tensor: Tensor<D, K>,
) -> Result<CubeTensor, BridgeError> {
    let tensor = tensor.into_dispatch();
    match tensor.kind {
        DispatchTensorKind::Cube(
            BackendTensor::Float(tensor) | BackendTensor::Int(tensor) | BackendTensor::Bool(tensor),
        ) => Ok(resolve(tensor)),
        _ if tensor.autodiff != DispatchAutodiffContext::Disabled => Err(BridgeError::NoGradient),
        _ => Err(BridgeError::Backend { operand }),
    }
}

pub(crate) fn from_cube<const D: usize, K: Basic>(tensor: CubeTensor) -> Tensor<D, K> {
    let dtype = tensor.dtype;
    let tensor = register(tensor);
    let tensor = if dtype.is_bool() {
        BackendTensor::Bool(tensor)
    } else if dtype.is_float() {
        BackendTensor::Float(tensor)
    } else {
        BackendTensor::Int(tensor)
    };
    Tensor::from_dispatch(DispatchTensor {
        kind: DispatchTensorKind::Cube(tensor),
        autodiff: DispatchAutodiffContext::Disabled,
    })
}

#[cfg(not(feature = "fusion"))]
fn resolve(tensor: Primitive) -> CubeTensor {
    tensor
}

#[cfg(not(feature = "fusion"))]
fn register(tensor: CubeTensor) -> Primitive {
    tensor
}

/// Runs what the fused tensor waits for. A cubecl tensor has no kind, so floats stand for all kinds.
#[cfg(feature = "fusion")]
fn resolve(tensor: Primitive) -> CubeTensor {
    let client = tensor.client.clone();
    client.resolve_tensor_float::<burn_cubecl::CubeBackend>(tensor)
}

/// Registers a tensor that is there already, as burn registers tensors from host memory.
#[cfg(feature = "fusion")]
fn register(tensor: CubeTensor) -> Primitive {
    use burn::backend::TensorMetadata;
    use burn::backend::fusion::custom::StreamId;
    use burn::backend::fusion::{NoOp, get_client};
    use burn::backend::ir::{BackendIr, InitOperationIr, OperationIr, OperationOutput};
    use burn_cubecl::CubeBackend;

    let client = get_client::<CubeBackend>(&tensor.device);
    let (shape, dtype) = (tensor.shape(), tensor.dtype);
    let handle = CubeBackend::float_tensor_handle(tensor);
    let init = InitOperationIr::create(shape, dtype, || client.register_tensor_handle(handle));
    client
        .register(
            StreamId::current(),
            OperationIr::Init(init),
            NoOp::<CubeBackend>::new(),
        )
        .output()
}
