//! Copies as many bytes as the output has. Ratios are times divided by a copy's.

use std::sync::Arc;

use testkit::gpu::Gpu;
use wgpu_gather::wgpu;

use super::ours_gpu::{buffer, download, new_encoder, submit_and_wait};
use super::{COPY, Device, Job, Peer, filled};
use crate::data::Data;

/// `copy_from_slice` on one thread.
pub struct Memcpy;

impl Peer for Memcpy {
    fn name(&self) -> &'static str {
        "memcpy"
    }

    fn measure(&self) -> &'static str {
        COPY
    }

    fn note(&self) -> &'static str {
        "one thread copies the output's bytes to memory that is there"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let source = vec![1_u8; data.output_bytes()];
        Ok(filled(data, move |output: &mut [u8]| {
            output.copy_from_slice(&source);
        }))
    }
}

/// The device's copy from buffer to buffer.
pub struct BufferCopy(pub Arc<Gpu>);

impl Peer for BufferCopy {
    fn name(&self) -> &'static str {
        "buffer copy"
    }

    fn device(&self) -> Device {
        Device::Gpu
    }

    fn measure(&self) -> &'static str {
        COPY
    }

    fn note(&self) -> &'static str {
        "copy_buffer_to_buffer of the output's bytes, submit and wait"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        let bytes = (data.output_bytes() as u64).next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT);
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let job = Copying {
            gpu: &self.0,
            from: buffer(&self.0, bytes, usage),
            to: buffer(&self.0, bytes, usage),
        };
        let source = vec![1; data.output_bytes()];
        self.0.queue().write_buffer(&job.from, 0, &source);
        Ok(Box::new(job))
    }
}

struct Copying<'a> {
    gpu: &'a Gpu,
    from: wgpu::Buffer,
    to: wgpu::Buffer,
}

impl Job for Copying<'_> {
    fn run(&mut self) {
        let mut encoder = new_encoder(self.gpu);
        encoder.copy_buffer_to_buffer(&self.from, 0, &self.to, 0, self.from.size());
        submit_and_wait(self.gpu, encoder);
    }

    fn output(&mut self) -> Vec<u8> {
        download(self.gpu, &self.to)
    }
}
