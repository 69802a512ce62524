//! What `plan` and `cpu_gather` share: the oracle, the index values and the voices of the tests, and shapes.

#![allow(dead_code, reason = "each target uses its part")]
#![allow(clippy::unwrap_used, reason = "a target fails by panicking")]

#[path = "../../../tests/common/indices.rs"]
pub mod indices;
#[path = "../../../tests/common/oracle.rs"]
pub mod oracle;
pub mod shapes;
#[path = "../../../tests/common/voices.rs"]
pub mod voices;
