//! The GPU if there is one, else the CPU, for apps that run on machines with and without a GPU.

use std::fmt;

use super::context::Gpu;
use super::mapping::Wait;
use crate::bad_indices::BadIndices;
use crate::element::{GatherElement, GatherIndex};
use crate::error::{GatherError, GpuError};
use crate::gpu::fill::check_fill;
use crate::plan::GatherPlan;

/// The device that gathers run on: the GPU of this machine if it has one, else the CPU. Printing it names the device.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/executor.rs")]
/// ```
#[derive(Debug)]
pub enum Executor {
    /// Gathers run on this GPU.
    Gpu(Box<Gpu>),
    /// Gathers run on the CPU, because opening a GPU failed with this error.
    Cpu(GpuError),
}

impl Executor {
    /// The GPU that [`Gpu::new`] finds, else the CPU.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/browser.rs")]
    /// ```
    pub async fn new() -> Self {
        Gpu::new().await.into()
    }

    /// As [`new`](Self::new), but waits on this thread.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn new_blocking() -> Self {
        Gpu::new_blocking().into()
    }

    /// Gathers, with the same output on the GPU and on the CPU. A bad row holds zero bytes on both.
    ///
    /// # Errors
    ///
    /// - The errors of [`GatherPlan::run`], as [`GpuError::Run`], and of [`Gpu::gather`].
    /// - [`GpuError::PolicyNotNamed`] for a plan whose policy is [`BadIndices::DeviceDefault`], which gives zeros on
    ///   one machine and an error on another.
    /// - [`GpuError::BufferTooLarge`] on a GPU for an operand larger than one buffer. The CPU does not run it instead.
    pub async fn gather<T, I>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        self.gathered(plan, params, indices, None, Wait::Poll).await
    }

    /// As [`gather`](Self::gather), but bad rows hold `fill` instead of zeros.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather); on both devices, [`GatherError::FillTooLong`] for elements too long for
    /// [`GatherBuffers::with_fill`](crate::GatherBuffers::with_fill).
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/executor_filled.rs")]
    /// ```
    pub async fn gather_filled<T, I>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
        fill: T,
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        self.gathered(plan, params, indices, Some(fill), Wait::Poll)
            .await
    }

    /// As [`gather`](Self::gather), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_blocking<T, I>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        pollster::block_on(self.gathered(plan, params, indices, None, Wait::Block))
    }

    /// As [`gather_filled`](Self::gather_filled), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`gather_filled`](Self::gather_filled).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_filled_blocking<T, I>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
        fill: T,
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        pollster::block_on(self.gathered(plan, params, indices, Some(fill), Wait::Block))
    }

    /// Gathers on the executor's device, after the checks of both devices.
    async fn gathered<T, I>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
        fill: Option<T>,
        wait: Wait,
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        check_policy(plan)?;
        fill.as_ref().map_or(Ok(()), check_fill)?;
        match self {
            Self::Gpu(gpu) => {
                let table = gpu.upload(params)?;
                gpu.gathered(plan, &table, indices, fill, wait).await
            }
            Self::Cpu(_) => run(plan, params, indices, fill),
        }
    }
}

impl From<Result<Gpu, GpuError>> for Executor {
    fn from(gpu: Result<Gpu, GpuError>) -> Self {
        match gpu {
            Ok(gpu) => Self::Gpu(Box::new(gpu)),
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

/// Runs on the CPU with the results of a GPU: a bad row holds zero bytes or the fill, and elements of no bytes are
/// refused.
fn run<T: GatherElement, I: GatherIndex>(
    plan: &GatherPlan,
    params: &[T],
    indices: &[I],
    fill: Option<T>,
) -> Result<Vec<T>, GpuError> {
    if size_of::<T>() == 0 {
        return Err(GatherError::ZeroSizedElement.into());
    }
    let fill = fill.unwrap_or_else(T::zeroed);
    Ok(plan.run_with(params, indices, T::zeroed(), fill)?)
}

fn check_policy(plan: &GatherPlan) -> Result<(), GpuError> {
    match plan.bad_indices() {
        BadIndices::DeviceDefault => Err(GpuError::PolicyNotNamed),
        BadIndices::Error | BadIndices::Zero | BadIndices::Clamp => Ok(()),
    }
}
