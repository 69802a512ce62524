#![cfg_attr(feature = "gpu", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "gpu"),
    doc = "`tf.gather_nd`, `tf.gather` and `paddle.gather_nd`, exactly. Built without the feature `gpu`: the planner and the CPU path."
)]

mod bad_indices;
mod cpu;
mod dims;
mod element;
mod error;
mod gather;
mod gather_elements;
mod gather_nd;
#[cfg(feature = "gpu")]
mod gpu;
pub mod guide;
mod index_rows;
mod line;
#[cfg(feature = "ndarray")]
mod ndarray;
mod pieces;
mod plan;

pub use bad_indices::{BadIndexError, BadIndices, NegativeIndices};
pub use dims::{GatherDims, PlaceDim};
#[cfg(feature = "gpu")]
pub use element::GatherElement;
pub use element::{GatherIndex, IndexKind};
#[cfg(feature = "ndarray")]
pub use error::ArrayError;
#[cfg(feature = "gpu")]
pub use error::{GatherError, GpuError, ReportError};
pub use error::{Operand, PlanError, RunError};
pub use gather::Gather;
pub use gather_elements::GatherElements;
pub use gather_nd::GatherNd;
#[cfg(feature = "gpu")]
pub use gpu::{
    BadRows, Executor, GatherBuffers, GatherStream, Gatherer, Gpu, GpuTable, ParamsShard,
    PreparedGather,
};
pub use plan::{GatherPlan, Operation};
#[cfg(feature = "gpu")]
pub use wgpu;
