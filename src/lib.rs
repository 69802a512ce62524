#![cfg_attr(feature = "gpu", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "gpu"),
    doc = "`tf.gather_nd`, `tf.gather` and `paddle.gather_nd`, exactly. Built without the feature `gpu`: the planner and the CPU path."
)]

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
pub use element::{GatherIndex, IndexKind};
#[cfg(feature = "ndarray")]
pub use error::ArrayError;
#[cfg(feature = "gpu")]
pub use error::{GatherError, GpuError, ReportError};
pub use error::{Operand, PlanError, RunError};
#[cfg(feature = "gpu")]
pub use gpu::{
    BadRows, Executor, GatherBuffers, GatherStream, Gatherer, Gpu, GpuTable, ParamsShard,
    PreparedGather,
};
pub use plan::{Gather, GatherDims, GatherElements, GatherNd, GatherPlan, Operation, PlaceDim};
#[cfg(feature = "gpu")]
pub use wgpu;
