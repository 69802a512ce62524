//! An executor that is known to have a GPU, and ranges of its buffers.

use std::fmt;
use std::ops::Deref;

use wgpu_gather::{
    ElementTypes, Executor, GatherBuffers, Gatherer, GpuError, Ranges, Tensor, wgpu,
};

/// A tensor's whole buffer.
pub fn range<T>(tensor: &Tensor<T>) -> wgpu::BufferSlice<'_> {
    tensor.buffer().unwrap().slice(..)
}

/// Params, indices and output in these ranges.
pub fn buffers_of<'a>(
    types: ElementTypes,
    [params, indices, output]: [wgpu::BufferSlice<'a>; 3],
) -> GatherBuffers<'a> {
    let ranges = Ranges {
        params,
        indices,
        output,
    };
    GatherBuffers::new(types, ranges)
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
