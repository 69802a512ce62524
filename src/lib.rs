#![cfg_attr(feature = "gpu", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "gpu"),
    doc = "`tf.gather_nd`, `tf.gather` and `paddle.gather_nd`, exactly. Built without the feature `gpu`: the planner and the CPU path."
)]
//!
//! # Internals
//!
//! A map for those who change the crate. Each arrow is one function in one file, and nothing writes into an earlier step.
//!
//! ```text
//! shapes, attributes --plan()--> GatherPlan             plan/gather.rs, gather_nd.rs, gather_elements.rs; plan/mod.rs
//!   cpu: run, run_into, run_bytes                       cpu/mod.rs: lengths
//!        -> gather: threads, bad rows and fills         cpu/gather.rs, by the rows of plan/index_rows.rs
//!        -> copy: the loop                              cpu/copy.rs; all unsafe code is in cpu/memory.rs
//!   gpu: GatherBuffers -> Operands                      gpu/operands.rs: every check, before wgpu sees anything
//!        -> Cut -> Dispatch                             gpu/cut: which rows and bytes each dispatch binds
//!           -> Kernel, FindRows, Shares                 gpu/kernel.rs: the choice, by sizes and dims only
//!        -> GatherUniform                               gpu/uniform.rs: all numbers that a shader reads
//!        -> pipelines, bind groups -> PreparedGather    gpu/pipelines.rs, shaders.rs, bindings.rs; gpu/prepared.rs
//!        -> BadRows                                     gpu/report.rs: the report, decoded to the error of the CPU
//! gpu/device: a device for callers who have none        tables, gathers that are submitted and read back, streams
//! ```
//!
//! Where to add
//! * an operation: a file of src/plan that fills `GatherDims`; both executors derive all else from these;
//! * a policy or an index type: `bad_indices.rs` or `element.rs`, then `index_rows.rs` for the CPU, and for the GPU the numbers
//!   of `GatherUniform` that `judged` in shaders/common.wgsl and `source_row_of` in shaders/general.wgsl read. `FindRows` in
//!   gpu/kernel.rs can send a plan to general.wgsl only; the cut would then need the policy, as it now sees the dims alone.
//!   The compiler finds most places that match on a policy; grep for `Clamp` finds those in texts and `matches!`. The
//!   tests' tables are `POLICIES` of testkit/src/voices.rs, with the oracle beside it, and `policies` of
//!   gpu/shader_tests/edge_values.rs, with gpu/shader_tests/oracle.rs;
//! * a kernel: an entry point in shaders, a variant of `Kernel` with its shares, a line of `Shader::source`. Unit tests
//!   compare entry points, bindings, overrides and layouts in both languages, and interpret every kernel lane by lane.

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
