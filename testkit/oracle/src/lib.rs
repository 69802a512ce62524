//! The oracle: gather, gather_nd and gather_elements from their definitions, by coordinates. The oracle is slow, and depends
//! on no other crate, so that it shares no code with the library.

#![allow(clippy::unwrap_used, reason = "a case fails by panicking")]
#![cfg_attr(
    target_pointer_width = "32",
    allow(arithmetic_overflow, reason = "shapes of the table pass 32 bits")
)]

mod coordinates;
mod op;
mod policy;
mod values;

pub use coordinates::{for_each_coordinate, unravel};
pub use op::{Op, Rejection};
pub use policy::Policy;
pub use values::Values;
