//! candle-core on the CPU: `index_select`, and `gather` for elements and batch dims.

use candle_core::{Device as CandleDevice, Tensor, WithDType};

use super::{Device, Job, Peer, made};
use crate::data::{Data, Params};
use wgpu_gather::IndexKind;

pub struct Candle;

impl Peer for Candle {
    fn name(&self) -> &'static str {
        "candle"
    }

    fn package(&self) -> Option<&'static str> {
        Some("candle-core")
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    fn measure(&self) -> &'static str {
        "run"
    }

    fn note(&self) -> &'static str {
        "index_select on one thread, allocates its output; takes u32 in place of i32 \
         and u8, of which it takes 255 for no row; E1 to E3 are gather, and so is W6 with indices expanded beforehand"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let started = match &*data.params {
            Params::F32(params) => start(data, params),
            Params::F16(params) => start(data, params),
            Params::U8(params) => start(data, params),
        };
        started.map_err(|error| error.to_string())
    }
}

fn start<'a, T: WithDType + bytemuck::Pod>(
    data: &'a Data,
    params: &[T],
) -> candle_core::Result<Box<dyn Job + 'a>> {
    let workload = &data.workload;
    let params = Tensor::from_slice(params, &workload.params_shape[..], &CandleDevice::Cpu)?;
    let is_batched = workload.batch_dims == 1;
    let gather_axis = data.elements_axis().or(is_batched.then_some(1));
    let gathers = gather_axis.is_some();
    let Some(axis) = gather_axis.or(data.select_axis()) else {
        let reason = "index_select and gather take one index, not several";
        return Err(candle_core::Error::Msg(reason.into()));
    };
    let shape = if gathers {
        &workload.indices_shape[..]
    } else {
        &[data.indices.to_u32().len()]
    };
    let mut indices = match workload.index {
        IndexKind::I64 => Tensor::from_vec(data.indices.to_i64(), shape, &CandleDevice::Cpu)?,
        _ => Tensor::from_vec(data.indices.to_u32(), shape, &CandleDevice::Cpu)?,
    };
    if is_batched {
        indices = indices.expand(data.plan.output_shape())?.contiguous()?;
    }
    Ok(made(
        move || {
            let output = if gathers {
                params.gather(&indices, axis)
            } else {
                params.index_select(&indices, axis)
            };
            output.expect("indices are in range")
        },
        |output| {
            let values = output.flatten_all().and_then(|flat| flat.to_vec1::<T>());
            bytemuck::cast_slice(&values.expect("a tensor of this type")).to_vec()
        },
    ))
}
