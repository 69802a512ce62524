//! Pages to read: what each case gives, scatters, errors, costs, recipes, large tables, encoded rows, measurements, other
//! libraries' calls and their equals here, and back ends.

#[doc = "Which output each shape, index and policy gives."]
#[doc = ""]
#[doc = include_str!("semantics.md")]
pub mod semantics {}

#[doc = "Write rows back, or add to them, in one order."]
#[doc = ""]
#[doc = include_str!("scatter.md")]
pub mod scatter {}

#[doc = "What each error means, and what you change."]
#[doc = ""]
#[doc = include_str!("errors.md")]
pub mod errors {}

#[doc = "What each call submits, allocates, moves and waits for."]
#[doc = ""]
#[doc = include_str!("costs.md")]
pub mod costs {}

#[doc(alias("boolean_mask", "masked_select", "flatnonzero"))]
#[doc = "Masks, keys, pages, records: programs to copy."]
#[doc = ""]
#[doc = include_str!("pictures/strides.svg")]
#[doc = ""]
#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = "Tables larger than a binding, buffer, device or machine."]
#[doc = ""]
#[doc = include_str!("pictures/windows.svg")]
#[doc = ""]
#[doc = include_str!("large_tables.md")]
pub mod large_tables {}

#[doc = "Rows of quantised tables, decoded as they are gathered."]
#[doc = ""]
#[doc = include_str!("pictures/decoded.svg")]
#[doc = ""]
#[doc = include_str!("encoded_rows.md")]
pub mod encoded_rows {}

#[doc = "Times beside other libraries, and how to measure yours."]
#[doc = ""]
#[doc = include_str!("pictures/times.svg")]
#[doc = ""]
#[doc = include_str!("performance.md")]
pub mod performance {}

#[doc = "Calls of 21 libraries and their equals here."]
#[doc = ""]
#[doc = include_str!("frameworks.md")]
pub mod frameworks {}

#[doc = "Which drivers ran the tests, and how to test yours."]
#[doc = ""]
#[doc = include_str!("back_ends.md")]
pub mod back_ends {}
