//! What the test binaries share.

#![allow(dead_code, reason = "each binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub mod cases;
#[cfg(feature = "gpu")]
pub mod device;
pub mod elements;
pub mod indices;
pub mod oracle;
pub mod sweep;
pub mod voices;
