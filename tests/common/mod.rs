//! What the test binaries share.

#![allow(dead_code, unused_imports, reason = "each binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod cases;
#[cfg(feature = "gpu")]
pub mod device;
#[cfg(feature = "gpu")]
pub mod driver;
pub mod elements;
pub mod indices;
#[cfg(feature = "gpu")]
pub mod log;
#[cfg(feature = "gpu")]
pub mod on_gpu;
pub mod oracle;
pub mod ran;
pub mod small_shapes;
pub mod sweep;
pub mod voices;
#[cfg(feature = "gpu")]
pub mod waits;
