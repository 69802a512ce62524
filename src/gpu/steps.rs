//! The GPU objects of a gather: windows, workgroups where they are counted on the device, and what each dispatch
//! binds.

use super::bound::{Bound, GRID_BYTES, STAND_IN_BYTES};
use super::cut::{Cut, Dispatch};
use super::gatherer::Gatherer;
use super::kernel::EntryPoint;
use super::operands::{GatherBuffers, ParamsShard};
use super::pipelines::{Bindings, Keys};
use super::prepared::{Step, Workgroups};
use super::scope::scoped;
use super::window::{WINDOW_BYTES, WORD_BYTES};
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// The windows of many dispatches share buffers of up to this many bytes.
const MAX_WINDOWS_BYTES: u64 = 1 << 16;

impl Gatherer {
    /// The GPU objects of dispatches of a plan, whose operands are checked.
    pub(super) fn make_steps(
        &self,
        plan: &GatherPlan,
        buffers: &GatherBuffers<'_>,
        shards: &[ParamsShard<'_>],
        cut: &Cut<'_>,
        dispatches: &[Dispatch],
        one_buffer: bool,
    ) -> Result<Vec<Step>, GatherError> {
        let fill = buffers.fill_pattern()?;
        let counted = buffers.index_count.is_some() && dispatches.iter().any(Dispatch::gathers);
        let bindings = Bindings {
            index_kind: buffers.index_kind,
            report: buffers.report.is_some(),
            fill: fill.is_some(),
            counted,
            one_buffer,
        };
        let keys = Keys::new(plan, cut, bindings);
        let notes = buffers.report.map(|_| self.notes()).transpose()?;
        let stand_in = (dispatches.iter().any(Dispatch::binds_nothing))
            .then(|| scoped(&self.device, || self.make_stand_in()))
            .transpose()?;
        let stride = self.window_stride(counted);
        let mut steps = Vec::new();
        for dispatches in dispatches.chunks(self.windows_per_buffer(counted)) {
            let windows = scoped(&self.device, || {
                self.make_windows(dispatches, fill, counted)
            })?;
            let grids = counted
                .then(|| scoped(&self.device, || self.make_grids(dispatches.len())))
                .transpose()?;
            for (number, dispatch) in dispatches.iter().enumerate() {
                let place = number as u64 * stride;
                let bound = Bound {
                    window: (&windows, place),
                    stand_in: stand_in.as_ref(),
                    notes,
                    grid: grids.as_ref().map(|grids| (grids, place)),
                    params: shards.get(dispatch.shard).map(|shard| shard.range),
                    buffers,
                    dispatch,
                };
                for key in keys.of(dispatch) {
                    let pipeline = self.pipelines.get(&self.device, key)?;
                    let bind_group = scoped(&self.device, || {
                        self.bind(&pipeline, key.entry_point, &bound)
                    })?;
                    let workgroups = match (key.entry_point, &grids) {
                        (EntryPoint::Gather { .. }, Some(grids)) => {
                            Workgroups::Counted(grids.clone(), place)
                        }
                        (EntryPoint::Gather { .. }, None) => {
                            let (width, height) = dispatch.workgroups;
                            Workgroups::These(width, height)
                        }
                        _ => Workgroups::These(1, 1),
                    };
                    steps.push(Step {
                        pipeline,
                        bind_group,
                        workgroups,
                    });
                }
            }
        }
        Ok(steps)
    }

    /// Bytes from one window to the next in a buffer of windows. Where rows are counted they are written too.
    fn window_stride(&self, counted: bool) -> u64 {
        let mut alignment = self.limits.min_uniform_buffer_offset_alignment;
        if counted {
            alignment = alignment.max(self.limits.min_storage_buffer_offset_alignment);
        }
        WINDOW_BYTES.next_multiple_of(alignment.max(WORD_BYTES).into())
    }

    fn windows_per_buffer(&self, counted: bool) -> usize {
        let buffer_bytes = self.limits.max_buffer_size.min(MAX_WINDOWS_BYTES);
        let windows = buffer_bytes / self.window_stride(counted);
        usize::try_from(windows).map_or(1, |windows| windows.max(1))
    }

    fn make_windows(
        &self,
        dispatches: &[Dispatch],
        fill: Option<([u32; 16], u32)>,
        counted: bool,
    ) -> wgpu::Buffer {
        let stride = self.window_stride(counted);
        let mut usage = wgpu::BufferUsages::UNIFORM;
        if counted {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/windows"),
            size: (dispatches.len() as u64 - 1) * stride + WINDOW_BYTES,
            usage,
            mapped_at_creation: true,
        });
        // A lost device maps nothing; what else went wrong is in the error scope.
        if let Ok(mut mapped) = buffer.get_mapped_range_mut(..) {
            let mut start = 0;
            for dispatch in dispatches {
                let mut window = dispatch.window;
                if let Some((words, len)) = fill {
                    let start = dispatch.part / u64::from(WORD_BYTES) % u64::from(len);
                    window.fill = words;
                    window.fill_words = len;
                    window.fill_start = u32::try_from(start).expect("below a few words");
                }
                let window = bytemuck::bytes_of(&window);
                mapped
                    .slice(start..start + window.len())
                    .copy_from_slice(window);
                start += usize::try_from(stride).expect("windows in memory");
            }
        }
        buffer.unmap();
        buffer
    }

    /// For the workgroups of so many dispatches, as far apart as their windows.
    fn make_grids(&self, dispatches: usize) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/grids"),
            size: (dispatches as u64 - 1) * self.window_stride(true) + GRID_BYTES,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
            mapped_at_creation: false,
        })
    }

    /// wgpu binds no empty range. Of params without rows, of indices at an index depth of 0 and of those of an empty
    /// output the shader reads nothing, so anything stands in.
    fn make_stand_in(&self) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-gather/nothing"),
            size: STAND_IN_BYTES,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    }

    /// Binds what the entry point reads and writes.
    fn bind(
        &self,
        pipeline: &wgpu::ComputePipeline,
        entry_point: EntryPoint,
        bound: &Bound<'_>,
    ) -> wgpu::BindGroup {
        let entries = entry_point
            .bindings()
            .iter()
            .map(|&number| bound.entry(number));
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("wgpu-gather/operands"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries.collect::<Vec<_>>(),
        })
    }
}
