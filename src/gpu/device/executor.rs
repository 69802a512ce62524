//! The GPU if there is one, else the CPU, for apps that run everywhere and want to say which.

use std::fmt;

use super::context::Gpu;
use super::mapping::Wait;
use crate::bad_indices::BadIndices;
use crate::element::{GatherElement, GatherIndex};
use crate::error::{GatherError, GpuError};
use crate::gpu::fill::check_fill;
use crate::plan::GatherPlan;

/// Where gathers run on this machine. Print it to say so.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/executor.rs")]
/// ```
#[derive(Debug)]
pub enum Executor {
    /// This GPU.
    Gpu(Box<Gpu>),
    /// The CPU, because of this error.
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

    /// [`new`](Self::new), waiting for it on this thread.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn new_blocking() -> Self {
        Gpu::new_blocking().into()
    }

    /// Gathers with the same answer on either device: a bad row holds zero bytes, on the CPU too.
    ///
    /// # Errors
    ///
    /// Those of [`GatherPlan::run`], as [`GpuError::Run`], and of [`Gpu::gather`]. A plan whose policy is
    /// [`BadIndices::DeviceDefault`]: it would give zeros on one machine and an error on the next. On a GPU an
    /// operand beyond its largest buffer is an error; nothing then falls back to the CPU unasked.
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

    /// [`gather`](Self::gather), with `fill` in the slices of bad rows where [`BadIndices::Zero`] puts zeros.
    ///
    /// # Errors
    ///
    /// Those of [`gather`](Self::gather); on either device, elements too long for
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

    /// [`gather`](Self::gather), waiting for it on this thread.
    ///
    /// # Errors
    ///
    /// Those of [`gather`](Self::gather).
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

    /// [`gather_filled`](Self::gather_filled), waiting for it on this thread.
    ///
    /// # Errors
    ///
    /// Those of [`gather_filled`](Self::gather_filled).
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

    /// Refuses on either device what one of them refuses, before anything is moved.
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

/// On the CPU what a GPU gives: a bad row holds zero bytes, or the fill, and an element has some.
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
