//! The CPU executor. Its public functions check lengths and lend their operands as bytes. All other code is
//! compiled once, for any type of element.

// First, so that the docs of a plan begin with `gather`.
mod elements;

mod bags;
mod bytes;
mod copy;
mod cursor;
mod decoded;
mod encoded;
mod gather;
mod index_rows;
mod mask;
mod operands;
mod params_rows;
mod scatter;
mod stretches;
#[cfg(test)]
mod tests;

#[cfg(feature = "gpu")]
pub(crate) use bytes::with_values;
#[cfg(feature = "gpu")]
pub(crate) use operands::{Operands, Params};
