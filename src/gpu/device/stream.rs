//! Gathers whose table or output is larger than the device's memory: in chunks, within a number of device bytes that
//! the caller chooses.

mod chunk;

use super::context::Gpu;
use super::input::{Input, OnGpu};
use super::mapping::Wait;
use super::upload::Upload;
use crate::bad_indices::BadIndices;
use crate::cpu::index_rows::IndexRows;
use crate::element::{ElementTypes, GatherElement};
use crate::error::{GatherError, GpuError, Operand, RunError};
use crate::gpu::cut::{Chunk, Cut, Layout};
use crate::gpu::fill::Fill;
use crate::gpu::limits::check_limits;
use crate::gpu::types::range_bytes;
use crate::index::GatherIndex;
use crate::plan::GatherPlan;

/// Buffers of an operand that is uploaded: one on the device, and two staging buffers, of which one is filled while the
/// other is copied.
const UPLOAD_SHARES: u64 = 3;
/// Buffers of the output: one that the gather writes, and one that brings the output back.
const OUTPUT_SHARES: u64 = 2;

/// The output of a gather in chunks. Made by [`Gpu::stream`].
///
/// The chunks, put end to end, are the output; none is empty. The iterator waits for each chunk on this thread;
/// [`next_chunk`](Self::next_chunk) gives each chunk as a future. After an error there are no more chunks.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/stream.rs")]
/// ```
#[derive(Debug)]
pub struct GatherStream<'a, T, I> {
    gpu: &'a Gpu,
    plan: &'a GatherPlan,
    index_rows: IndexRows<'a, I>,
    cut: Cut<'a>,
    params: Params<'a>,
    indices: Upload<'a>,
    output: wgpu::Buffer,
    next: Option<Chunk>,
    /// The first bytes of an element whose other bytes the next chunk brings.
    begun: Vec<u8>,
    fill: Option<T>,
}

/// Params, on the device or in host memory.
#[derive(Debug)]
enum Params<'a> {
    Device(wgpu::Buffer),
    Host(Box<Upload<'a>>),
}

impl Gpu {
    /// Gathers, and brings the output to the host in chunks: for params or an output larger than the memory of the
    /// device, or an output larger than that of the host. See [`GatherStream`].
    ///
    /// Params are a tensor, or in host memory. Of params in host memory only the windows from which index rows select
    /// are uploaded, one after the other; bad rows take the first window of a block.
    ///
    /// Besides a tensor, the stream takes buffers of at most `device_bytes` bytes, and a small uniform for each
    /// dispatch. With more `device_bytes`, chunks are larger and fewer. Each chunk uploads the windows that it needs, so
    /// fewer chunks upload less. If the output and the indices each have at most an eighth of `device_bytes` bytes, and
    /// a binding holds each, a window is uploaded at most once.
    ///
    /// # Errors
    ///
    /// - [`GpuError::OtherOwner`] for a tensor of another owner.
    /// - [`RunError::Length`] for an operand of the wrong length.
    /// - [`RunError::BadIndex`] for an index out of range, before anything is gathered, if the policy is
    ///   [`BadIndices::Error`].
    /// - [`GpuError::DeviceBytes`] if `device_bytes` is too few for any piece of a slice.
    /// - Errors of a device that is lost or out of memory.
    pub fn stream<'a, T, I>(
        &'a self,
        plan: &'a GatherPlan,
        params: impl Into<Input<'a, T>>,
        indices: &'a [I],
        device_bytes: u64,
    ) -> Result<GatherStream<'a, T, I>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        let input = params.into();
        let params = input.on_gpu(Operand::Params, self)?;
        plan.check_lengths(input.len(), indices.len())?;
        let shares = match params {
            OnGpu::Buffer(_) => UPLOAD_SHARES + OUTPUT_SHARES,
            OnGpu::Host(_) => 2 * UPLOAD_SHARES + OUTPUT_SHARES,
        };
        let room = Room {
            device_bytes,
            shares,
            params_bytes: match params {
                OnGpu::Buffer(_) => u64::MAX,
                OnGpu::Host(_) => device_bytes / shares,
            },
        };
        GatherStream::new(self, plan, indices, &room, |window_bytes| match params {
            OnGpu::Buffer(buffer) => Ok(Params::Device(buffer.clone())),
            OnGpu::Host(elements) => {
                let bytes = bytemuck::cast_slice(elements);
                let upload = Upload::new(self, Operand::Params, bytes, window_bytes)?;
                Ok(Params::Host(Box::new(upload)))
            }
        })
    }
}

/// The device memory that a stream may take.
struct Room {
    device_bytes: u64,
    /// The number of buffers of the size of a chunk or window.
    shares: u64,
    /// The most bytes of a window of params.
    params_bytes: u64,
}

impl<'a, T: GatherElement, I: GatherIndex> GatherStream<'a, T, I> {
    fn new(
        gpu: &'a Gpu,
        plan: &'a GatherPlan,
        indices: &'a [I],
        room: &Room,
        params: impl FnOnce(u64) -> Result<Params<'a>, GpuError>,
    ) -> Result<Self, GpuError> {
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let (dims, types) = (plan.dims(), ElementTypes::of::<T, I>());
        let bytes = types.operand_bytes(dims)?;
        let index_rows = IndexRows::new(plan, indices);
        if plan.bad_indices() == BadIndices::Error && bytes.output > 0 {
            let checked = index_rows.check();
            checked.map_err(RunError::BadIndex)?;
        }

        let mut limits = gpu.device().limits();
        check_limits(&limits, false, false)?;
        let largest = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        // Rounded down to whole words.
        let window_bytes = room.params_bytes.min(largest) & !3;
        let chunk_bytes = (room.device_bytes / room.shares).min(largest) & !3;
        limits.max_storage_buffer_binding_size = window_bytes;
        let layout = Layout::aligned(&[dims.params_rows()]);
        let cut = Cut::in_chunks(plan, types, layout, &limits, chunk_bytes);
        let cut = cut.map_err(|error| match error {
            // The device could bind these bytes, so `device_bytes` is too few.
            GatherError::DeviceLimit { expected, .. } if expected <= largest => {
                GpuError::DeviceBytes {
                    expected: expected.saturating_mul(room.shares),
                    found: room.device_bytes,
                }
            }
            error => error.into(),
        })?;
        let output_bytes = range_bytes(bytes.output).min(chunk_bytes).max(4);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        Ok(Self {
            gpu,
            plan,
            index_rows,
            next: cut.first_chunk(),
            cut,
            params: params(window_bytes)?,
            indices: Upload::new(
                gpu,
                Operand::Indices,
                I::values(indices).bytes(),
                chunk_bytes,
            )?,
            output: gpu.make_buffer(Operand::Output, output_bytes, usage, "wgpu-gather/chunk")?,
            begun: Vec::new(),
            fill: None,
        })
    }

    /// Bad rows hold `fill` instead of zeros. Call this before the first chunk is taken: chunks that are
    /// gathered do not change.
    ///
    /// # Errors
    ///
    /// [`GatherError::FillTooLong`] for elements too long for
    /// [`GatherBuffers::fill`](crate::GatherBuffers::fill).
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/stream_filled.rs")]
    /// ```
    pub fn fill(mut self, fill: T) -> Result<Self, GpuError> {
        let pattern = Fill::new(bytemuck::bytes_of(&fill)).pattern(size_of::<T>() as u64)?;
        self.cut.set_fill_words(pattern.words);
        self.fill = Some(fill);
        Ok(self)
    }

    /// The next elements of the output; `None` at its end.
    ///
    /// The future polls the device as the future of [`Gpu::gather`] does. If the future is dropped before it completes,
    /// the next future gathers the chunk again.
    ///
    /// # Errors
    ///
    /// Errors of a device that is lost or out of memory; [`RunError::OutOfMemory`] without memory on the host.
    pub async fn next_chunk(&mut self) -> Result<Option<Vec<T>>, GpuError> {
        self.advance(Wait::Poll).await
    }

    async fn advance(&mut self, wait: Wait) -> Result<Option<Vec<T>>, GpuError> {
        while let Some(chunk) = self.next {
            let gathered = self.gather(chunk, wait).await;
            self.next = match gathered {
                Ok(_) => self.cut.chunk_after(chunk),
                Err(_) => None,
            };
            let elements = gathered?;
            if !elements.is_empty() {
                return Ok(Some(elements));
            }
        }
        Ok(None)
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T: GatherElement, I: GatherIndex> Iterator for GatherStream<'_, T, I> {
    type Item = Result<Vec<T>, GpuError>;

    fn next(&mut self) -> Option<Self::Item> {
        pollster::block_on(self.advance(Wait::Block)).transpose()
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl<T: GatherElement, I: GatherIndex> std::iter::FusedIterator for GatherStream<'_, T, I> {}

#[cfg(test)]
mod tests;
