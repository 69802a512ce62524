//! burn's tensors through this crate's bridge, on burn's device: flush, record, submit and wait, without a read-back.

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device as BurnDevice, Float, Int, Tensor, TensorData};
use testkit::bench::workloads::Element;
use wgpu_gather_burn::Bridge;

use super::burn_ops::dtype;
use super::burn_wgpu::Found;
use super::{BRIDGE, Device, Job, OURS, Peer, made};
use crate::data::{Data, Indices};

pub struct BurnBridge(pub Found);

impl Peer for BurnBridge {
    fn name(&self) -> &'static str {
        BRIDGE
    }

    fn package(&self) -> Option<&'static str> {
        Some(OURS)
    }

    fn device(&self) -> Device {
        Device::Gpu
    }

    fn measure(&self) -> &'static str {
        "resident"
    }

    fn note(&self) -> &'static str {
        "wgpu-gather-burn on burn's device, then sync; its output comes from burn's memory pool; a bad index gives zeros"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let (device, _, bridge) = self.0.as_ref().map_err(String::clone)?;
        match data.workload.element {
            Element::U8 => of_kind::<Int>(data, device, bridge),
            Element::F32 | Element::F16 => of_kind::<Float>(data, device, bridge),
        }
    }
}

/// The operands have rank 1: a plan compares only element counts.
fn of_kind<'a, K: Basic + Send + 'a>(
    data: &'a Data,
    device: &'a BurnDevice,
    bridge: &'a Bridge,
) -> Result<Box<dyn Job + 'a>, String> {
    let element = dtype(data.workload.element);
    let index = match *data.indices {
        Indices::U8(_) => return Err("burn keeps no indices of 8 bits in WGSL".into()),
        Indices::I32(_) => DType::I32,
        Indices::I64(_) => DType::I64,
    };
    let params: Tensor<1, K> = tensor(data.params.bytes(), element, device);
    let indices: Tensor<1, Int> = tensor(data.indices.bytes(), index, device);
    macro_rules! of_rank {
        ($($rank:literal)*) => {
            match data.plan.output_shape().len() {
                $($rank => {
                    let gather = move || {
                        bridge.run::<1, 1, $rank, K>(&data.plan, params.clone(), indices.clone())
                    };
                    // A first gather shows all errors.
                    gather().map_err(|error| error.to_string())?;
                    Ok(made(
                        move || {
                            let output = gather().expect("what could be gathered once").tensor;
                            device.sync().expect("a live device");
                            output
                        },
                        |output| output.clone().into_data().as_bytes().to_vec(),
                    ))
                })*
                rank => Err(format!("no workload has an output of rank {rank}")),
            }
        };
    }
    of_rank!(1 2 3 4)
}

fn tensor<K: Basic>(bytes: &[u8], dtype: DType, device: &BurnDevice) -> Tensor<1, K> {
    let data = TensorData::from_bytes_vec(bytes.to_vec(), [bytes.len() / dtype.size()], dtype);
    // As a module's parameter, which may be larger than a binding.
    device.memory_persistent_allocations(data, |data| Tensor::from_data(data, (device, dtype)))
}
