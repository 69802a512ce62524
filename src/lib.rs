//! Picks slices of a tensor by indices, exactly as `tf.gather`, `tf.gather_nd` and `paddle.gather_nd` do: on any GPU
//! that [wgpu](https://docs.rs/wgpu/30) reaches, and on the CPU. The two give equal bits.
//!
//! ```
//! use wgpu_gather::{Gather, GatherNd};
//!
//! // Rows 2 and 0 of a table of 3 rows of 2 numbers.
//! let plan = Gather::new().plan(&[3, 2], &[2])?;
//! assert_eq!(plan.run(&[10, 11, 20, 21, 30, 31], &[2, 0])?, [30, 31, 10, 11]);
//!
//! // The elements at [0, 0] and [1, 1]: each row of indices has coordinates.
//! let plan = GatherNd::new().plan(&[2, 2], &[2, 2])?;
//! assert_eq!(plan.run(&["a", "b", "c", "d"], &[0, 0, 1, 1])?, ["a", "d"]);
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
//! | operation | an output element or slice for | elsewhere |
//! |---|---|---|
//! | [`Gather`] | each index, along one axis | `tf.gather`, `numpy.take`, `torch.index_select`, ONNX `Gather` |
//! | [`GatherNd`] | each row of indices, which has coordinates | `tf.gather_nd`, `paddle.gather_nd`, ONNX `GatherND` |
//! | [`GatherElements`] | each index, at its own place | `torch.gather`, `numpy.take_along_axis`, ONNX `GatherElements` |
//!
//! `plan` makes a [`GatherPlan`] of the shapes of params and indices. A plan holds every check of shapes, and has no types
//! of elements: it serves all of them, on the CPU and on every GPU.
//!
//! # Three ways in
//!
#![cfg_attr(
    feature = "gpu",
    doc = "
* The CPU: [`GatherPlan::run`] and [`GatherPlan::run_into`], or [`run_bytes`](GatherPlan::run_bytes) for types that are
  known only at run time.
* An app's own device, buffers and command encoder: a [`Gatherer`] records a gather, and a [`PreparedGather`] records it
  again. [`GatherBuffers`] names the operands.
* A device of the crate's own: a [`Gpu`] has [`Tensor`]s that stay there, and gathers by [`Gpu::gather`], whose
  [`GatherRequest`] is awaited or waited for. [`Executor`] is the GPU if there is one, else the CPU.
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
//!
//! # Errors
//!
//! A mistake is a typed error that names the operand and the numbers, before anything is recorded: [`PlanError`] for
//! shapes, [`RunError`] for operands on the host and for bad indices, and with the feature `gpu` `GatherError` for buffers
//! and `GpuError` for a [`Gpu`](guide::errors)'s calls.
//!
//! The [`guide`] has the rest: the result of each [case](guide::semantics), all [errors](guide::errors), [large
//! tables](guide::large_tables), the [cost](guide::costs) of each call, calls of [other libraries](guide::frameworks),
//! tested [back ends](guide::back_ends), and [measurements](guide::performance).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod bad_indices;
mod cpu;
mod element;
mod error;
#[cfg(feature = "gpu")]
mod gpu;
pub mod guide;
#[cfg(feature = "ndarray")]
mod ndarray;
mod plan;

pub use bad_indices::{BadIndexError, BadIndices, NegativeIndices};
#[cfg(feature = "gpu")]
pub use element::GatherElement;
pub use element::{ElementTypes, GatherIndex, IndexKind};
#[cfg(feature = "ndarray")]
pub use error::ArrayError;
#[cfg(feature = "gpu")]
pub use error::{GatherError, GpuError};
pub use error::{Operand, PlanError, RunError};
#[cfg(feature = "gpu")]
pub use gpu::{
    BadRows, Download, Executor, GatherBuffers, GatherRequest, GatherStream, Gatherer, Gpu,
    GpuOptions, Input, PreparedGather, Tensor,
};
pub use plan::{Gather, GatherElements, GatherNd, GatherPlan, ToPlan};
#[cfg(feature = "gpu")]
pub use wgpu;

/// Compiles the README's examples.
#[cfg(all(doctest, feature = "gpu"))]
#[doc = include_str!("../README.md")]
struct Readme;
