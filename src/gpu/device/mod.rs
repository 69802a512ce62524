//! The owner of a device for callers that have none: tensors on the device, and gathers that are submitted and read
//! back.
//!
//! ```text
//! gpu, executor      what apps hold; each call makes a tensor or a request
//!   -> request       operands, with their indices and plan (planned), and options of a gather
//!     -> submit      its work on a GPU: one submission, read back or left in a tensor
//!       -> gather    its checks, and its run on the CPU
//!         -> tensor  uploads and downloads
//!           -> owner    buffers, staging and submissions of one device
//!             -> waiting  requests, mappings and the thread that polls
//! ```

mod executor;
mod gather;
mod gpu;
mod indices;
mod owner;
mod planned;
mod request;
mod submit;
mod tensor;
mod waiting;

pub use executor::Executor;
pub use gpu::Gpu;
pub use indices::Indices;
pub use request::GatherRequest;
pub use tensor::{Download, Tensor};
pub use waiting::Request;
