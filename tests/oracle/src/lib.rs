//! The oracle: gather, gather_nd and gather_elements from their definitions, by coordinates, and float sums. The oracle is
//! slow, and depends on no other crate, so that it shares no code with the library.

#![allow(clippy::unwrap_used, reason = "a case fails by panicking")]

mod bags;
mod coordinates;
mod op;
mod policy;
mod sums;
pub mod sweep;
mod values;

pub use bags::{Combine, combined};
pub use coordinates::{for_each_coordinate, unravel};
pub use op::{Op, Rejection};
pub use policy::Policy;
pub use sums::float_sum;
pub use values::Values;
