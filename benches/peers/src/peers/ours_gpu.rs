//! This crate on the GPU, with operands that stay on the device: record, submit and wait, without a read-back.

use std::sync::Arc;

use testkit::gpu::{Gpu, buffers_of};
use wgpu_gather::{ElementTypes, wgpu};

use super::{Device, Job, OURS, Peer};
use crate::data::Data;

pub struct Resident(pub Arc<Gpu>);

impl Peer for Resident {
    fn name(&self) -> &'static str {
        OURS
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
        "Gatherer::encode, submit and wait, into a buffer that is there; a bad index gives zeros"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let gpu = &*self.0;
        let operand = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let upload = |bytes: &[u8]| {
            let filled = buffer(gpu, bytes.len() as u64, operand);
            gpu.queue().write_buffer(&filled, 0, bytes);
            filled
        };
        let output = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let job = Recording {
            gpu,
            data,
            params: upload(data.params.bytes()),
            indices: upload(data.indices.bytes()),
            output: buffer(gpu, data.output_bytes() as u64, output),
        };
        // A first recording shows all errors.
        job.record()?;
        Ok(Box::new(job))
    }
}

struct Recording<'a> {
    gpu: &'a Gpu,
    data: &'a Data,
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
}

impl Recording<'_> {
    fn record(&self) -> Result<wgpu::CommandEncoder, String> {
        let workload = &self.data.workload;
        let buffers = buffers_of(
            ElementTypes::new(workload.element.bytes() as u64, workload.index),
            [
                self.params.slice(..),
                self.indices.slice(..),
                self.output.slice(..),
            ],
        );
        let mut encoder = new_encoder(self.gpu);
        let gatherer = self.gpu.gatherer();
        let encoded = gatherer.encode(&mut encoder, &self.data.plan, &buffers);
        encoded.map_err(|error| error.to_string())?;
        Ok(encoder)
    }
}

impl Job for Recording<'_> {
    fn run(&mut self) {
        let encoder = self.record().expect("what could be recorded once");
        submit_and_wait(self.gpu, encoder);
    }

    fn output(&mut self) -> Vec<u8> {
        let mut bytes = download(self.gpu, &self.output);
        bytes.truncate(self.data.output_bytes());
        bytes
    }
}

/// A buffer of `bytes` bytes, rounded up to a multiple of 4.
pub fn buffer(gpu: &Gpu, bytes: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT),
        usage,
        mapped_at_creation: false,
    })
}

pub fn new_encoder(gpu: &Gpu) -> wgpu::CommandEncoder {
    let descriptor = wgpu::CommandEncoderDescriptor::default();
    gpu.device().create_command_encoder(&descriptor)
}

pub fn submit_and_wait(gpu: &Gpu, encoder: wgpu::CommandEncoder) {
    gpu.queue().submit([encoder.finish()]);
    let waited = gpu.device().poll(wgpu::PollType::wait_indefinitely());
    waited.expect("a live device");
}

pub fn download(gpu: &Gpu, source: &wgpu::Buffer) -> Vec<u8> {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let host = buffer(gpu, source.size(), usage);
    let mut encoder = new_encoder(gpu);
    encoder.copy_buffer_to_buffer(source, 0, &host, 0, source.size());
    submit_and_wait(gpu, encoder);
    host.map_async(wgpu::MapMode::Read, .., |mapped| {
        mapped.expect("a live device");
    });
    let waited = gpu.device().poll(wgpu::PollType::wait_indefinitely());
    waited.expect("a live device");
    host.get_mapped_range(..).expect("mapped").to_vec()
}
