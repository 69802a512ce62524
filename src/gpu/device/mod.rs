//! The owner of a device for callers that have none: tensors on the device, and gathers that are submitted and read
//! back.

mod context;
mod elements;
mod executor;
mod gather;
mod input;
mod job;
mod mapping;
mod mask;
mod options;
mod request;
mod staging;
mod tensor;
mod transfer;

pub use context::Gpu;
pub use executor::Executor;
pub use input::Input;
pub use options::GpuOptions;
pub use request::GatherRequest;
pub use tensor::Tensor;
pub use transfer::Download;
