//! The GPU executor. Choosing a kernel and fitting a plan to a device's limits are pure; the gatherer
//! records into what the caller gives it; `Gpu` owns a device for callers who have none.

mod bound;
mod buffers;
mod chain;
mod context;
mod cut;
mod executor;
mod explain;
mod fill;
mod gatherer;
mod kernel;
mod limits;
mod mapping;
mod operands;
mod pipelines;
mod prepared;
mod report;
mod requirements;
mod scope;
#[cfg(test)]
mod shader_tests;
mod shaders;
mod steps;
mod stream;
mod table;
mod to_host;
mod types;
mod uniform;
mod upload;

pub use context::Gpu;
pub use executor::Executor;
pub use gatherer::Gatherer;
pub use operands::{GatherBuffers, ParamsShard};
pub use prepared::PreparedGather;
pub use report::BadRows;
pub use stream::GatherStream;
pub use table::GpuTable;
