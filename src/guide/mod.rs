//! Pages to read: where calls of other libraries are found here, what each call costs, and what was tested on which driver.

#[doc = include_str!("frameworks.md")]
pub mod frameworks {}

#[doc = include_str!("costs.md")]
pub mod costs {}

#[doc = include_str!("back_ends.md")]
pub mod back_ends {}
