//! The library's own buffers, and the copies of bytes into them. Without memory for a buffer, a call returns an error.

use super::context::Gpu;
use crate::error::{GpuError, Operand};
use crate::gpu::report::REPORT_BYTES;
use crate::gpu::scope::scoped;
use crate::gpu::types::range_bytes;

/// The usages of a tensor's buffer.
pub(super) const TENSOR: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// The usages of a buffer that is mapped for reading.
pub(super) const HOST: wgpu::BufferUsages =
    wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

impl Gpu {
    /// A buffer for a report, and a buffer that brings the report back.
    pub(super) fn make_report(&self) -> Result<(wgpu::Buffer, wgpu::Buffer), GpuError> {
        let make = |usage, label| self.make_buffer(Operand::Report, REPORT_BYTES, usage, label);
        Ok((
            make(TENSOR, "wgpu-gather/report")?,
            make(HOST, "wgpu-gather/report/readback")?,
        ))
    }

    /// A buffer, and a staging buffer with the bytes to be copied into it.
    ///
    /// wgpu's own staging, for `write_buffer` and for `mapped_at_creation` without `MAP_WRITE`, loses the device if
    /// there is no memory. For a staging buffer of the library's own, the lack of memory is only an error.
    pub(super) fn stage(&self, operand: Operand, bytes: &[u8]) -> Result<Staged, GpuError> {
        let size = range_bytes(bytes.len() as u64).max(4);
        let buffer = self.make_buffer(operand, size, TENSOR, &format!("wgpu-gather/{operand}"))?;
        let host = self.make_staging(operand, size)?;
        scoped(self.device(), || {
            // A lost device maps nothing, and the error scope holds its error.
            if let Ok(mut mapped) = host.get_mapped_range_mut(..) {
                mapped.slice(..bytes.len()).copy_from_slice(bytes);
            }
            host.unmap();
        })?;
        Ok(Staged { buffer, host })
    }

    /// A mapped buffer, to which the host writes.
    fn make_staging(&self, operand: Operand, size: u64) -> Result<wgpu::Buffer, GpuError> {
        self.check_buffer_size(operand, size)?;
        let descriptor = wgpu::BufferDescriptor {
            label: Some("wgpu-gather/staging"),
            size,
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        };
        Ok(scoped(self.device(), || {
            self.device().create_buffer(&descriptor)
        })?)
    }

    /// Submits the commands that `record` records.
    pub(super) fn submit(
        &self,
        label: &str,
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex, GpuError> {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some(label) };
        Ok(scoped(self.device(), || {
            let mut encoder = self.device().create_command_encoder(&descriptor);
            record(&mut encoder);
            self.queue().submit([encoder.finish()])
        })?)
    }

    pub(super) fn make_buffer(
        &self,
        operand: Operand,
        size: u64,
        usage: wgpu::BufferUsages,
        label: &str,
    ) -> Result<wgpu::Buffer, GpuError> {
        self.check_buffer_size(operand, size)?;
        let descriptor = wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        };
        Ok(scoped(self.device(), || {
            self.device().create_buffer(&descriptor)
        })?)
    }

    fn check_buffer_size(&self, operand: Operand, bytes: u64) -> Result<(), GpuError> {
        let limit = self.device().limits().max_buffer_size;
        if bytes > limit {
            return Err(GpuError::BufferTooLarge {
                operand,
                bytes,
                limit,
            });
        }
        Ok(())
    }
}

/// A buffer, and a staging buffer of the same size with the bytes to be copied into it.
pub(super) struct Staged {
    pub(super) buffer: wgpu::Buffer,
    host: wgpu::Buffer,
}

impl Staged {
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.host, 0, &self.buffer, 0, self.buffer.size());
    }
}
