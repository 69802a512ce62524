//! The GPU if there is one, else the CPU, for apps that run on machines with and without a GPU.

use std::fmt;

use super::context::Gpu;
use super::input::Input;
use super::options::GpuOptions;
use super::request::GatherRequest;
use super::tensor::Tensor;
use super::transfer::copied;
use crate::element::GatherElement;
use crate::error::{GatherError, GpuError};
use crate::index::GatherIndex;
use crate::plan::ToPlan;

/// The device that gathers run on: the GPU of this machine if it has one, else the CPU. Printing it names the device
/// and, for the CPU, the reason.
///
/// With the default policy for bad indices, [`BadIndices::DeviceDefault`](crate::BadIndices::DeviceDefault), the two
/// devices differ as TensorFlow's do: a bad row is zeros on a GPU, and an error on the CPU. With any other policy they
/// agree.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/executor.rs")]
/// ```
#[derive(Debug)]
pub enum Executor {
    /// Gathers run on this GPU.
    Gpu(Gpu),
    /// Gathers run on the CPU, because opening a GPU failed with this error.
    Cpu(GpuError),
}

impl Executor {
    /// The fastest GPU that wgpu finds, else the CPU. A software adapter, which emulates a GPU on the CPU, is not taken:
    /// the CPU path is faster. For another choice make an executor of the result of [`Gpu::open`].
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/browser.rs")]
    /// ```
    pub async fn new() -> Self {
        let options = GpuOptions {
            software: false,
            ..Default::default()
        };
        Gpu::open(&options).await.into()
    }

    /// Copies elements to the device, as a tensor of one dim: to the GPU, or to host memory of the executor's own.
    ///
    /// # Errors
    ///
    /// The errors of [`Gpu::upload`]; without a GPU, [`RunError::OutOfMemory`](crate::RunError::OutOfMemory).
    pub fn upload<T: GatherElement>(&self, elements: &[T]) -> Result<Tensor<T>, GpuError> {
        match self {
            Self::Gpu(gpu) => gpu.upload(elements),
            Self::Cpu(_) if size_of::<T>() == 0 => Err(GatherError::ZeroSizedElement.into()),
            Self::Cpu(_) => Ok(Tensor::on_host(copied(elements)?, vec![elements.len()])),
        }
    }

    /// Copies elements to the device, as a tensor of this shape.
    ///
    /// # Errors
    ///
    /// The errors of [`upload`](Self::upload), and [`GatherError::Shape`] for a shape of more or fewer elements.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Gather, GpuError};
    ///
    /// let executor = Executor::Cpu(GpuError::NoAdapter("none is asked for".into()));
    /// let table = executor.upload_shaped(&[10, 11, 20, 21, 30, 31], &[3, 2])?;
    /// assert_eq!(executor.gather(Gather::new(), &table, &[2]).wait()?, [30, 31]);
    /// # Ok::<(), GpuError>(())
    /// ```
    pub fn upload_shaped<T: GatherElement>(
        &self,
        elements: &[T],
        shape: &[usize],
    ) -> Result<Tensor<T>, GpuError> {
        match self {
            Self::Gpu(gpu) => gpu.upload_shaped(elements, shape),
            Self::Cpu(_) => self.upload(elements)?.with_shape(shape),
        }
    }

    /// Gathers from `params` by `indices`, each of which is in host memory or a [`Tensor`] of this executor: see
    /// [`GatherRequest`], which also names the errors. On the CPU the request gathers on the thread that polls it or
    /// waits for it, and the rayon pool of that thread.
    ///
    /// A gather that a GPU refuses, for instance of an operand larger than one of its buffers, does not run on the CPU
    /// instead.
    pub fn gather<'a, T: GatherElement, I: GatherIndex>(
        &'a self,
        plan: impl ToPlan<'a>,
        params: impl Into<Input<'a, T>>,
        indices: impl Into<Input<'a, I>>,
    ) -> GatherRequest<'a, T> {
        let gpu = match self {
            Self::Gpu(gpu) => Some(gpu),
            Self::Cpu(_) => None,
        };
        GatherRequest::new(gpu, plan, params.into(), &indices.into())
    }
}

impl From<Result<Gpu, GpuError>> for Executor {
    fn from(gpu: Result<Gpu, GpuError>) -> Self {
        match gpu {
            Ok(gpu) => Self::Gpu(gpu),
            Err(error) => Self::Cpu(error),
        }
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpu(gpu) => gpu.fmt(f),
            Self::Cpu(error) => write!(f, "the CPU ({error})"),
        }
    }
}
