//! An executor that is known to have a GPU, and ranges of its buffers.

use std::fmt;
use std::ops::Deref;

use wgpu_gather::{
    Buffers, ElementTypes, Executor, GatherPlan, Gatherer, GpuError, Ranges, Tensor, wgpu,
};

/// The whole buffer of a tensor on a GPU, as an operand's range.
pub fn range<T>(tensor: &Tensor<T>) -> wgpu::BufferSlice<'_> {
    tensor.buffer().unwrap().slice(..)
}

/// Params, indices and output in these ranges.
pub fn buffers_of<'a>(
    types: ElementTypes,
    [params, indices, output]: [wgpu::BufferSlice<'a>; 3],
) -> Buffers<'a> {
    let ranges = Ranges {
        params,
        indices,
        output,
    };
    Buffers::gather(types, ranges)
}

/// As [`buffers_of`], but with params in these shards.
pub fn buffers_of_shards<'a>(
    types: ElementTypes,
    params: &'a [(usize, wgpu::BufferSlice<'a>)],
    [indices, output]: [wgpu::BufferSlice<'a>; 2],
) -> Buffers<'a> {
    let ranges = Ranges {
        params,
        indices,
        output,
    };
    Buffers::gather_shards(types, ranges)
}

/// An adapter of wgpu's noop back end, which validates every call and runs no shader: every output is zeros. Needs wgpu's
/// feature `noop`.
pub fn noop_adapter(limits: wgpu::Limits) -> wgpu::Adapter {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::NOOP;
    // The flag `VALIDATION_INDIRECT_CALL` would limit buffers to 32-bit sizes.
    descriptor.flags = wgpu::InstanceFlags::empty();
    descriptor.backend_options.noop.enable = true;
    descriptor.backend_options.noop.limits = Some(limits);
    let instance = wgpu::Instance::new(descriptor);
    pollster::block_on(instance.request_adapter(&Default::default())).unwrap()
}

/// An executor on a GPU: its device is no `Result`.
#[derive(Clone)]
pub struct Gpu(Executor);

impl Gpu {
    /// Opens the fastest adapter that wgpu finds.
    pub async fn new() -> Result<Self, GpuError> {
        Executor::gpu().await.map(Self)
    }

    pub async fn from_adapter(adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        Executor::from_adapter(adapter).await.map(Self)
    }

    pub fn from_parts(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self(Executor::from_parts(device, queue))
    }

    pub fn device(&self) -> &wgpu::Device {
        self.0.device().expect("a GPU")
    }

    pub fn queue(&self) -> &wgpu::Queue {
        self.0.queue().expect("a GPU")
    }

    pub fn gatherer(&self) -> &Gatherer {
        self.0.gatherer().expect("a GPU")
    }

    pub fn executor(&self) -> Executor {
        self.0.clone()
    }

    /// Submits what `record` puts into an encoder.
    pub fn submit(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) {
        let mut encoder = self.device().create_command_encoder(&Default::default());
        record(&mut encoder);
        self.queue().submit([encoder.finish()]);
    }

    /// Submits a gather in these buffers.
    pub fn submit_gather(&self, plan: &GatherPlan, buffers: &Buffers<'_>) {
        self.submit(|encoder| self.gatherer().encode(encoder, plan, buffers).unwrap());
    }
}

/// Panics for the CPU.
impl From<Executor> for Gpu {
    fn from(executor: Executor) -> Self {
        executor.device().expect("a GPU");
        Self(executor)
    }
}

impl Deref for Gpu {
    type Target = Executor;

    fn deref(&self) -> &Executor {
        &self.0
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
