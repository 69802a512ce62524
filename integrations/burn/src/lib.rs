//! burn's `select`, `gather`, `gather_nd` and `embedding` by wgpu-gather, for burn 0.22's wgpu backend.
//!
//! A [`Bridge`] gathers from burn's tensors, on burn's device, into burn's memory. Nothing passes through the host. Two
//! things differ from burn's own operations:
//!
//! * a table may be larger than a binding of the device, where burn panics;
//! * an index out of range gives zeros, a fill, another entry or an error, as the policy says. burn reads whatever lies
//!   there.
//!
//! Results are equal bit for bit otherwise. **burn's `gather` is [`wgpu_gather::GatherElements`].**
//!
//! ```no_run
//! use burn::tensor::{Device, Int, Tensor};
//! use wgpu_gather_burn::{BadIndices, Bridge};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (device, setup) = Device::wgpu_options().init_with_setup()?;
//! let bridge = Bridge::new(&device, &setup)?;
//!
//! let table = Tensor::<2>::from_data([[10.0_f32, 11.0], [20.0, 21.0], [30.0, 31.0]], &device);
//! let rows = Tensor::<1, Int>::from_data([2, 0, 7], &device);
//! let picked = bridge.select(table.clone(), 0, rows.clone())?.tensor;
//! assert_eq!(picked.into_data().try_to_vec::<f32>()?, [30.0, 31.0, 10.0, 11.0, 0.0, 0.0]);
//!
//! let strict = bridge.bad_indices(BadIndices::Error);
//! let error = strict.select(table, 0, rows)?.checked().unwrap_err();
//! assert_eq!(error.to_string(), "indices[2] = 7 is not in [0, 3)");
//! # Ok(())
//! # }
//! ```
//!
//! # Order of work
//!
//! A call runs the pending operations of its operands, has burn submit its work, then records and submits the gather on
//! burn's queue. burn's later work is submitted after it. The call does not wait for the device.

mod bridge;
mod error;
mod gathered;
mod gradient;
mod run;
mod tensors;

pub use bridge::Bridge;
pub use error::BridgeError;
pub use gathered::{Gathered, Report};
pub use wgpu_gather::{self, BadIndices, NegativeIndices};

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
