//! The GPU if there is one, else the CPU, for apps that run on machines with and without a GPU.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::gpu::{Gpu, fastest_adapter};
use super::indices::Indices;
use super::owner::Owner;
use super::request::{GatherRequest, gather, gather_bytes, gather_decoded};
use super::tensor::Tensor;
use crate::element::{ElementTypes, GatherElement};
use crate::encoding::{Encoded, Encoding};
use crate::error::GpuError;
use crate::index::GatherIndex;
use crate::plan::{GatherPlan, ToPlan};

/// The device that gathers run on: the GPU of this machine if it has one, else the CPU. It has the calls of a [`Gpu`].
/// Printing it names the device and, for the CPU, the reason.
///
/// By the default policy, [`BadIndices::DeviceDefault`](crate::BadIndices::DeviceDefault), a bad index is an error on the
/// CPU and zeros on a GPU, as in TensorFlow; by every other policy, for instance [`Fill`](crate::BadIndices::Fill), the
/// two are alike.
///
/// ```
/// use wgpu_gather::{BadIndices, Executor, Gather};
///
/// let executor = Executor::new_blocking(); // or Executor::new().await
/// println!("gathering on {executor}");
/// let table = executor.upload(&[1.0_f32, 2.0, 3.0], &[3])?; // on the GPU, or in host memory
/// let gather = Gather::new().bad_indices(BadIndices::Fill);
/// let output = executor.gather(gather, &table, &[2, 3]).fill(-1.0).wait()?;
/// assert_eq!(output, [3.0, -1.0]);
/// # Ok::<(), wgpu_gather::GpuError>(())
/// ```
#[expect(
    clippy::exhaustive_enums,
    reason = "a gather runs on a GPU or on the CPU, and apps match both"
)]
pub enum Executor {
    /// Gathers run on this GPU.
    Gpu(Gpu),
    /// Gathers run on the CPU, because opening a GPU failed with this error.
    Cpu(GpuError),
}

impl Executor {
    /// The fastest GPU that wgpu finds, else the CPU. A software adapter, which emulates a GPU on the CPU, is not taken:
    /// the CPU path is faster. For another choice make an executor of the result of [`Gpu::from_adapter`].
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/browser.rs")]
    /// ```
    pub async fn new() -> Self {
        open().await.into()
    }

    /// As [`new`](Self::new), but waits on this thread.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn new_blocking() -> Self {
        pollster::block_on(Self::new())
    }

    /// Copies the elements of a `Vec` or of a slice to the device, as a tensor of this shape. Without a GPU the tensor is in host
    /// memory: it takes a `Vec` over without a copy, and copies a slice.
    ///
    /// # Errors
    ///
    /// The errors of [`Gpu::upload`]; without a GPU, [`RunError::OutOfMemory`](crate::RunError::OutOfMemory).
    ///
    /// ```
    /// use wgpu_gather::{Executor, Gather, GpuError};
    ///
    /// let executor = Executor::Cpu(GpuError::NoAdapter("none is asked for".into()));
    /// let table = executor.upload(vec![10, 11, 20, 21, 30, 31], &[3, 2])?;
    /// assert_eq!(executor.gather(Gather::new(), &table, &[2]).wait()?, [30, 31]);
    /// # Ok::<(), GpuError>(())
    /// ```
    pub fn upload<'e, T: GatherElement>(
        &self,
        elements: impl Into<Cow<'e, [T]>>,
        shape: &[usize],
    ) -> Result<Tensor<T>, GpuError> {
        Tensor::upload(self.owner(), elements.into(), shape)
    }

    /// As [`Gpu::zeros`].
    ///
    /// # Errors
    ///
    /// The errors of [`upload`](Self::upload).
    pub fn zeros<T: GatherElement>(&self, shape: &[usize]) -> Result<Tensor<T>, GpuError> {
        Tensor::zeros(self.owner(), shape)
    }

    /// As [`Gpu::gather`], which names the errors too. On the CPU the request gathers on the thread that polls it or waits
    /// for it, and in the rayon pool of that thread.
    ///
    /// A gather that a GPU refuses, for instance of an operand larger than one of its buffers, does not run on the CPU
    /// instead.
    pub fn gather<'a, T: GatherElement, I: GatherIndex>(
        &'a self,
        plan: impl ToPlan<'a>,
        params: &'a Tensor<T>,
        indices: impl Into<Indices<'a, I>>,
    ) -> GatherRequest<'a, T> {
        gather(self.owner(), plan, params, &indices.into())
    }

    /// As [`Gpu::gather_decoded`].
    pub fn gather_decoded<'a, I: GatherIndex>(
        &'a self,
        plan: impl ToPlan<'a>,
        encoding: Encoding,
        params: impl Into<Encoded<&'a Tensor<u8>>>,
        indices: impl Into<Indices<'a, I>>,
    ) -> GatherRequest<'a, f32> {
        gather_decoded(self.owner(), plan, encoding, params.into(), &indices.into())
    }

    /// As [`Gpu::gather_bytes`].
    pub fn gather_bytes<'a>(
        &'a self,
        plan: &'a GatherPlan,
        types: ElementTypes,
        params: &'a Tensor<u8>,
        indices: &'a Tensor<u8>,
    ) -> GatherRequest<'a, u8> {
        gather_bytes(self.owner(), plan, types, params, indices)
    }

    fn owner(&self) -> Option<&Arc<Owner>> {
        match self {
            Self::Gpu(gpu) => Some(gpu.owner()),
            Self::Cpu(_) => None,
        }
    }
}

async fn open() -> Result<Gpu, GpuError> {
    // wgpu takes a software adapter last.
    let adapter = fastest_adapter().await?;
    let info = adapter.get_info();
    if info.device_type == wgpu::DeviceType::Cpu {
        let name = info.name;
        return Err(GpuError::NoAdapter(format!(
            "only the software adapter {name}, which is slower than the CPU path"
        )));
    }
    Gpu::from_adapter(&adapter).await
}

impl From<Result<Gpu, GpuError>> for Executor {
    fn from(gpu: Result<Gpu, GpuError>) -> Self {
        match gpu {
            Ok(gpu) => Self::Gpu(gpu),
            Err(error) => Self::Cpu(error),
        }
    }
}

/// `Executor(..)` around the text of [`Display`](fmt::Display): one line, also by `{:#?}`.
impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executor({self})")
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
