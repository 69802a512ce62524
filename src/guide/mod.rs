//! Pages to read: the result of each case, scatters, the errors, the cost of each call, recipes, large tables, encoded rows, measurements,
//! calls of other libraries and their equals here, and the drivers of the tests.

#[doc = include_str!("semantics.md")]
pub mod semantics {}

#[doc = include_str!("scatter.md")]
pub mod scatter {}

#[doc = include_str!("errors.md")]
pub mod errors {}

#[doc = include_str!("costs.md")]
pub mod costs {}

#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = include_str!("large_tables.md")]
pub mod large_tables {}

#[doc = include_str!("encoded_rows.md")]
pub mod encoded_rows {}

#[doc = include_str!("performance.md")]
pub mod performance {}

#[doc = include_str!("frameworks.md")]
pub mod frameworks {}

#[doc = include_str!("back_ends.md")]
pub mod back_ends {}
