//! What the test binaries share.

#![allow(dead_code, reason = "each binary uses its part")]

#[cfg(feature = "gpu")]
pub mod device;
