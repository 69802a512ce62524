//! The owner of a device for callers that have none: tensors on the device, and gathers that are submitted and read
//! back.
//!
//! ```text
//! executor           what apps hold; each call makes a tensor or a request
//!   -> request       options of a gather or a scatter; it is awaited or waited for
//!     -> submit      its work on a GPU: one submission, read back or left in a tensor
//!       -> gather    its operands (indices), its plan, their checks, and its run on the CPU; scatter
//!         -> tensor  uploads and downloads
//!           -> owner    buffers, staging and submissions of one device
//!             -> waiting  requests, mappings and the thread that polls
//! ```

mod bags;
mod executor;
mod gather;
mod indices;
mod nonzero;
mod owner;
mod request;
mod scatter;
mod submit;
mod tensor;
mod waiting;

pub use executor::Executor;
pub use gather::Params;
pub use indices::Indices;
pub use request::Request;
pub use tensor::Tensor;
