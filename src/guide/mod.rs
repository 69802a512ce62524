//! Pages to read: where calls of other libraries are found here, and what each call costs.

#[doc = include_str!("frameworks.md")]
pub mod frameworks {}

#[doc = include_str!("costs.md")]
pub mod costs {}
