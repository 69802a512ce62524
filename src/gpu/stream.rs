//! Gathers whose table, or whose output, is more than the device holds: in chunks, within device memory of
//! the caller's choice.

use super::context::Gpu;
use super::cut::{Chunk, Cut, Dispatch, Window};
use super::fill::Fill;
use super::limits::check_limits;
use super::mapping::{Mapping, Wait};
use super::operands::GatherBuffers;
use super::prepared::record_pass;
use super::scope::scoped_start;
use super::table::{GpuTable, elements_of};
use super::types::{ElementTypes, range_bytes};
use super::upload::Upload;
use crate::bad_indices::BadIndices;
use crate::element::{GatherElement, GatherIndex};
use crate::error::{GatherError, GpuError, Operand, RunError};
use crate::index_rows::{BAD, IndexRows, NOT_HELD};
use crate::pieces::pieces;
use crate::plan::GatherPlan;

/// An operand that is uploaded has a buffer of the device and two of the host's, of which one is filled
/// while the other is copied.
const UPLOAD_SHARES: u64 = 3;
/// The output's buffer, and the one that it comes back in.
const OUTPUT_SHARES: u64 = 2;

/// The output of a gather in chunks. Made by [`Gpu::stream`] and [`Gpu::stream_from_host`].
///
/// The chunks, put end to end, are the output; none is empty. As an iterator it waits for each chunk on
/// this thread; [`next_chunk`](Self::next_chunk) is the same as a future. After an error there are no more
/// chunks.
///
/// ```no_run
#[doc = include_str!("../../tests/doc_examples/stream.rs")]
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
    /// The bytes of an element whose other bytes the next chunk brings.
    begun: Vec<u8>,
    fill: Option<T>,
}

/// Where the table is.
#[derive(Debug)]
enum Params<'a> {
    Device(wgpu::Buffer),
    Host(Box<Upload<'a>>),
}

impl Gpu {
    /// Gathers from a table on the GPU, and brings the output back in chunks: for an output larger than the
    /// device's memory, or than the host's.
    ///
    /// Beside the table the stream takes at most `device_bytes` bytes of buffers, and the few bytes of sizes
    /// that each dispatch reads. The more there are, the larger and the fewer the chunks; see [`GatherStream`].
    ///
    /// # Errors
    ///
    /// Operands of the wrong length; with [`BadIndices::Error`], an index out of range, before anything is
    /// gathered; too few `device_bytes` for any part of a slice; a device that is lost or out of memory.
    pub fn stream<'a, T, I>(
        &'a self,
        plan: &'a GatherPlan,
        table: &GpuTable<T>,
        indices: &'a [I],
        device_bytes: u64,
    ) -> Result<GatherStream<'a, T, I>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        let room = Room {
            device_bytes,
            shares: UPLOAD_SHARES + OUTPUT_SHARES,
            params_bytes: u64::MAX,
        };
        plan.check_lengths(table.len(), indices.len())?;
        GatherStream::new(self, plan, indices, &room, |_| {
            Ok(Params::Device(table.buffer().clone()))
        })
    }

    /// Gathers from a table in the host's memory, which the device need not hold: only those windows of it
    /// that index rows select from are uploaded, one after the other.
    ///
    /// The stream takes at most `device_bytes` bytes of buffers, and the sizes that a dispatch reads. Each chunk
    /// of the output uploads the windows that it needs, so the fewer chunks, the less is uploaded: for an
    /// output, and indices, of up to an eighth of `device_bytes` each window is uploaded once.
    ///
    /// # Errors
    ///
    /// Those of [`stream`](Self::stream).
    pub fn stream_from_host<'a, T, I>(
        &'a self,
        plan: &'a GatherPlan,
        params: &'a [T],
        indices: &'a [I],
        device_bytes: u64,
    ) -> Result<GatherStream<'a, T, I>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        let shares = 2 * UPLOAD_SHARES + OUTPUT_SHARES;
        let room = Room {
            device_bytes,
            shares,
            params_bytes: device_bytes / shares,
        };
        plan.check_lengths(params.len(), indices.len())?;
        GatherStream::new(self, plan, indices, &room, |window_bytes| {
            let bytes = bytemuck::cast_slice(params);
            let upload = Upload::new(self, Operand::Params, bytes, window_bytes)?;
            Ok(Params::Host(Box::new(upload)))
        })
    }
}

/// How much of the device a stream may take.
struct Room {
    device_bytes: u64,
    /// Buffers of the size of a chunk or window.
    shares: u64,
    /// The largest window of params.
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

        let mut limits = gpu.device.limits();
        check_limits(&limits, false, false)?;
        let largest = limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size);
        // Whole words.
        let window_bytes = room.params_bytes.min(largest) & !3;
        let chunk_bytes = (room.device_bytes / room.shares).min(largest) & !3;
        limits.max_storage_buffer_binding_size = window_bytes;
        let cut = Cut::in_chunks(dims, types, &[dims.params_rows()], &limits, chunk_bytes);
        let cut = cut.map_err(|error| match error {
            // The device could bind as much.
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
            indices: Upload::new(gpu, Operand::Indices, I::bytes(indices), chunk_bytes)?,
            output: gpu.make_buffer(Operand::Output, output_bytes, usage, "wgpu-gather/chunk")?,
            begun: Vec::new(),
            fill: None,
        })
    }

    /// Has bad rows hold `fill` where [`BadIndices::Zero`] puts zeros. To be called before the first chunk is taken:
    /// what has been gathered stays as it is.
    ///
    /// # Errors
    ///
    /// Elements too long for [`GatherBuffers::with_fill`](GatherBuffers::with_fill).
    ///
    /// ```no_run
    #[doc = include_str!("../../tests/doc_examples/stream_filled.rs")]
    /// ```
    pub fn with_fill(mut self, fill: T) -> Result<Self, GpuError> {
        let pattern = Fill::new(bytemuck::bytes_of(&fill)).pattern(size_of::<T>() as u64)?;
        self.cut.set_fill_words(pattern.words);
        self.fill = Some(fill);
        Ok(self)
    }

    /// The next elements of the output; none at its end.
    ///
    /// The future polls the device as that of [`Gpu::gather`] does. If it is dropped before it completes, the next
    /// one gathers the same chunk again.
    ///
    /// # Errors
    ///
    /// A device that is lost or out of memory; no memory on the host.
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

    /// The elements that a chunk completes.
    async fn gather(&mut self, chunk: Chunk, wait: Wait) -> Result<Vec<T>, GpuError> {
        let (bytes, base) = self.cut.output_bytes(chunk);
        let windows = self.cut.windows(chunk);
        let needed: Vec<Window> = windows.filter(|window| self.is_needed(window)).collect();
        for window in needed {
            let dispatches: Vec<Dispatch> = self.cut.dispatches_of(window).collect();
            for mut dispatch in dispatches {
                dispatch.output.offset -= base;
                self.run(dispatch, wait).await?;
            }
        }

        let size = range_bytes(bytes.end - base);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let label = "wgpu-gather/readback";
        let read_back = || {
            let readback = self.gpu.make_buffer(Operand::Output, size, usage, label)?;
            let submission = self.gpu.submit("wgpu-gather/chunk", |encoder| {
                encoder.copy_buffer_to_buffer(&self.output, 0, &readback, 0, size);
            })?;
            Mapping::start(&self.gpu.device, readback, wgpu::MapMode::Read, submission)
        };
        let result = scoped_start(&self.gpu.device, read_back).await?;
        let place = |at: u64| usize::try_from(at - base).expect("a chunk is in memory");
        let (start, end) = (place(bytes.start), place(bytes.end));
        let begun = &mut self.begun;
        result
            .read(wait, |mapped| whole_elements(begun, &mapped[start..end]))
            .await?
    }

    /// Whether an output row is written by the dispatch that binds this window. A row that is bad, or that
    /// params does not hold, is written by that of the first row of its part.
    fn is_needed(&self, window: &Window) -> bool {
        let dims = self.plan.dims();
        let (first, end) = window.params_rows;
        let mut rows = window.output_rows.0..window.output_rows.1;
        rows.any(|output_row| {
            let mut row = [0];
            self.index_rows.locate(output_row, &mut row);
            let row = match row {
                [BAD | NOT_HELD] => output_row / dims.index_count * dims.held_rows.max(1),
                [row] => row,
            };
            first <= row && row < end
        })
    }

    /// Submits one dispatch, and the uploads of what it reads.
    async fn run(&mut self, dispatch: Dispatch, wait: Wait) -> Result<(), GpuError> {
        self.indices.ready(dispatch.indices, wait).await?;
        if let Params::Host(upload) = &mut self.params {
            upload.ready(dispatch.params, wait).await?;
        }
        scoped_start(&self.gpu.device, || self.start(dispatch)).await
    }

    /// The same, once there is room for what is uploaded.
    fn start(&mut self, mut dispatch: Dispatch) -> Result<(), GpuError> {
        let (params_span, indices_span) = (dispatch.params, dispatch.indices);
        dispatch.indices.offset = self.indices.place_of(indices_span);
        let params = match &self.params {
            Params::Device(buffer) => buffer.clone(),
            Params::Host(upload) => {
                dispatch.params.offset = upload.place_of(params_span);
                upload.buffer().clone()
            }
        };
        let mut buffers = GatherBuffers::new::<T, I>(
            params.slice(..),
            self.indices.buffer().slice(..),
            self.output.slice(..),
        );
        if let Some(fill) = self.fill {
            buffers = buffers.with_fill(fill);
        }
        let shards = buffers.params_shards(self.plan.dims());
        let gatherer = &self.gpu.gatherer;
        let steps = gatherer.make_steps(self.plan, &buffers, &shards, &[dispatch], false)?;
        let submission = self.gpu.submit("wgpu-gather/stream", |encoder| {
            self.indices.load(indices_span, encoder);
            if let Params::Host(upload) = &mut self.params {
                upload.load(params_span, encoder);
            }
            record_pass(encoder, &steps);
        })?;
        self.indices.submitted(&submission)?;
        match &mut self.params {
            Params::Device(_) => Ok(()),
            Params::Host(upload) => upload.submitted(&submission),
        }
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

/// The elements whose last byte is among `bytes`, which go on where `begun` ends; `begun` keeps the rest.
fn whole_elements<T: GatherElement>(begun: &mut Vec<u8>, bytes: &[u8]) -> Result<Vec<T>, GpuError> {
    if begun.is_empty() && bytes.len().is_multiple_of(size_of::<T>()) {
        return elements_of(bytes);
    }
    for piece in pieces(bytes) {
        begun.extend_from_slice(piece);
    }
    let rest = begun.len() % size_of::<T>();
    let whole = begun.len() - rest;
    let elements = elements_of(&begun[..whole]);
    begun.drain(..whole);
    elements
}

#[cfg(test)]
mod tests;
