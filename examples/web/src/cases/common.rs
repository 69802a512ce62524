//! The oracle and the cases of the tests, here too.

#![allow(dead_code, reason = "the tests use the rest")]
#![allow(clippy::unwrap_used, reason = "a case fails by panicking")]

#[path = "../../../../tests/common/cases.rs"]
#[allow(
    arithmetic_overflow,
    reason = "shapes of the table pass 32 bits; the examples, which alone run here, do not"
)]
pub mod cases;
#[path = "../../../../tests/common/indices.rs"]
pub mod indices;
#[path = "../../../../tests/common/oracle.rs"]
pub mod oracle;
#[path = "../../../../tests/common/voices.rs"]
pub mod voices;
#[path = "../../../../tests/common/waits.rs"]
pub mod waits;
