//! burn's tensors as cubecl's, and back. With fusion, a tensor's pending operations run first.

use burn::backend::{BackendTypes, Cube};
use burn::tensor::kind::Basic;
use burn::tensor::{BackendPrimitive, Tensor};
use burn_cubecl::tensor::CubeTensor;
use wgpu_gather::Operand;

use crate::BridgeError;

/// A tensor of burn's dispatch, for every kind.
pub(crate) type Primitive = <Cube as BackendTypes>::FloatTensorPrimitive;

/// The kinds of tensors that can be gathered: `Float`, `Int` and `Bool`.
pub trait Kind: Basic + BackendPrimitive<Cube, Primitive = Primitive> {}

impl<K: Basic + BackendPrimitive<Cube, Primitive = Primitive>> Kind for K {}

pub(crate) fn into_cube<const D: usize, K: Kind>(
    operand: Operand,
    tensor: Tensor<D, K>,
) -> Result<CubeTensor, BridgeError> {
    let primitive = tensor.try_into_primitive::<Cube>();
    let primitive = primitive.map_err(|error| BridgeError::Backend {
        operand,
        reason: format!("{error:?}"),
    })?;
    Ok(resolve(primitive))
}

pub(crate) fn from_cube<const D: usize, K: Kind>(tensor: CubeTensor) -> Tensor<D, K> {
    Tensor::from_primitive::<Cube>(register(tensor))
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
