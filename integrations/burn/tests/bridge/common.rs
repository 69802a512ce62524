//! burn's device, which all trials share. Without an adapter the trials are ignored or, with `GATHER_REQUIRE_GPU=1`,
//! fail.

use std::sync::OnceLock;

use burn::backend::{BackendTensor, DispatchTensorKind};
use burn::tensor::kind::Basic;
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_cubecl::cubecl::wgpu::{AutoCompiler, WgpuResource, WgpuServer};
use libtest_mimic::{Completion, Trial};
use wgpu_gather_burn::Bridge;

pub struct Gpu {
    pub device: Device,
    pub setup: WgpuSetup,
    pub bridge: Bridge,
}

impl Gpu {
    pub fn open() -> Result<Self, String> {
        let options = Device::wgpu_options();
        let (device, setup) = options
            .init_with_setup()
            .map_err(|error| error.to_string())?;
        let bridge = Bridge::new(&device, &setup).map_err(|error| error.to_string())?;
        Ok(Self {
            device,
            setup,
            bridge,
        })
    }

    /// A tensor of these bytes, which stay as they are.
    pub fn tensor<const D: usize, K: Basic>(
        &self,
        bytes: Vec<u8>,
        shape: [usize; D],
        dtype: DType,
    ) -> Tensor<D, K> {
        let data = TensorData::from_bytes_vec(bytes, shape, dtype);
        Tensor::from_data(data, (&self.device, dtype))
    }
}

fn gpu() -> Result<&'static Gpu, &'static str> {
    static GPU: OnceLock<Result<Gpu, String>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| {
        let gpu = Gpu::open();
        match &gpu {
            Ok(gpu) => eprintln!("trials run on {:?}", gpu.setup.device.adapter_info()),
            Err(error) => eprintln!("trials do not run: {error}"),
        }
        gpu
    });
    gpu.as_ref().map_err(String::as_str)
}

/// A trial on the shared device, which fails by panicking.
pub fn trial(name: impl Into<String>, run: impl FnOnce(&'static Gpu) + Send + 'static) -> Trial {
    Trial::ignorable_test(name, move || match gpu() {
        Ok(gpu) => {
            run(gpu);
            Ok(Completion::Completed)
        }
        Err(error) if std::env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1") => {
            Err(format!("GATHER_REQUIRE_GPU=1, but {error}").into())
        }
        Err(error) => Ok(Completion::ignored_with(error)),
    })
}

/// The bytes of a tensor as they lie on the device. Bools have a byte each.
pub fn bytes<const D: usize, K: Basic>(tensor: Tensor<D, K>) -> Vec<u8> {
    let data = tensor.into_data();
    match data.dtype() {
        DType::Bool(_) => data.iter::<bool>().map(u8::from).collect(),
        _ => data.as_bytes().to_vec(),
    }
}

/// The buffer of burn's that holds a tensor, and the tensor's place in it.
pub fn place<const D: usize, K: Basic>(tensor: Tensor<D, K>) -> WgpuResource {
    let DispatchTensorKind::Cube(BackendTensor::Float(tensor) | BackendTensor::Int(tensor)) =
        tensor.into_dispatch().kind
    else {
        panic!("a float or an int of burn's cubecl backend");
    };
    #[cfg(feature = "fusion")]
    let tensor = {
        let client = tensor.client.clone();
        client.resolve_tensor_float::<burn_cubecl::CubeBackend>(tensor)
    };
    let resource = tensor
        .client
        .get_resource::<WgpuServer<AutoCompiler>>(tensor.handle);
    resource.unwrap().resource().clone()
}
