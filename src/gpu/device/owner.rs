//! The owner holds a device and makes buffers, submissions and mappings on it. If there is no memory for a buffer, a call
//! returns an error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::waiting::Mapping;
use crate::error::GpuError;
use crate::gpu::gatherer::Gatherer;
use crate::gpu::poller::Poller;
use crate::gpu::report::REPORT_BYTES;
use crate::gpu::scope::scoped;
use crate::gpu::types::range_bytes;
use crate::operand::Operand;

/// The usages that a tensor's buffer has.
pub(super) const TENSOR: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// The usages that a buffer has to be mapped for reading.
const HOST: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// Up to this many output bytes, an owner keeps buffers from one gather to the next.
const MOST_KEPT_BYTES: u64 = 256 << 20;

/// A device with its queue, and what this crate keeps for it.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) gatherer: Gatherer,
    poller: Poller,
    /// The last gather's buffers for an output to the host, for the next one.
    kept: Mutex<Option<HostBuffers>>,
}

/// Two equally large buffers for an output that comes to the host.
#[derive(Debug)]
pub(super) struct HostBuffers {
    pub(super) output: wgpu::Buffer,
    pub(super) readback: wgpu::Buffer,
}

/// A buffer on the GPU, and a staging buffer in host memory with the bytes that a copy will put into it. Both have one
/// size.
pub(super) struct Staged {
    pub(super) buffer: wgpu::Buffer,
    host: wgpu::Buffer,
}

impl Staged {
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.copy_buffer_to_buffer(&self.host, 0, &self.buffer, 0, self.buffer.size());
    }
}

impl Owner {
    pub(super) fn new(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self {
            gatherer: Gatherer::new(&device),
            device,
            queue,
            poller: Poller::default(),
            kept: Mutex::new(None),
        }
    }

    /// A buffer with a tensor's usages. Its size is a multiple of 4, and not 0.
    pub(super) fn make_tensor(
        &self,
        operand: Operand,
        bytes: u64,
    ) -> Result<wgpu::Buffer, GpuError> {
        let label = format!("wgpu-gather/{operand}");
        self.make_buffer(operand, bytes, TENSOR, &label, false)
    }

    /// A buffer for a report, and a buffer that brings the report back.
    pub(super) fn make_report(&self) -> Result<(wgpu::Buffer, wgpu::Buffer), GpuError> {
        let report = self.make_tensor(Operand::Report, REPORT_BYTES)?;
        Ok((report, self.make_readback(Operand::Report, REPORT_BYTES)?))
    }

    /// A buffer that brings an operand's bytes to the host.
    pub(super) fn make_readback(
        &self,
        operand: Operand,
        bytes: u64,
    ) -> Result<wgpu::Buffer, GpuError> {
        self.make_buffer(operand, bytes, HOST, "wgpu-gather/readback", false)
    }

    /// The last gather's output buffers, if they hold `bytes` bytes; else new ones.
    pub(super) fn host_buffers(&self, bytes: u64) -> Result<HostBuffers, GpuError> {
        let mut kept = self.kept();
        let suits = |kept: &mut HostBuffers| kept.output.size() >= range_bytes(bytes);
        if let Some(buffers) = kept.take_if(suits) {
            return Ok(buffers);
        }
        drop(kept);
        Ok(HostBuffers {
            output: self.make_tensor(Operand::Output, bytes)?,
            readback: self.make_readback(Operand::Output, bytes)?,
        })
    }

    /// Keeps the buffers after their output was read, unless larger ones are kept.
    pub(super) fn keep(&self, buffers: HostBuffers) {
        // A lost device unmaps nothing; its buffers are dropped.
        if scoped(&self.device, || buffers.readback.unmap()).is_err() {
            return;
        }
        let mut kept = self.kept();
        let size = |buffers: &HostBuffers| buffers.output.size();
        let is_larger = kept.as_ref().is_none_or(|kept| size(kept) < size(&buffers));
        if is_larger && size(&buffers) <= MOST_KEPT_BYTES {
            *kept = Some(buffers);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<HostBuffers>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer, and a staging buffer with the bytes to be copied into it.
    ///
    /// If there is no memory for wgpu's own staging, as in `write_buffer` and in `mapped_at_creation` without `MAP_WRITE`, the device
    /// is lost. For our own staging buffer it is only an error.
    pub(super) fn stage(&self, operand: Operand, bytes: &[u8]) -> Result<Staged, GpuError> {
        let size = bytes.len() as u64;
        let buffer = self.make_tensor(operand, size)?;
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let host = self.make_buffer(operand, size, usage, "wgpu-gather/staging", true)?;
        scoped(&self.device, || {
            // A lost device maps nothing, and the error scope holds its error.
            if let Ok(mut mapped) = host.get_mapped_range_mut(..) {
                mapped.slice(..bytes.len()).copy_from_slice(bytes);
            }
            host.unmap();
        })?;
        Ok(Staged { buffer, host })
    }

    /// Submits the commands that `record` records.
    pub(super) fn submit(
        &self,
        label: &str,
        record: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<wgpu::SubmissionIndex, GpuError> {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some(label) };
        Ok(scoped(&self.device, || {
            let mut encoder = self.device.create_command_encoder(&descriptor);
            record(&mut encoder);
            self.queue.submit([encoder.finish()])
        })?)
    }

    /// Maps a buffer for reading once `submission`, the last that uses it, is done.
    pub(super) fn map(
        &self,
        buffer: wgpu::Buffer,
        submission: wgpu::SubmissionIndex,
    ) -> Result<Mapping<'_>, GpuError> {
        Mapping::start(&self.device, &self.poller, buffer, submission)
    }

    fn make_buffer(
        &self,
        operand: Operand,
        bytes: u64,
        usage: wgpu::BufferUsages,
        label: &str,
        mapped_at_creation: bool,
    ) -> Result<wgpu::Buffer, GpuError> {
        let size = range_bytes(bytes).max(4);
        let limit = self.device.limits().max_buffer_size;
        if size > limit {
            return Err(GpuError::BufferTooLarge {
                operand,
                bytes: size,
                limit,
            });
        }
        let descriptor = wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation,
        };
        Ok(scoped(&self.device, || {
            self.device.create_buffer(&descriptor)
        })?)
    }
}

/// Where elements are stored: in host memory, or in a buffer on an owner's GPU.
#[derive(Debug)]
pub(super) enum Storage<H> {
    Host(H),
    Gpu(wgpu::Buffer, Arc<Owner>),
}

impl<H> Storage<H> {
    /// The buffer, for work on `owner`'s GPU.
    pub(super) fn on_gpu(
        &self,
        operand: Operand,
        owner: &Arc<Owner>,
    ) -> Result<&wgpu::Buffer, GpuError> {
        match self {
            Self::Gpu(buffer, of) if Arc::ptr_eq(of, owner) => Ok(buffer),
            _ => Err(GpuError::OtherOwner { operand }),
        }
    }

    /// The elements, for work without a GPU.
    pub(super) fn on_host(&self, operand: Operand) -> Result<&H, GpuError> {
        match self {
            Self::Host(elements) => Ok(elements),
            Self::Gpu(..) => Err(GpuError::OtherOwner { operand }),
        }
    }

    /// An error if the tensor is another owner's. `None` is the CPU.
    pub(super) fn check_owner(
        &self,
        operand: Operand,
        owner: Option<&Arc<Owner>>,
    ) -> Result<(), GpuError> {
        match owner {
            Some(owner) => self.on_gpu(operand, owner).map(drop),
            None => self.on_host(operand).map(drop),
        }
    }

    /// As [`on_host`](Self::on_host), to write to them.
    pub(super) fn on_host_mut(&mut self, operand: Operand) -> Result<&mut H, GpuError> {
        match self {
            Self::Host(elements) => Ok(elements),
            Self::Gpu(..) => Err(GpuError::OtherOwner { operand }),
        }
    }

    /// A view of the elements, if they are in host memory; else the same buffer on the GPU.
    pub(super) fn view<'a, V>(&'a self, view: impl FnOnce(&'a H) -> V) -> Storage<V> {
        match self {
            Self::Host(elements) => Storage::Host(view(elements)),
            Self::Gpu(buffer, owner) => Storage::Gpu(buffer.clone(), Arc::clone(owner)),
        }
    }
}
