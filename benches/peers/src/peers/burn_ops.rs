//! burn's `select`, `gather` and `gather_nd`, for all of burn's devices.

use burn::tensor::kind::Basic;
use burn::tensor::{DType, Device as BurnDevice, Float, Int, Tensor, TensorData};

use super::{Job, made};
use crate::data::Data;
use testkit::bench::workloads::Element;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `select`; `gather` for elements and batch dims; `gather_nd` if neither can do the workload.
    Best,
    /// `gather_nd` only.
    GatherNd,
}

pub struct BurnIndices {
    pub bytes: Vec<u8>,
    pub dtype: DType,
}

pub fn dtype(element: Element) -> DType {
    match element {
        Element::F32 => DType::F32,
        Element::F16 => DType::F16,
        Element::U8 => DType::U8,
    }
}

/// Makes a job whose call ends when the device has done the work.
pub fn start<'a>(
    data: &Data,
    device: &BurnDevice,
    op: Op,
    indices: BurnIndices,
) -> Result<Box<dyn Job + 'a>, String> {
    let is_float = data.workload.element != Element::U8;
    let with = Operands {
        data,
        device,
        indices,
    };
    match data.workload.params_shape.len() {
        1 if is_float => with.of_rank::<1, Float>(op),
        2 if is_float => with.of_rank::<2, Float>(op),
        3 if is_float => with.of_rank::<3, Float>(op),
        4 if is_float => with.of_rank::<4, Float>(op),
        2 => with.of_rank::<2, Int>(op),
        _ => unreachable!("no workload has such params"),
    }
}

struct Operands<'a> {
    data: &'a Data,
    device: &'a BurnDevice,
    indices: BurnIndices,
}

impl Operands<'_> {
    fn of_rank<'a, const RANK: usize, K: Basic + Send + 'a>(
        self,
        op: Op,
    ) -> Result<Box<dyn Job + 'a>, String> {
        let workload = &self.data.workload;
        let element = dtype(workload.element);
        let params = TensorData::from_bytes_vec(
            self.data.params.bytes().to_vec(),
            workload.params_shape.clone(),
            element,
        );
        let params = Tensor::<RANK, K>::from_data(params, (self.device, element));
        let indices_shape = workload.indices_shape.clone();
        let rows: usize = self.data.plan.indices_len().try_into().expect("in memory");

        if op == Op::Best && workload.batch_dims == 1 {
            // Indices are expanded to the output's shape; a slice's elements share one index in memory.
            let indices = self.indices::<RANK>(indices_shape);
            let shape: [usize; RANK] = self.data.plan.output_shape().try_into().expect("its rank");
            let indices = indices.expand(shape);
            return Ok(self.job(move || params.clone().gather(1, indices.clone())));
        }
        if let (Op::Best, Some(axis)) = (op, self.data.elements_axis()) {
            let indices = self.indices::<RANK>(indices_shape);
            return Ok(self.job(move || params.clone().gather(axis, indices.clone())));
        }
        if workload.batch_dims > 0 {
            return Err("gather_nd has no batch dims".into());
        }
        if let (Op::Best, Some(axis)) = (op, self.data.select_axis()) {
            let indices = self.indices::<1>(vec![rows]);
            return Ok(self.job(move || params.clone().select(axis, indices.clone())));
        }
        if workload.axis().is_some() {
            return Err("gather_nd selects in the leading dims only".into());
        }
        let indices = self.indices::<2>(indices_shape);
        Ok(match (RANK, workload.indices_shape.last()) {
            (1, _) | (2, Some(2)) => {
                self.job(move || params.clone().gather_nd::<2, 1>(indices.clone()))
            }
            (4, _) => self.job(move || params.clone().gather_nd::<2, 2>(indices.clone())),
            _ => self.job(move || params.clone().gather_nd::<2, RANK>(indices.clone())),
        })
    }

    fn indices<const RANK: usize>(&self, shape: Vec<usize>) -> Tensor<RANK, Int> {
        let BurnIndices { bytes, dtype } = &self.indices;
        let indices = TensorData::from_bytes_vec(bytes.clone(), shape, *dtype);
        Tensor::from_data(indices, (self.device, *dtype))
    }

    fn job<'a, const RANK: usize, K: Basic + Send + 'a>(
        &self,
        gather: impl Fn() -> Tensor<RANK, K> + Send + 'a,
    ) -> Box<dyn Job + 'a> {
        let device = self.device.clone();
        made(
            move || {
                let output = gather();
                device.sync().expect("a live device");
                output
            },
            |output: &Tensor<RANK, K>| output.clone().into_data().as_bytes().to_vec(),
        )
    }
}
