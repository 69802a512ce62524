//! A device for callers that have none, tables on the device, and gathers that are submitted and read back.

mod context;
mod executor;
mod gather_to_host;
mod gather_to_table;
mod mapping;
mod owner;
mod staging;
mod stream;
mod table;
mod upload;

pub use context::Gpu;
pub use executor::Executor;
pub use stream::GatherStream;
pub use table::GpuTable;
