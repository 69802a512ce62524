//! The GPU executor. Choosing a kernel and fitting a plan to a device's limits are pure; the gatherer records into what
//! the caller gives it; `device` owns a device for callers who have none.

mod bindings;
mod buffers;
mod cut;
mod device;
mod explain;
mod fill;
mod gatherer;
mod kernel;
mod limits;
mod operands;
mod pipelines;
mod prepared;
mod report;
mod scope;
#[cfg(test)]
mod shader_tests;
mod shaders;
mod types;
mod uniform;

pub use buffers::{GatherBuffers, ParamsShard};
pub use device::{Executor, GatherStream, Gpu, GpuTable};
pub use gatherer::Gatherer;
pub use prepared::PreparedGather;
pub use report::BadRows;
