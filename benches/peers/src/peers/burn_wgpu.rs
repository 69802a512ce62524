//! burn on wgpu, in WGSL. Operands stay on the device, and each call waits until the device has done the work.

use burn::tensor::wgpu::WgpuBackend;
use burn::tensor::{DType, Device as BurnDevice};
use testkit::gpu::Gpu;
use wgpu_gather::wgpu;
use wgpu_gather_burn::Bridge;

use super::burn_ops::{BurnIndices, Op, dtype, start};
use super::{Device, Job, Peer};
use crate::data::{Data, Indices};

/// burn's device, the bytes of its largest binding, and this crate's bridge to it; or the reason why there is none.
pub type Found = Result<(BurnDevice, u64, Bridge), String>;

/// Opens burn's device. Fails if burn chooses another adapter than `gpu`'s: the times could not be compared.
pub fn device_like(gpu: &Gpu) -> Found {
    let ours = gpu.device().adapter_info();
    let api = match ours.backend {
        wgpu::Backend::Vulkan => WgpuBackend::Vulkan,
        wgpu::Backend::Metal => WgpuBackend::Metal,
        wgpu::Backend::Dx12 => WgpuBackend::Dx12,
        wgpu::Backend::Gl => WgpuBackend::Gl,
        _ => WgpuBackend::Auto,
    };
    let options = BurnDevice::wgpu_options().graphics_api(api);
    let (device, setup) = options
        .init_with_setup()
        .map_err(|error| error.to_string())?;
    let theirs = setup.adapter.get_info().name;
    if theirs != ours.name {
        return Err(format!("burn runs on another adapter, {theirs}"));
    }
    let limits = setup.device.limits();
    let bridge = Bridge::new(&device, &setup).map_err(|error| error.to_string())?;
    Ok((device, limits.max_storage_buffer_binding_size, bridge))
}

pub struct BurnWgpu {
    found: Found,
    op: Op,
}

impl BurnWgpu {
    pub fn select(found: Found) -> Self {
        Self {
            found,
            op: Op::Best,
        }
    }

    pub fn gather_nd(found: Found) -> Self {
        Self {
            found,
            op: Op::GatherNd,
        }
    }
}

impl Peer for BurnWgpu {
    fn name(&self) -> &'static str {
        match self.op {
            Op::Best => "burn-wgpu",
            Op::GatherNd => "burn-wgpu gather_nd",
        }
    }

    fn package(&self) -> Option<&'static str> {
        Some("burn-wgpu")
    }

    fn device(&self) -> Device {
        Device::Gpu
    }

    fn measure(&self) -> &'static str {
        "resident"
    }

    fn note(&self) -> &'static str {
        match self.op {
            Op::Best => {
                "select in WGSL, then sync; its output comes from its memory pool. \
                 W2 and D3 are gather_nd; E1 to E3 are gather, and so is W6 with expanded indices"
            }
            Op::GatherNd => "gather_nd in WGSL, then sync; its output comes from its memory pool",
        }
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let (device, binding_bytes, _) = self.found.as_ref().map_err(String::clone)?;
        let indices = BurnIndices {
            bytes: data.indices.bytes().to_vec(),
            dtype: match *data.indices {
                Indices::U8(_) => return Err("its WGSL has no indices of 8 bits".into()),
                Indices::I32(_) => DType::I32,
                Indices::I64(_) => DType::I64,
            },
        };
        for dtype in [dtype(data.workload.element), indices.dtype] {
            if !device.supports_dtype(dtype) {
                return Err(format!("its WGSL has no {dtype:?} on this device"));
            }
        }
        let most = data.params.bytes().len().max(data.output_bytes()) as u64;
        if most > *binding_bytes {
            return Err(format!(
                "it binds each operand whole: {} MiB where the device binds {} MiB",
                most >> 20,
                binding_bytes >> 20
            ));
        }
        start(data, device, self.op, indices)
    }
}
