//! Picks rows out of a table by their numbers, on any GPU that [wgpu](https://docs.rs/wgpu/30) reaches and on the CPU.
//!
//! It implements `tf.gather`, `tf.gather_nd` and `paddle.gather_nd`, including batch dimensions and negative axes, for 8- to
//! 64-bit indices and any element type. CPU and GPU give bit-identical results, except for rare values of encoded tables, which
//! [`Encoding`] lists. Only the default for out-of-range indices differs.
//!
//! Start here: [`Gather`], [`GatherPlan`],
#![cfg_attr(
    feature = "gpu",
    doc = "then [`Gatherer`], which records into your encoder, or [`Executor`], which owns tensors, submits and waits for you."
)]
#![cfg_attr(not(feature = "gpu"), doc = "[`guide::frameworks`].")]
//!
//! ```
//! use wgpu_gather::Gather;
//!
//! // Rows 2 and 0 of a table of 3 rows of 2 numbers.
//! let plan = Gather::new().plan(&[3, 2], &[2])?;
//! assert_eq!(plan.gather(&[10, 11, 20, 21, 30, 31], &[2, 0])?, [30, 31, 10, 11]);
//!
//! // An index out of range is an error, in the words of TensorFlow.
//! let plan = Gather::new().axis(1).plan(&[2, 3], &[2])?;
//! let bad = plan.gather(&[1, 2, 3, 4, 5, 6], &[2_i64, 3]).unwrap_err();
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
//! *Params* is the table. An *index row*, which is one index or, in `GatherNd`, some coordinates, selects one *slice* of params. Make one
//! [`GatherPlan`] for the shapes of params and indices: the plan serves every element type, on the CPU and on every GPU.
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
* The CPU: [`GatherPlan::gather`] and [`GatherPlan::gather_into`]. If you know the element type only at run time, call
  [`gather_bytes`](GatherPlan::gather_bytes).
* Your own device, buffers and command encoder: [`Gatherer::encode`] records a gather once. [`Gatherer::prepare`] returns a
  [`Prepared`], which records the gather in every frame. [`Buffers`] and [`Ranges`] name the operands.
* An [`Executor`] gathers on a GPU or on the CPU, and its [`Tensor`]s stay on that GPU or in host memory. You await the
  [`Request`] that [`Executor::gather`] returns, or call `wait`.

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
The CPU: [`GatherPlan::gather`] and [`GatherPlan::gather_into`], or [`gather_bytes`](GatherPlan::gather_bytes) for types that are known
only at run time. Two ways to a GPU come with the feature `gpu`: one records into your encoder, the other submits and waits for you.
"
)]
//!
//! # Bad indices
//!
//! By default an out-of-range index is an error on the CPU and gives zeros on a GPU, as in TensorFlow. Every other policy of
//! [`BadIndices`] means the same on both. A negative index is out of range, unless you choose [`NegativeIndices::FromEnd`].
//!
//! An index row with an out-of-range index is a *bad row*. [`GatherPlan::out_of_range`] returns a mask of all bad rows, with which you
//! can, for instance, set nulls. On a GPU, call `mask` on the request or on `Buffers`.
//!
//! Mistakes are typed errors that name the operand and the numbers: see [errors](guide::errors). Shapes give a [`PlanError`], operands on
//! the host and bad indices a [`RunError`]. On a GPU, a `Gatherer` returns a `GatherError`, and an `Executor` a `GpuError`, which
//! holds one of the others. All but bad indices are found before anything is recorded.
//!
//! # Features
//!
//! | feature alone | gives you | other crates built, on Linux |
//! |---|---|---|
//! | none, by `default-features = false` | plans and the CPU path, on one thread | 7 |
//! | `rayon` | the CPU path on all cores | 13 |
//! | `gpu` | `Gatherer`, `Executor` and all other GPU types; finds an adapter only with a back end | 52 |
//! | `vulkan`, `metal`, `dx12`, `gles`, `webgpu` | `gpu`, and this back end of wgpu | `vulkan` 59 |
//! | `ndarray` | `gather_array` and its like, and ndarray as `wgpu_gather::ndarray` | |
//! | `half` | rows decoded to `half::f16` and `half::bf16`, and half as `wgpu_gather::half` | |
//! | the default: all of these except `ndarray` and `half` | | 69 |
//!
//! # More
//!
//! * [Semantics](guide::semantics): the result in each case; [scatter](guide::scatter); [frameworks](guide::frameworks): the calls of other libraries.
//! * [Recipes](guide::recipes): rows by a mask, in the order of a key, of a paged table, of interleaved records.
//! * [Encoded rows](guide::encoded_rows): tables that GGUF, ONNX or PyTorch quantised, and rows as f16 or bf16.
//! * [Large tables](guide::large_tables): beyond a binding, a buffer or the device's memory.
//! * [Errors](guide::errors), [costs](guide::costs) of each call, [measurements](guide::performance), tested
//!   [back ends](guide::back_ends).

#![deny(missing_docs)]
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "ndarray")]
mod arrays;
mod bad_indices;
mod bags;
mod cpu;
mod element;
mod encoding;
mod error;
#[cfg(feature = "gpu")]
mod gpu;
pub mod guide;
mod index;
mod mask;
mod memory;
mod names;
mod operand;
mod plan;
mod reduce;
mod reserve;

pub use bad_indices::{BadIndices, NegativeIndices};
#[doc(alias(
    "embedding_bag",
    "EmbeddingBag",
    "embedding_lookup_sparse",
    "segment_reduce"
))]
pub use bags::Bags;
#[doc(alias("ragged", "row_splits", "indptr"))]
pub use bags::Offsets;
#[cfg(feature = "gpu")]
pub use element::Element;
pub use element::ElementTypes;
pub use encoding::{BlockQuantized, Encoded, Encoding, Float, FloatKind};
pub use error::{BadIndexError, PlanError, RunError};
#[cfg(feature = "gpu")]
pub use error::{GatherError, GpuError};
#[cfg(feature = "gpu")]
pub use gpu::{
    BadRows, Buffers, Call, Executor, Gatherer, Indices, Nonzero, Params, Prepared, Ranges,
    Request, ScatterRanges, Tensor,
};
#[cfg(feature = "half")]
pub use half;
pub use index::{Index, IndexKind};
#[doc(alias("nonzero", "flatnonzero", "compress", "boolean_mask", "masked_scatter"))]
#[doc(alias("masked_select", "argwhere", "mask_select"))]
pub use mask::Mask;
#[cfg(feature = "ndarray")]
pub use ndarray;
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
pub use plan::With;
pub use reduce::Number;
#[doc(alias("scatter_add", "scatter_nd", "index_add", "add.at", "segment_sum"))]
#[doc(alias("bincount", "histogram"))]
pub use reduce::Reduce;
#[cfg(feature = "gpu")]
pub use wgpu;

/// Compiles the README's examples.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../README.md")]
struct Readme;
