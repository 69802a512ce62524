//! The oracle and the cases of the tests, here too.

#![allow(dead_code, reason = "the tests use the rest")]
#![allow(clippy::unwrap_used, reason = "a case fails by panicking")]

#[path = "../../../../tests/common/cases.rs"]
pub mod cases;
#[path = "../../../../tests/common/indices.rs"]
pub mod indices;
#[path = "../../../../tests/common/on_gpu.rs"]
pub mod on_gpu;
#[path = "../../../../tests/common/oracle.rs"]
pub mod oracle;
#[path = "../../../../tests/common/small_shapes.rs"]
pub mod small_shapes;
#[path = "../../../../tests/common/voices.rs"]
pub mod voices;
#[path = "../../../../tests/common/waits.rs"]
pub mod waits;
