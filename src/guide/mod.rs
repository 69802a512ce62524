//! Pages to read: calls of other libraries and their equals here, the cost of each call, and the drivers of the tests.

#[doc = include_str!("frameworks.md")]
pub mod frameworks {}

#[doc = include_str!("costs.md")]
pub mod costs {}

#[doc = include_str!("back_ends.md")]
pub mod back_ends {}
