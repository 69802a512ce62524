//! Operands on the device, and the check of an output against the CPU's.

use wgpu_gather::{
    ElementTypes, GatherBuffers, GatherElement, GatherIndex, GatherPlan, Gpu, Tensor, wgpu,
};

use super::device::{buffer, new_encoder};
use super::naive;
use crate::data::{Data, Number};

pub struct Operands<T, I> {
    pub table: Tensor<T>,
    pub indices: Tensor<I>,
    output: Tensor<T>,
}

impl<T: Number + GatherElement, I: Number + GatherIndex> Operands<T, I> {
    /// Uploads the operands of `data`, and makes an output for its plan.
    pub fn new(gpu: &Gpu, data: &Data<T, I>, plan: &GatherPlan) -> Result<Self, String> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let bytes = plan.output_len() * size_of::<T>() as u64;
        let output = buffer(gpu.device(), bytes, usage);
        let output = Tensor::from_buffer(gpu, output, plan.output_shape());
        let table = gpu.upload(&data.params, plan.params_shape());
        let indices = gpu.upload(&data.indices, plan.indices_shape());
        Ok(Self {
            table: table.map_err(|error| error.to_string())?,
            indices: indices.map_err(|error| error.to_string())?,
            output: output.map_err(|error| error.to_string())?,
        })
    }

    pub fn output(&self) -> &wgpu::Buffer {
        on_gpu(&self.output)
    }

    pub fn buffers(&self) -> GatherBuffers<'_> {
        GatherBuffers::new(ElementTypes::of::<T, I>())
            .params(on_gpu(&self.table).slice(..))
            .indices(on_gpu(&self.indices).slice(..))
            .output(self.output().slice(..))
    }

    pub fn naive_buffers(&self) -> naive::Buffers<'_> {
        naive::Buffers {
            params: on_gpu(&self.table),
            indices: on_gpu(&self.indices),
            output: self.output(),
            element_bytes: size_of::<T>() as u64,
            index_bytes: size_of::<I>() as u64,
        }
    }

    /// Runs the recorded commands on an output of zeros, and compares the output with `expected`.
    pub fn check(
        &self,
        gpu: &Gpu,
        measure: &str,
        expected: &[T],
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<(), String> {
        let mut encoder = new_encoder(gpu);
        encoder.clear_buffer(self.output(), 0, None);
        record(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
        self.check_output(measure, expected)
    }

    /// Compares the output with `expected`.
    pub fn check_output(&self, measure: &str, expected: &[T]) -> Result<(), String> {
        let output = self.output.download().wait();
        match output.map_err(|error| error.to_string())? == expected {
            true => Ok(()),
            false => Err(format!("{measure}: the output differs from the CPU's")),
        }
    }
}

/// The buffer of a tensor.
pub fn on_gpu<T>(tensor: &Tensor<T>) -> &wgpu::Buffer {
    tensor.buffer().expect("uploaded to a GPU")
}
