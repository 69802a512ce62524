//! burn on its own CPU back end, burn-flex.

use burn::tensor::{DType, Device as BurnDevice};

use super::burn_ops::{BurnIndices, Op, start};
use super::{Device, Job, Peer};
use crate::data::Data;

pub struct BurnFlex {
    device: BurnDevice,
}

impl BurnFlex {
    pub fn new() -> Self {
        Self {
            device: BurnDevice::flex(),
        }
    }
}

impl Peer for BurnFlex {
    fn name(&self) -> &'static str {
        "burn-flex"
    }

    fn package(&self) -> Option<&'static str> {
        Some("burn-flex")
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    fn measure(&self) -> &'static str {
        "run"
    }

    fn uses_threads(&self) -> bool {
        true
    }

    fn note(&self) -> &'static str {
        "select, allocates its output; takes i64 in place of i32 and u8, since it converts them at each call. \
         W2 and D3 are gather_nd; E1 to E3 are gather, and so is W6 with expanded indices"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let indices = BurnIndices {
            bytes: bytemuck::cast_slice(&data.indices.to_i64()).to_vec(),
            dtype: DType::I64,
        };
        start(data, &self.device, Op::Best, indices)
    }
}
