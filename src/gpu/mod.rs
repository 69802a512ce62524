//! The GPU executor. `kernel` and `cut` choose kernels and fit a plan to a device's limits, as pure functions.
//! `gatherer` records gathers into the caller's encoders. `device` owns a device, for callers that have none.

/// The lines that examples hide: a device of wgpu's back end that does nothing, and a closure that makes buffers.
macro_rules! noop_buffers {
    () => {
        "# let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
# let buffer = |size| device.create_buffer(&wgpu::BufferDescriptor {
#     label: None, size, usage: wgpu::BufferUsages::STORAGE, mapped_at_creation: false,
# });"
    };
}

mod bags;
mod bindings;
mod bound;
mod buffers;
mod call;
mod combine;
mod cut;
mod device;
mod explain;
mod fill;
mod find_rows;
mod gatherer;
mod kernel;
mod limits;
mod mask;
mod nonzero;
mod operands;
mod pass;
mod pipelines;
mod placed;
mod poller;
mod prepared;
mod ranges;
mod report;
mod scatter;
mod scope;
#[cfg(test)]
mod shader_tests;
mod shaders;
mod shares;
mod types;
mod uniform;
mod unit;
mod update;
pub(crate) mod wgsl;
mod work;

pub use buffers::{Buffers, Ranges, ScatterRanges};
pub use call::Call;
pub use device::{Executor, Indices, Params, Request, Tensor};
pub use gatherer::Gatherer;
pub use nonzero::Nonzero;
pub use prepared::Prepared;
pub use report::BadRows;
