//! tract-core: the operators Gather and GatherNd, called as tract's plans call them.

use tract_core::internal::{
    DatumType, EvalContext, EvalOp, IntoTValue, TValue, Tensor, TractResult, tvec,
};
use tract_core::ops::array::{Gather, GatherElements, GatherNd};

use super::{Device, Job, Peer, made};
use crate::data::Data;
use testkit::bench::workloads::Element;

pub struct Tract;

impl Peer for Tract {
    fn name(&self) -> &'static str {
        "tract"
    }

    fn package(&self) -> Option<&'static str> {
        Some("tract-core")
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    fn measure(&self) -> &'static str {
        "run"
    }

    fn note(&self) -> &'static str {
        "Gather on one thread, allocates its output; takes i64 in place of i32 and u8. E1 to E3 are GatherElements, W2, W6 and \
         D3 GatherNd"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        start(data).map_err(|error| error.to_string())
    }
}

fn start<'a>(data: &Data) -> TractResult<Box<dyn Job + 'a>> {
    let workload = &data.workload;
    let element = match workload.element {
        Element::F32 => DatumType::F32,
        Element::F16 => DatumType::F16,
        Element::U8 => DatumType::U8,
    };
    let params = tensor(element, &workload.params_shape, data.params.bytes())?;
    let i64s = data.indices.to_i64();
    let indices = |shape: &[usize]| tensor(DatumType::I64, shape, bytemuck::cast_slice(&i64s));
    if let Some(axis) = data.select_axis() {
        return Ok(job(Gather::new(axis), params, indices(&[i64s.len()])?));
    }
    let indices = indices(&workload.indices_shape)?;
    match data.elements_axis() {
        Some(axis) => Ok(job(GatherElements::new(axis), params, indices)),
        None => Ok(job(GatherNd::new(workload.batch_dims), params, indices)),
    }
}

fn tensor(element: DatumType, shape: &[usize], bytes: &[u8]) -> TractResult<TValue> {
    // tract aligns its own tensors so.
    let mut tensor = Tensor::zero_aligned_dt(element, shape, 64)?;
    tensor
        .try_as_plain_ram_mut()?
        .as_bytes_mut()
        .copy_from_slice(bytes);
    Ok(tensor.into_tvalue())
}

fn job<'a>(op: impl EvalOp + Send + 'a, params: TValue, indices: TValue) -> Box<dyn Job + 'a> {
    made(
        move || {
            let inputs = tvec![params.clone(), indices.clone()];
            let output = op.eval(&EvalContext::out_of_plan(), inputs);
            output.expect("indices are in range")
        },
        |output| {
            let plain = output[0].try_as_plain_ram().expect("plain numbers");
            plain.as_bytes().to_vec()
        },
    )
}
