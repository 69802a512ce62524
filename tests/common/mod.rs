//! Shared by the test binaries.

#![allow(dead_code, unused_imports, reason = "each binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub use testkit::{cases, indices, oracle, ran, sizes, small_shapes, voices};
#[cfg(feature = "gpu")]
pub use testkit::{device, driver, log, on_gpu, waits};

pub mod elements;
pub mod sweep;
