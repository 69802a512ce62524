//! Host memory that is copied to the device one window at a time.

use super::context::Gpu;
use super::mapping::{Mapping, Wait};
use crate::error::{GpuError, Operand};
use crate::gpu::cut::Span;
use crate::gpu::types::range_bytes;

/// A buffer on the device that holds one window of an operand at a time.
#[derive(Debug)]
pub(super) struct Upload<'a> {
    device: wgpu::Device,
    operand: &'a [u8],
    buffer: wgpu::Buffer,
    /// The staging buffer of the next copy, and the staging buffer of the last copy, which may still be in use.
    staging: [Staging; 2],
    /// The bytes of the operand that the buffer holds.
    held: Option<Span>,
    /// True if a copy is recorded and not yet submitted.
    copies: bool,
}

/// A buffer that the host writes to, mapped unless `mapping` is still to complete.
#[derive(Debug)]
struct Staging {
    buffer: wgpu::Buffer,
    mapping: Option<Mapping>,
}

impl<'a> Upload<'a> {
    /// An upload of `bytes` in windows of up to `window_bytes` bytes.
    pub(super) fn new(
        gpu: &Gpu,
        operand: Operand,
        bytes: &'a [u8],
        window_bytes: u64,
    ) -> Result<Self, GpuError> {
        let size = range_bytes(bytes.len() as u64).min(window_bytes).max(4);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let make_staging = || {
            Ok::<_, GpuError>(Staging {
                buffer: gpu.make_staging(operand, size)?,
                mapping: None,
            })
        };
        Ok(Self {
            device: gpu.device().clone(),
            operand: bytes,
            buffer: gpu.make_buffer(operand, size, usage, &format!("wgpu-gather/{operand}"))?,
            staging: [make_staging()?, make_staging()?],
            held: None,
            copies: false,
        })
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Completes when [`load`](Self::load) of `span` may be called.
    pub(super) async fn ready(&mut self, span: Span, wait: Wait) -> Result<(), GpuError> {
        if self.is_held(span) {
            return Ok(());
        }
        let staging = &mut self.staging[0];
        if let Some(mapping) = &staging.mapping {
            mapping.wait(wait).await?;
        }
        staging.mapping = None;
        Ok(())
    }

    /// The offset in the buffer at which the operand's bytes of `span` are, once they are loaded.
    pub(super) fn place_of(&self, span: Span) -> u64 {
        match self.held {
            Some(held) if self.is_held(span) => span.offset.saturating_sub(held.offset),
            _ => 0,
        }
    }

    /// Records the copy of the operand's bytes of `span` to the start of the buffer, unless the buffer holds them.
    pub(super) fn load(&mut self, span: Span, encoder: &mut wgpu::CommandEncoder) {
        if self.is_held(span) {
            return;
        }
        let place = |at: u64| {
            usize::try_from(at).map_or(self.operand.len(), |at| at.min(self.operand.len()))
        };
        let bytes = &self.operand[place(span.offset)..place(span.offset + span.bytes)];
        let staging = &self.staging[0].buffer;
        // A lost device maps nothing, and the error scope holds its error.
        if let Ok(mut mapped) = staging.get_mapped_range_mut(..) {
            mapped.slice(..bytes.len()).copy_from_slice(bytes);
        }
        staging.unmap();
        encoder.copy_buffer_to_buffer(staging, 0, &self.buffer, 0, span.bytes);
        self.held = Some(span);
        self.copies = true;
    }

    /// After the submission of a recorded copy, starts to map its staging buffer for a later copy.
    pub(super) fn submitted(&mut self, submission: &wgpu::SubmissionIndex) -> Result<(), GpuError> {
        if !std::mem::take(&mut self.copies) {
            return Ok(());
        }
        let staging = &mut self.staging[0];
        let buffer = staging.buffer.clone();
        let mapping = Mapping::start(
            &self.device,
            buffer,
            wgpu::MapMode::Write,
            submission.clone(),
        )?;
        staging.mapping = Some(mapping);
        self.staging.swap(0, 1);
        Ok(())
    }

    fn is_held(&self, span: Span) -> bool {
        let within = |held: &Span| {
            held.offset <= span.offset && span.offset + span.bytes <= held.offset + held.bytes
        };
        span.bytes == 0 || self.held.as_ref().is_some_and(within)
    }
}
