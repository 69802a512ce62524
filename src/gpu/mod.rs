//! The GPU executor. Choosing a kernel and fitting a plan to a device's limits are pure; the gatherer
//! records into what the caller gives it; `Gpu` owns a device for callers who have none.

mod bound;
mod context;
mod cut;
mod executor;
mod explain;
mod gatherer;
mod kernel;
mod operands;
mod readback;
mod report;
mod scope;
#[cfg(test)]
mod shader_tests;
mod table;
mod window;

pub use context::Gpu;
pub use executor::Executor;
pub use gatherer::Gatherer;
pub use operands::{GatherBuffers, ParamsShard};
pub use report::BadRows;
pub use table::GpuTable;
