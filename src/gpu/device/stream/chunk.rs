//! One chunk of a stream: the windows of params that it needs, and the elements that it completes.

use super::{GatherStream, Params};
use crate::element::{ElementTypes, GatherElement};
use crate::error::{GpuError, Operand};
use crate::index::GatherIndex;
use crate::memory::memcpy_chunks;

use crate::cpu::index_rows::{BAD, NOT_HELD};
use crate::gpu::buffers::GatherBuffers;
use crate::gpu::cut::{Chunk, Dispatch, Window};
use crate::gpu::device::elements::elements_of;
use crate::gpu::device::mapping::{Mapping, Wait};
use crate::gpu::operands::Operands;
use crate::gpu::prepared::PreparedGather;
use crate::gpu::scope::scoped_start;
use crate::gpu::types::range_bytes;

impl<T: GatherElement, I: GatherIndex> GatherStream<'_, T, I> {
    /// Gathers a chunk. Returns the elements that it completes.
    pub(super) async fn gather(&mut self, chunk: Chunk, wait: Wait) -> Result<Vec<T>, GpuError> {
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
            Mapping::start(self.gpu.device(), readback, wgpu::MapMode::Read, submission)
        };
        let result = scoped_start(self.gpu.device(), read_back).await?;
        let place = |at: u64| usize::try_from(at - base).expect("a chunk is in memory");
        let (start, end) = (place(bytes.start), place(bytes.end));
        let (begun, cut) = (&mut self.begun, &self.cut);
        let elements = |mapped: &[u8]| {
            if !cut.has_output_gaps() {
                return whole_elements(begun, &mapped[start..end]);
            }
            let slices = cut.output_slices(chunk);
            let slices = slices.map(|bytes| &mapped[place(bytes.start)..place(bytes.end)]);
            whole_elements(begun, &slices.collect::<Vec<_>>().concat())
        };
        result.read(wait, elements).await?
    }

    /// True if the dispatch that binds this window writes an output row. An output row that is bad, or whose params row
    /// is in another shard, is written by the dispatch that binds the first row of its block.
    pub(super) fn is_needed(&self, window: &Window) -> bool {
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

    /// Submits one dispatch, and the uploads of the bytes that it reads.
    async fn run(&mut self, dispatch: Dispatch, wait: Wait) -> Result<(), GpuError> {
        self.indices.ready(dispatch.indices, wait).await?;
        if let Params::Host(upload) = &mut self.params {
            upload.ready(dispatch.params, wait).await?;
        }
        scoped_start(self.gpu.device(), || self.start(dispatch)).await
    }

    /// Submits one dispatch and its uploads, after the staging buffers are ready.
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
        let mut buffers = GatherBuffers::new(ElementTypes::of::<T, I>())
            .params(params.slice(..))
            .indices(self.indices.buffer().slice(..))
            .output(self.output.slice(..));
        if let Some(fill) = &self.fill {
            buffers = buffers.fill(bytemuck::bytes_of(fill));
        }
        let pipelines = &self.gpu.gatherer().pipelines;
        let operands = Operands::unchecked(&buffers, self.plan.dims(), &pipelines.limits)?;
        let prepared = PreparedGather::new(pipelines, self.plan, &operands, &[dispatch], &[])?;
        let submission = self.gpu.submit("wgpu-gather/stream", |encoder| {
            self.indices.load(indices_span, encoder);
            if let Params::Host(upload) = &mut self.params {
                upload.load(params_span, encoder);
            }
            prepared.encode(encoder);
        })?;
        self.indices.submitted(&submission)?;
        match &mut self.params {
            Params::Device(_) => Ok(()),
            Params::Host(upload) => upload.submitted(&submission),
        }
    }
}

/// The whole elements of `begun` followed by `bytes`. `begun` keeps the remaining bytes.
pub(super) fn whole_elements<T: GatherElement>(
    begun: &mut Vec<u8>,
    bytes: &[u8],
) -> Result<Vec<T>, GpuError> {
    if begun.is_empty() && bytes.len().is_multiple_of(size_of::<T>()) {
        return elements_of(bytes);
    }
    for piece in memcpy_chunks(bytes) {
        begun.extend_from_slice(piece);
    }
    let rest = begun.len() % size_of::<T>();
    let whole = begun.len() - rest;
    let elements = elements_of(&begun[..whole]);
    begun.drain(..whole);
    elements
}
