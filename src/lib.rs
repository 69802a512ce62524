//! Picks rows out of a table by their numbers, on any GPU that [wgpu](https://docs.rs/wgpu/30) reaches and on the CPU.
//!
//! It implements `tf.gather`, `tf.gather_nd` and `paddle.gather_nd`, including batch dimensions and negative axes, for 8- to
//! 64-bit indices and any element type. CPU and GPU give bit-identical results; only the default for out-of-range indices
//! differs.
//!
//! Start here: [`Gather`], [`GatherPlan`],
#![cfg_attr(
    feature = "gpu",
    doc = "[`Gatherer`] for your own device, [`Executor`] for one of the crate."
)]
#![cfg_attr(not(feature = "gpu"), doc = "[`guide::frameworks`].")]
//!
//! ```
//! use wgpu_gather::Gather;
//!
//! // Rows 2 and 0 of a table of 3 rows of 2 numbers.
//! let plan = Gather::new().plan(&[3, 2], &[2])?;
//! assert_eq!(plan.run(&[10, 11, 20, 21, 30, 31], &[2, 0])?, [30, 31, 10, 11]);
//!
//! // An index out of range is an error, in the words of TensorFlow.
//! let plan = Gather::new().axis(1).plan(&[2, 3], &[2])?;
//! let bad = plan.run(&[1, 2, 3, 4, 5, 6], &[2_i64, 3]).unwrap_err();
//! assert_eq!(bad.to_string(), "indices[1] = 3 is not in [0, 3)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Operations
//!
#![doc = include_str!("guide/pictures/operations.svg")]
//!
//! | you have | call | elsewhere |
//! |---|---|---|
//! | row numbers, or numbers along another axis | [`Gather`] | `tf.gather`, `numpy.take`, `torch.index_select`, ONNX `Gather` |
//! | coordinates | [`GatherNd`] | `tf.gather_nd`, `paddle.gather_nd`, ONNX `GatherND` |
//! | an index for each output element | [`GatherElements`] | `torch.gather`, ONNX `GatherElements`; with `broadcast(true)` `numpy.take_along_axis` |
//!
//! **PyTorch's, burn's and candle's `gather` is [`GatherElements`], not [`Gather`].**
//!
//! Make a [`GatherPlan`] once per pair of shapes: `plan` checks the shapes of params and indices. It serves every element type, on the
//! CPU and on every GPU.
//!
//! The inverse, [scatter](guide::scatter), writes slices to the rows that indices select, or adds them: [`GatherPlan::scatter`] and
//! [`GatherPlan::scatter_reduce`] on the CPU, a `Gatherer` and an `Executor` on a GPU.
//!
//! # Three ways in
//!
#![doc = include_str!("guide/pictures/owners.svg")]
//!
#![cfg_attr(
    feature = "gpu",
    doc = "
* The CPU: [`GatherPlan::run`] and [`GatherPlan::run_into`], or [`run_bytes`](GatherPlan::run_bytes) for types that are
  known only at run time.
* Your own device, buffers and command encoder: a [`Gatherer`] records a gather, and a [`PreparedGather`] records it
  again. [`GatherBuffers`] and [`Ranges`] name the operands.
* A device of the crate: an [`Executor`] is a GPU, or the CPU. Its [`Tensor`]s stay there. You await the [`Request`] that
  [`Executor::gather`] returns, or call `wait`. [`Executor::gather_bytes`] takes types known only at run time.

```no_run
use wgpu_gather::{Executor, Gather};

# fn main() -> Result<(), wgpu_gather::GpuError> {
let gpu = Executor::gpu_blocking()?;
let table = gpu.upload(&[10.0_f32, 11.0, 20.0, 21.0, 30.0, 31.0], &[3, 2])?; // stays on the GPU
let rows = gpu.gather(Gather::new(), &table, &[2, 7]).fill(-1.0).wait()?;
assert_eq!(rows, [30.0, 31.0, -1.0, -1.0]); // 7 is out of range
# Ok(())
# }
```
"
)]
#![cfg_attr(
    not(feature = "gpu"),
    doc = "
The CPU: [`GatherPlan::run`] and [`GatherPlan::run_into`], or [`run_bytes`](GatherPlan::run_bytes) for types that are known
only at run time. Two ways to a GPU, in an app's own device and in one of the crate's, come with the feature `gpu`.
"
)]
//!
//! # Bad indices
//!
//! [`BadIndices`] decides about an index out of range. By default it is an error on the CPU and zeros on a GPU, as in
//! TensorFlow; other policies make the two equal. [`NegativeIndices`] lets negative indices count from the end.
//! [`GatherPlan::out_of_range`] returns a mask that marks all bad rows, for instance to make them nulls. On a GPU, call `mask` on the
//! request or on `GatherBuffers`.
//!
//! A mistake is a typed error that names the operand and the numbers, before anything is recorded: [`PlanError`] for
//! shapes, [`RunError`] for operands on the host and for bad indices, and with the feature `gpu` `GatherError` for buffers
//! and `GpuError` for the calls of an [`Executor`](guide::errors).
//!
//! # Features
//!
//! | feature | gives you | other crates, on Linux |
//! |---|---|---|
//! | none, by `default-features = false` | plans and the CPU path, on one thread | 7 |
//! | `rayon` | the CPU path on all cores | 13 |
//! | `gpu` | `Gatherer`, `Executor` and all other GPU types; needs a back end to find an adapter | 52 |
//! | `vulkan`, `metal`, `dx12`, `gles`, `webgpu` | `gpu`, and this back end of wgpu | `vulkan` 59 |
//! | `ndarray` | `gather_array` and its like | |
//! | all but `ndarray`, the default | | 69 |
//!
//! # More
//!
//! * [Semantics](guide::semantics): the result in each case; [scatter](guide::scatter); [frameworks](guide::frameworks): the calls of other libraries.
//! * [Recipes](guide::recipes): rows by a mask, in the order of a key, of a paged table, of interleaved records.
//! * [Encoded rows](guide::encoded_rows): tables that GGUF, ONNX or PyTorch quantised, and half floats.
//! * [Large tables](guide::large_tables): beyond a binding, a buffer or the device's memory.
//! * [Errors](guide::errors), [costs](guide::costs) of each call, [measurements](guide::performance), tested
//!   [back ends](guide::back_ends).

#![deny(missing_docs)]
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bad_indices;
mod cpu;
mod element;
mod encoding;
mod error;
#[cfg(feature = "gpu")]
mod gpu;
pub mod guide;
mod index;
mod memory;
mod names;
#[cfg(feature = "ndarray")]
mod ndarray;
mod operand;
mod plan;
mod reduce;

pub use bad_indices::{BadIndices, NegativeIndices};
pub use element::ElementTypes;
#[cfg(feature = "gpu")]
pub use element::GatherElement;
pub use encoding::{BlockError, BlockQuantized, Encoded, Encoding, ScaleKind};
pub use error::{BadIndexError, PlanError, RunError};
#[cfg(feature = "gpu")]
pub use error::{GatherError, GpuError};
#[cfg(feature = "gpu")]
pub use gpu::{
    BadRows, EncodedTensor, Executor, GatherBuffers, Gatherer, Indices, Params, PreparedGather,
    PreparedScatter, Ranges, Request, ScatterBuffers, ScatterRanges, ScatterRequest, Tensor,
};
pub use index::{GatherIndex, IndexKind};
// Rustdoc finds aliases here only: it drops those of items in private modules.
pub use operand::Operand;
#[doc(alias("take", "index_select", "embedding", "lookup", "select"))]
#[doc(alias("batch_gather", "get_rows"))]
pub use plan::Gather;
#[doc(alias("take_along_axis", "take_along_dim", "torch.gather"))]
pub use plan::GatherElements;
#[doc(alias("gather_nd"))]
pub use plan::GatherNd;
pub use plan::GatherPlan;
#[cfg(feature = "gpu")]
pub use plan::ToPlan;
#[doc(alias("scatter_add", "scatter_nd", "index_add", "add.at", "segment_sum"))]
pub use reduce::Reduce;
pub use reduce::ScatterNumber;
#[cfg(feature = "gpu")]
pub use wgpu;

/// Compiles the README's examples.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../README.md")]
struct Readme;
