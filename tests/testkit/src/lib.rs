//! Shared by the tests of library, devices and command: cases with the oracle's results, the table of cases, small shapes,
//! implementations that run a gather, and TensorFlow's and ONNX's recorded results.

#![allow(clippy::unwrap_used, reason = "a case fails by panicking")]
#![cfg_attr(
    target_pointer_width = "32",
    allow(arithmetic_overflow, reason = "shapes of the table pass 32 bits")
)]

pub mod bags;
pub mod bench;
pub mod cases;
#[cfg(feature = "trials")]
#[path = "../../../cli/src/choose.rs"]
mod choose;
pub mod conformance;
pub mod data;
#[cfg(feature = "trials")]
pub mod device;
pub mod element_types;
pub mod encoded;
mod examples;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod indices;
#[cfg(feature = "trials")]
pub mod log;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub mod on_gpu;
pub mod oracle;
pub mod quantized;
#[cfg(not(target_arch = "wasm32"))]
pub mod ran;
#[cfg(not(target_arch = "wasm32"))]
pub mod random_shapes;
mod rejected;
mod runner;
pub mod samples;
pub mod scatter;
pub mod sizes;
pub mod small_shapes;
pub use gather_oracle::{Combine, sweep};
#[cfg(feature = "gpu")]
pub mod waits;
