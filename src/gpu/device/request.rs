//! The request for a gather on an owner's device: first the options, then `await` or `wait`.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::context::Gpu;
use super::gather::{into_tensor, to_host, to_tensor};
use super::input::{Indices, Input};
use super::mapping::Wait;
use super::tensor::Tensor;
use crate::element::{ElementTypes, GatherElement};
use crate::error::{GpuError, PlanError};
use crate::gpu::fill::Fill;
use crate::index::GatherIndex;
use crate::plan::{GatherPlan, ToPlan};

/// A boxed future, which may move to another thread; on wasm it may not.
#[cfg(not(target_arch = "wasm32"))]
pub(super) type Boxed<'a, O> = Pin<Box<dyn Future<Output = O> + Send + 'a>>;
#[cfg(target_arch = "wasm32")]
pub(super) type Boxed<'a, O> = Pin<Box<dyn Future<Output = O> + 'a>>;

#[cfg(not(target_arch = "wasm32"))]
pub(super) fn boxed<'a, O>(future: impl Future<Output = O> + Send + 'a) -> Boxed<'a, O> {
    Box::pin(future)
}
#[cfg(target_arch = "wasm32")]
pub(super) fn boxed<'a, O>(future: impl Future<Output = O> + 'a) -> Boxed<'a, O> {
    Box::pin(future)
}

/// A gather that starts when it is awaited or waited for. Made by [`Gpu::gather`], [`Gpu::gather_bytes`] and
/// [`Executor::gather`](crate::Executor::gather).
///
/// The output comes to the host as a `Vec`, unless [`on_gpu`](Self::on_gpu) or [`into_tensor`](Self::into_tensor) keeps
/// it on the GPU. Until the request is awaited or waited for, nothing is checked, recorded or submitted; dropping it
/// does nothing.
///
/// The first poll of the future submits all work. The future polls the device itself, and wakes itself until the output
/// is there, so it keeps its async runtime busy; in a browser it does not. Dropping the future drops the output. The
/// future is `Send`, except on wasm.
///
/// # Errors
///
/// Of the future and of [`wait`](Self::wait):
///
/// - [`GpuError::Plan`] for an operation that cannot be planned for the shapes of params and indices.
/// - [`GpuError::OtherOwner`] for a tensor of another owner.
/// - [`RunError::Length`](crate::RunError::Length) for an operand of the wrong length.
/// - [`GpuError::BufferTooLarge`] for an operand larger than one buffer of the device.
/// - [`RunError::BadIndex`](crate::RunError::BadIndex) for an index out of range, if the policy is
///   [`BadIndices::Error`](crate::BadIndices::Error).
/// - [`GpuError::InvalidElement`] if an app wrote bytes into the buffer of params that are no `T`.
/// - [`GatherError::FillBytes`](crate::GatherError::FillBytes) and
///   [`FillTooLong`](crate::GatherError::FillTooLong) for a fill of the wrong length, or that is too long.
/// - Errors of a device that is lost, and of a device or a host without memory.
///
/// ```
/// use wgpu_gather::{Gather, GatherNd, Gpu, wgpu};
///
/// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
/// # let gpu = Gpu::from_parts(device, queue);
/// let table = gpu.upload_shaped(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1], &[3, 2])?;
/// // The output stays on the GPU, as a tensor that the next gather takes.
/// let columns = gpu.gather(Gather::new().axis(1), &table, &[1]).fill(-1.0).on_gpu().wait()?;
/// assert_eq!(columns.shape(), [3, 1]);
/// let plan = GatherNd::new().plan(columns.shape(), &[2, 1])?;
/// assert_eq!(gpu.gather(&plan, &columns, &[2, 0]).wait()?.len(), 2);
/// # Ok::<(), wgpu_gather::GpuError>(())
/// ```
#[must_use = "nothing is gathered before the request is awaited or waited for"]
pub struct GatherRequest<'a, T, O = Vec<T>> {
    job: Job<'a, T>,
    finish: Finish<'a, T, O>,
}

/// All that a gather needs, unchecked.
pub(super) struct Job<'a, T> {
    /// `None` for the CPU.
    pub(super) gpu: Option<&'a Gpu>,
    pub(super) plan: Result<Cow<'a, GatherPlan>, PlanError>,
    pub(super) types: ElementTypes,
    pub(super) params: Input<'a, T>,
    pub(super) indices: Indices<'a>,
    /// True if operands are bytes, so that their lengths are in bytes.
    pub(super) in_bytes: bool,
    pub(super) fill: Option<Fill>,
    /// The tensor that takes the output, if it is the caller's.
    pub(super) output: Option<&'a mut Tensor<T>>,
    /// The tensor that takes the mask of bad rows.
    pub(super) mask: Option<&'a mut Tensor<bool>>,
}

type Finish<'a, T, O> = fn(Job<'a, T>, Wait) -> Boxed<'a, Result<O, GpuError>>;

impl<'a, T: GatherElement> GatherRequest<'a, T> {
    pub(super) fn new<I: GatherIndex>(
        gpu: Option<&'a Gpu>,
        plan: impl ToPlan<'a>,
        params: Input<'a, T>,
        indices: &Input<'a, I>,
    ) -> Self {
        let job = Job {
            gpu,
            plan: plan.to_plan(&params.shape(), &indices.shape()),
            types: ElementTypes::of::<T, I>(),
            params,
            indices: Indices::of(indices),
            in_bytes: false,
            fill: None,
            output: None,
            mask: None,
        };
        let finish = |job, wait| boxed(to_host(job, wait));
        Self { job, finish }
    }

    /// Keeps the output on the GPU, as a tensor of the plan's output shape; for bytes, the bytes of an element are a last
    /// dim. The request then waits for no work of the
    /// GPU, except for the report that the policy [`BadIndices::Error`](crate::BadIndices::Error) needs. The output of
    /// an [`Executor`](crate::Executor) without a GPU stays in host memory.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/chain.rs")]
    /// ```
    pub fn on_gpu(self) -> GatherRequest<'a, T, Tensor<T>> {
        GatherRequest {
            job: self.job,
            finish: |job, wait| boxed(to_tensor(job, wait)),
        }
    }

    /// Writes the output into the caller's tensor, which must have the number of elements of the plan's output. The
    /// request waits as for [`on_gpu`](Self::on_gpu). wgpu does not need to clear the memory of a
    /// tensor that is written again.
    ///
    /// A clone of the tensor on a GPU has the new elements too. A clone in host memory keeps the old ones.
    ///
    /// ```
    /// use wgpu_gather::{Gather, Gpu, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let gpu = Gpu::from_parts(device, queue);
    /// let table = gpu.upload_shaped(&[0.0_f32; 300], &[100, 3])?;
    /// let mut output = gpu.zeros(&[4, 3])?;
    /// for indices in [[0, 1, 2, 3], [96, 97, 98, 99]] {
    ///     gpu.gather(Gather::new(), &table, &indices).into_tensor(&mut output).wait()?;
    /// }
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn into_tensor(mut self, output: &'a mut Tensor<T>) -> GatherRequest<'a, T, ()> {
        self.job.output = Some(output);
        GatherRequest {
            job: self.job,
            finish: |job, wait| boxed(into_tensor(job, wait)),
        }
    }
}

impl<'a> GatherRequest<'a, u8> {
    pub(super) fn for_bytes(
        gpu: &'a Gpu,
        plan: &'a GatherPlan,
        types: ElementTypes,
        params: Input<'a, u8>,
        indices: &Input<'a, u8>,
    ) -> Self {
        let job = Job {
            gpu: Some(gpu),
            plan: Ok(Cow::Borrowed(plan)),
            types,
            params,
            indices: Indices::from_bytes(indices),
            in_bytes: true,
            fill: None,
            output: None,
            mask: None,
        };
        let finish = |job, wait| boxed(to_host(job, wait));
        Self { job, finish }
    }
}

impl<'a, T: GatherElement, O> GatherRequest<'a, T, O> {
    /// Bad rows hold `fill` instead of zeros. Widths are limited as for
    /// [`GatherBuffers::fill`](crate::GatherBuffers::fill). A request for bytes takes
    /// [`fill_bytes`](Self::fill_bytes).
    ///
    /// With [`BadIndices::DeviceDefault`](crate::BadIndices::DeviceDefault), a bad row is an error on an
    /// [`Executor`](crate::Executor) without a GPU, also with a fill. [`Fill`](crate::BadIndices::Fill) fills on each
    /// device.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/filled.rs")]
    /// ```
    pub fn fill(self, fill: T) -> Self {
        self.fill_bytes(bytemuck::bytes_of(&fill))
    }

    /// As [`fill`](Self::fill), but takes the bytes of one element.
    pub fn fill_bytes(mut self, fill: &[u8]) -> Self {
        self.job.fill = Some(Fill::new(fill));
        self
    }

    /// Writes the mask of bad rows into the caller's tensor, which must have
    /// [`index_row_count`](GatherPlan::index_row_count) elements: `true` for each index row that is out of range, as
    /// [`GatherPlan::out_of_range`] describes. The mask is written also if the output is empty, or if the request
    /// returns the error of a bad row. The request does not wait for the mask.
    ///
    /// A clone of the tensor on a GPU has the new elements too. A clone in host memory keeps the old ones.
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Executor, Gather};
    ///
    /// # let executor = Executor::Cpu(wgpu_gather::GpuError::NoAdapter("none".into()));
    /// let mut bad_rows = executor.upload(&[false; 3])?;
    /// let gather = Gather::new().bad_indices(BadIndices::Clamp);
    /// let rows = executor.gather(gather, &[10, 20, 30], &[2, 7, -1]).mask(&mut bad_rows).wait()?;
    /// assert_eq!(rows, [30, 30, 10]);
    /// assert_eq!(bad_rows.download().wait()?, [false, true, true]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn mask(mut self, mask: &'a mut Tensor<bool>) -> Self {
        self.job.mask = Some(mask);
        self
    }

    /// Gathers, and waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`GatherRequest`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(self) -> Result<O, GpuError> {
        pollster::block_on((self.finish)(self.job, Wait::Block))
    }
}

impl<'a, T, O> IntoFuture for GatherRequest<'a, T, O> {
    type Output = Result<O, GpuError>;
    type IntoFuture = Boxed<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        (self.finish)(self.job, Wait::Poll)
    }
}

impl<T, O> fmt::Debug for GatherRequest<'_, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatherRequest")
            .field("plan", &self.job.plan)
            .field("types", &self.job.types)
            .finish_non_exhaustive()
    }
}
