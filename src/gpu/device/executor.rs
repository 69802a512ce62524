//! The owner of tensors: a GPU, or the CPU.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::bags::BagsOperand;
use super::gather::{Params, ParamsOperand, Unchecked, planned};
use super::indices::Indices;
use super::nonzero::nonzero;
use super::owner::Owner;
use super::request::Request;
use super::tensor::{Tensor, rows_shape};
use super::waiting::{Wait, boxed};
use crate::bags::Bags;
use crate::element::{Element, ElementTypes};
use crate::encoding::{Encoded, Float};
use crate::error::GpuError;
use crate::gpu::gatherer::Gatherer;
use crate::index::Index;
use crate::mask::Mask;
use crate::operand::Operand;
use crate::plan::{GatherPlan, ToPlan};
use crate::reduce::Reduce;

/// Gathers and scatters on a GPU or on the CPU, and owns the tensors there.
///
/// CPU and GPU give the same output, except for one default: an out-of-range index gives zeros on a GPU and an error on the CPU, as in
/// TensorFlow. With any policy but `DeviceDefault`, for example `.bad_indices(BadIndices::Fill)`, both give the same output or the
/// same error. After that error your tensors may differ: a GPU has written the good rows; on the CPU a scatter has written nothing,
/// and what [`into_tensor`](Request::into_tensor) has written is unspecified. [`Encoding`](crate::Encoding) lists rare encoded values
/// whose bits may differ too.
///
/// | made by | runs on |
/// |---|---|
/// | [`gpu`](Self::gpu), [`from_adapter`](Self::from_adapter) | a GPU; an error if there is none |
/// | [`from_parts`](Self::from_parts) | an app's own device |
/// | [`cpu`](Self::cpu) | the CPU |
/// | [`gpu_or_cpu`](Self::gpu_or_cpu) | the GPU of this machine if it has one, else the CPU |
///
/// An executor takes only the [`Tensor`]s that it made: [`GpuError::OtherOwner`] refuses others, also those of the same
/// device. An executor of the CPU also takes tensors that another executor of the CPU made. Clones are the same executor, and
/// threads may share one by `&`, except on wasm. Print one to see the device and, if there is no GPU, the reason.
///
/// ```
/// use wgpu_gather::{BadIndices, Executor, Gather};
///
/// let executor = Executor::gpu_or_cpu_blocking(); // or Executor::gpu_or_cpu().await
/// println!("gathering on {executor}");
/// let table = executor.upload(&[1.0_f32, 2.0, 3.0], &[3])?; // on the GPU, or in host memory
/// let gather = Gather::new().bad_indices(BadIndices::Fill);
/// let output = executor.gather(gather, &table, &[2, 3]).fill(-1.0).wait()?;
/// assert_eq!(output, [3.0, -1.0]);
/// # Ok::<(), wgpu_gather::GpuError>(())
/// ```
#[derive(Clone)]
pub struct Executor {
    /// For the CPU, the reason why there is no GPU, if one was looked for.
    owner: Result<Arc<Owner>, Option<GpuError>>,
}

impl Executor {
    /// Opens the fastest adapter that wgpu finds, even if it is only a software driver's, and requests all its limits. Reads no
    /// environment variable, not even `WGPU_BACKEND`. `device()?.adapter_info().device_type` tells what you got: `Cpu` is a software driver.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoAdapter`] if the machine has no adapter; [`Executor::cpu`](Self::cpu) still works there. [`GpuError::NoDevice`] if the
    /// adapter gives no device.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/gpu.rs")]
    /// ```
    pub async fn gpu() -> Result<Self, GpuError> {
        Self::from_adapter(&fastest_adapter().await?).await
    }

    /// As [`gpu`](Self::gpu), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`gpu`](Self::gpu).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gpu_blocking() -> Result<Self, GpuError> {
        pollster::block_on(Self::gpu())
    }

    /// The CPU. Tensors lie in host memory. A request gathers on the thread that polls it or waits for it, and in that thread's
    /// rayon pool.
    #[must_use]
    pub fn cpu() -> Self {
        Self { owner: Err(None) }
    }

    /// The fastest GPU that wgpu finds, else the CPU. A software driver, which emulates a GPU on the CPU, is not taken:
    /// the CPU path is faster.
    ///
    /// The choice is made once. If the GPU later refuses an upload or a gather, for instance because a table is larger than the GPU's largest
    /// buffer, you get the error; the CPU does not take over.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/browser.rs")]
    /// ```
    pub async fn gpu_or_cpu() -> Self {
        match open_hardware().await {
            Ok(gpu) => gpu,
            Err(error) => Self {
                owner: Err(Some(error)),
            },
        }
    }

    /// As [`gpu_or_cpu`](Self::gpu_or_cpu), but waits on this thread.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub fn gpu_or_cpu_blocking() -> Self {
        pollster::block_on(Self::gpu_or_cpu())
    }

    /// Opens the adapter that you chose, with all its limits.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoDevice`] if the adapter gives no device.
    ///
    /// ```no_run
    /// use wgpu_gather::{Executor, GpuError, wgpu};
    ///
    /// # async fn open() -> Result<(), GpuError> {
    /// let instance = wgpu::Instance::default();
    /// let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    /// let named = |adapter: &&wgpu::Adapter| adapter.get_info().name.contains("NVIDIA");
    /// if let Some(adapter) = adapters.iter().find(named) {
    ///     println!("gathering on {}", Executor::from_adapter(adapter).await?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn from_adapter(adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-gather/device"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let device = adapter.request_device(&descriptor).await;
        let (device, queue) = device.map_err(|error| GpuError::NoDevice {
            adapter: adapter.get_info().name,
            reason: error.to_string(),
        })?;
        log::debug!("device on {:?}", adapter.get_info());
        Ok(Self::from_parts(device, queue))
    }

    /// Takes an app's own device and queue, and leaves their error handlers as they are.
    #[must_use]
    #[cfg_attr(
        target_arch = "wasm32",
        expect(
            clippy::arc_with_non_send_sync,
            reason = "on wasm wgpu's types stay on one thread"
        )
    )]
    pub fn from_parts(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self {
            owner: Ok(Arc::new(Owner::new(device, queue))),
        }
    }

    /// The owner of buffers on a GPU; `None` for the CPU.
    fn owner(&self) -> Option<&Arc<Owner>> {
        self.owner.as_ref().ok()
    }

    fn on_gpu(&self) -> Result<&Arc<Owner>, GpuError> {
        self.owner.as_ref().map_err(|reason| {
            let asked_for = || GpuError::NoAdapter("the executor is the CPU".into());
            reason.clone().unwrap_or_else(asked_for)
        })
    }

    /// The device.
    ///
    /// # Errors
    ///
    /// On an executor of the CPU, the reason why it has no GPU.
    pub fn device(&self) -> Result<&wgpu::Device, GpuError> {
        Ok(&self.on_gpu()?.device)
    }

    /// The queue that gathers are submitted to.
    ///
    /// # Errors
    ///
    /// On an executor of the CPU, the reason why it has no GPU.
    pub fn queue(&self) -> Result<&wgpu::Queue, GpuError> {
        Ok(&self.on_gpu()?.queue)
    }

    /// The gatherer of the device, which records into the caller's encoders.
    ///
    /// # Errors
    ///
    /// On an executor of the CPU, the reason why it has no GPU.
    pub fn gatherer(&self) -> Result<&Gatherer, GpuError> {
        Ok(&self.on_gpu()?.gatherer)
    }

    /// Copies elements to the device, as a tensor of this shape: those of a `Vec` or of a slice, which `&[1, 2]` is too. On
    /// the CPU the tensor takes a `Vec` over without a copy.
    ///
    /// # Errors
    ///
    /// - [`GpuError::Shape`] for a shape of more or fewer elements.
    /// - [`GatherError::ZeroSizedElement`](crate::GatherError::ZeroSizedElement) for elements of no bytes.
    /// - [`GpuError::BufferTooLarge`] for more bytes than one buffer of the device may have.
    /// - [`GatherError::OutOfMemory`](crate::GatherError::OutOfMemory) if the device has no memory for them; on the CPU,
    ///   [`RunError::OutOfMemory`](crate::RunError::OutOfMemory).
    ///
    /// ```
    /// use wgpu_gather::{Executor, Gather, GpuError};
    ///
    /// let executor = Executor::cpu();
    /// let table = executor.upload(vec![10, 11, 20, 21, 30, 31], &[3, 2])?;
    /// assert_eq!(executor.gather(Gather::new(), &table, &[2]).wait()?, [30, 31]);
    /// assert!(executor.upload(&[0.0_f32], &[3, 2]).is_err());
    /// # Ok::<(), GpuError>(())
    /// ```
    pub fn upload<'e, T: Element>(
        &self,
        elements: impl Into<Cow<'e, [T]>>,
        shape: &[usize],
    ) -> Result<Tensor<T>, GpuError> {
        Tensor::upload(self.owner(), elements.into(), shape)
    }

    /// Copies encoded params (rows, scales and zero points) to the GPU; on an executor of the CPU, into host memory. On the CPU you need no executor:
    /// [`GatherPlan::gather_encoded`] gathers from a mapped file without this copy. `shape` counts values, as a plan's does: `[rows, values]`
    /// for a table whose rows each have so many values. Pass what you get as params to [`gather`](Self::gather).
    ///
    /// The tensors hold bytes, those of rows in the shape `[rows, bytes of a row]`. So you need no upload if params lies in your own
    /// buffer already, or if the executor is the CPU and you hand over a `Vec`: make an `Encoded` of a `Tensor<u8>` of that shape.
    ///
    /// # Errors
    ///
    /// - As [`upload`](Self::upload).
    /// - [`PlanError::TooManyElements`](crate::PlanError::TooManyElements) if no number counts the values.
    /// - [`PlanError::CutBlock`](crate::PlanError::CutBlock) if the last dim is not whole blocks.
    /// - [`RunError::ByteLength`](crate::RunError::ByteLength) if rows, scales or zero points have the wrong length.
    /// - [`RunError::MissingOperand`](crate::RunError::MissingOperand) if the encoding has scales or zero points that you do not
    ///   give; [`RunError::UnexpectedOperand`](crate::RunError::UnexpectedOperand) if you give some that it does not have.
    ///
    /// ```
    /// use wgpu_gather::{Encoded, Encoding, Executor, Gather, GpuError};
    ///
    /// let executor = Executor::cpu();
    /// // Two rows of 32 values: the scale 0.5 as a half float, and 32 signed bytes.
    /// let table = [[0x00, 0x38].as_slice(), &[2; 32], &[0x00, 0x38], &[0xfe; 32]].concat();
    /// let table = executor.upload_encoded(&Encoded::new(Encoding::Q8_0, table), &[2, 32])?;
    /// let rows = executor.gather(Gather::new(), &table, &[1, 0]).wait()?;
    /// assert_eq!((rows.len(), rows[0], rows[32]), (64, -1.0, 1.0));
    ///
    /// let halves = executor.upload(vec![0x00_u8, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b], &[2, 4])?;
    /// let table = Encoded::new(Encoding::F16, halves);
    /// assert_eq!(executor.gather(Gather::new(), &table, &[0]).wait()?, [1.0, -2.0]);
    /// # Ok::<(), GpuError>(())
    /// ```
    pub fn upload_encoded<T: Float>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        shape: &[usize],
    ) -> Result<Encoded<Tensor<u8>, T>, GpuError> {
        let params = params.map(AsRef::as_ref);
        let rows_shape = rows_shape(&params, shape)?;
        let params = params.try_map(|operand, &bytes| match operand {
            Operand::Params => self.upload(bytes, &rows_shape),
            _ => self.upload(bytes, &[bytes.len()]),
        })?;
        Ok(params.to())
    }

    /// Makes a tensor with this shape whose elements have all bits zero, for instance as an output for
    /// [`into_tensor`](crate::Request::into_tensor).
    ///
    /// # Errors
    ///
    /// As [`upload`](Self::upload). Above `i64::MAX` bytes [`GatherError::TooManyBytes`](crate::GatherError::TooManyBytes), or
    /// [`PlanError::TooManyElements`](crate::PlanError::TooManyElements) if no number counts the elements.
    pub fn zeros<T: Element>(&self, shape: &[usize]) -> Result<Tensor<T>, GpuError> {
        Tensor::zeros(self.owner(), shape)
    }

    /// The numbers of a mask's true entries, in order, as a tensor of as many: row numbers for [`gather`](Self::gather) and
    /// [`scatter`](Self::scatter), which so do `x[mask]` and `x[mask] = v`. Pass `&tensor` of `bool`, `u8` or `u32`, or a [`Mask`] of
    /// `&tensor`.
    ///
    /// On a GPU the numbers stay there; only their count comes to the host. The tensor's buffer has room for as many numbers as
    /// the mask has entries. To wait for no count, use [`Gatherer::prepare_nonzero`].
    ///
    /// # Errors
    ///
    /// - [`GpuError::OtherOwner`] if another executor owns the mask.
    /// - As [`Mask::nonzero`] and [`Gatherer::prepare_nonzero`].
    /// - The device is lost, or has no memory.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Gather, GpuError, Mask};
    ///
    /// let executor = Executor::cpu();
    /// let x = executor.upload(&[10, 11, 20, 21, 30, 31], &[3, 2])?;
    /// let mask = executor.upload(&[true, false, true], &[3])?;
    /// let numbers = executor.nonzero_blocking(&mask)?; // or executor.nonzero(&mask).await
    /// assert_eq!(executor.gather(Gather::new(), &x, &numbers).wait()?, [10, 11, 30, 31]);
    /// let others = executor.nonzero_blocking(Mask::from(&mask).inverted())?;
    /// assert_eq!(executor.gather(Gather::new(), &x, &others).wait()?, [20, 21]);
    /// # Ok::<(), GpuError>(())
    /// ```
    pub async fn nonzero<'a, M: Element>(
        &self,
        mask: impl Into<Mask<&'a Tensor<M>>>,
    ) -> Result<Tensor<u32>, GpuError> {
        boxed(nonzero(self.owner(), mask.into(), Wait::Poll)).await
    }

    /// As [`nonzero`](Self::nonzero), but waits on this thread.
    ///
    /// # Errors
    ///
    /// As [`nonzero`](Self::nonzero).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn nonzero_blocking<'a, M: Element>(
        &self,
        mask: impl Into<Mask<&'a Tensor<M>>>,
    ) -> Result<Tensor<u32>, GpuError> {
        pollster::block_on(nonzero(self.owner(), mask.into(), Wait::Block))
    }

    /// Gathers from `params`, a [`Tensor`] or an [`Encoded`] of tensors, by `indices`: see [`Indices`]. Await the [`Request`] or call
    /// its `wait`. The output comes to the host, unless you call `on_gpu` or `into_tensor` on the request. Encoded params is decoded to `f32`, or to halves by
    /// [`Encoded::to`].
    ///
    /// Instead of a plan you may pass a [`Gather`](crate::Gather), [`GatherNd`](crate::GatherNd) or
    /// [`GatherElements`](crate::GatherElements): the call then makes the plan, with the shapes of params and indices.
    ///
    /// A tensor begins at byte 0 of its buffer. To gather a later field of interleaved records, use a
    /// [`Gatherer`](crate::Gatherer), which takes a buffer range.
    ///
    /// On a GPU, a gather to the host needs an output buffer and a readback buffer. The executor keeps the largest pair so far
    /// for the next gather, if each has at most 256 MiB.
    ///
    /// # Errors
    ///
    /// From the request, before it submits anything:
    ///
    /// - [`RunError::Plan`](crate::RunError::Plan) if the operation cannot be planned for these shapes.
    /// - [`RunError::PlanShape`](crate::RunError::PlanShape) for a tensor, or a slice with its shape, whose shape is not the plan's. If the plan is a
    ///   shard or has a params stride, only lengths are compared.
    /// - [`GpuError::MissingShape`] if you pass `GatherNd` with a slice that has no shape.
    /// - [`GpuError::OtherOwner`] if another executor owns the tensor.
    /// - [`RunError::Length`](crate::RunError::Length) if only lengths are compared, as for a slice without a shape, and one
    ///   is wrong.
    /// - [`GpuError::BufferTooLarge`] if one buffer of the device cannot hold an operand.
    /// - [`GatherError::FillBytes`](crate::GatherError::FillBytes) or [`FillTooLong`](crate::GatherError::FillTooLong) if a fill
    ///   has the wrong length or is too long.
    ///
    /// And afterwards:
    ///
    /// - [`RunError::BadIndex`](crate::RunError::BadIndex) for an index out of range, if the policy is
    ///   [`BadIndices::Error`](crate::BadIndices::Error) or, on the CPU, `DeviceDefault`.
    /// - [`GpuError::InvalidElement`] if an app wrote bytes into the buffer of params that are no `T`.
    /// - The device is lost, or device or host have no memory.
    pub fn gather<'a, T: Element, I: Index>(
        &'a self,
        plan: impl ToPlan<'a>,
        params: impl Into<Params<'a, T>>,
        indices: impl Into<Indices<'a, I>>,
    ) -> Request<'a, T> {
        let (Params(params), indices) = (params.into(), indices.into());
        let plan = params
            .shape()
            .and_then(|shape| planned(plan, (Operand::Params, &shape), &indices));
        let types = match params.decoding() {
            Some(of) => ElementTypes::decoded(of.encoding, of.to, I::KIND),
            None => ElementTypes::of::<T, I>(),
        };
        let input = Unchecked::new(self.owner(), plan, types, params, indices.operand());
        Request::to_host(input)
    }

    /// Combines the rows that each bag of indices selects: what [`GatherPlan::gather_bags`] does on the CPU, with the same bits. The
    /// output has the shape `[bags, ..]`, with the dims of params after the first. `T` is `f32`, or with the feature `half` also
    /// `half::f16` or `half::bf16`; encoded params are decoded to their `T`. Offsets are a tensor of the type of the indices, and
    /// weights one of `f32`.
    ///
    /// A GPU does not check offsets: [`Gatherer::prepare_bags`] says what it makes of those that are not in order.
    ///
    /// # Errors
    ///
    /// - As [`gather`](Self::gather), and [`PlanError::Bags`](crate::PlanError::Bags) for a plan of other rows than those along the first
    ///   axis.
    /// - [`GatherError::DeviceLimit`](crate::GatherError::DeviceLimit) if one binding does not hold each operand.
    /// - [`GatherError::UnexpectedOperand`](crate::GatherError::UnexpectedOperand) if you ask for a mask.
    /// - On the CPU, [`RunError::Offset`](crate::RunError::Offset).
    ///
    /// ```
    /// use wgpu_gather::{Bags, Executor, Gather};
    ///
    /// let executor = Executor::cpu(); // or Executor::gpu_or_cpu_blocking()
    /// let table = executor.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2])?;
    /// let offsets = executor.upload(&[0_u32, 2, 3], &[3])?;
    /// let means = executor.gather_bags(Gather::new(), &table, &[0_u32, 2, 1], Bags::mean(&offsets));
    /// assert_eq!(means.wait()?, [3.0, 4.0, 3.0, 4.0]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn gather_bags<'a, T: Element + Float, I: Index>(
        &'a self,
        plan: impl ToPlan<'a>,
        params: impl Into<Params<'a, T>>,
        indices: impl Into<Indices<'a, I>>,
        bags: Bags<&'a Tensor<I>, &'a Tensor<f32>>,
    ) -> Request<'a, T, Vec<T>, Bags<()>> {
        let (Params(params), indices) = (params.into(), indices.into());
        let plan = params
            .shape()
            .and_then(|shape| planned(plan, (Operand::Params, &shape), &indices));
        let types = match params.decoding() {
            Some(of) => ElementTypes::decoded(of.encoding, of.to, I::KIND),
            // Halves are widened.
            None => ElementTypes::decoded(T::KIND.encoding(), T::KIND, I::KIND),
        };
        Request::to_host(Unchecked {
            bags: Some(BagsOperand::new(bags)),
            ..Unchecked::new(self.owner(), plan, types, params, indices.operand())
        })
    }

    /// As [`gather`](Self::gather), but on bytes, if you know the types only at run time: each element has
    /// `types.element_bytes()` bytes. Indices are a tensor or a slice of bytes: little-endian numbers of type
    /// `types.index_kind()`. The output is bytes too. The plan's shapes count elements, so the call compares numbers of bytes, and no shapes.
    ///
    /// If `types` has an encoding, params is decoded. The call takes no scales, so it refuses a `BlockQuantized`; `gather` takes one.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather), with [`RunError::ByteLength`](crate::RunError::ByteLength) for an operand
    /// of the wrong length.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/bytes.rs")]
    /// ```
    pub fn gather_bytes<'a>(
        &'a self,
        plan: &'a GatherPlan,
        types: ElementTypes,
        params: &'a Tensor<u8>,
        indices: impl Into<Indices<'a, u8>>,
    ) -> Request<'a, u8, Vec<u8>, [u8]> {
        let (plan, indices) = (Ok(Cow::Borrowed(plan)), indices.into().operand());
        let params = match types.decoding {
            Some(of) => ParamsOperand::Encoded(Encoded::new(of.encoding, params), of.to),
            None => ParamsOperand::Elements(params),
        };
        let mut input = Unchecked::new(self.owner(), plan, types, params, indices);
        input.in_bytes = true;
        Request::to_host(input)
    }

    /// Scatters `updates` to the rows of `target` that `indices` select: the inverse of [`gather`](Self::gather), and what
    /// [`GatherPlan::scatter`] does on the CPU. The request assigns, unless [`reduce`](Request::reduce) is called.
    ///
    /// With [`BadIndices::DeviceDefault`](crate::BadIndices::DeviceDefault) or [`Error`](crate::BadIndices::Error), a GPU drops bad
    /// rows and writes the good ones; with `Error` the request then returns the error. The CPU returns the error and writes nothing.
    /// All other policies do the same on both.
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather). [`PlanError::StretchedTarget`](crate::PlanError::StretchedTarget) if the plan cannot scatter;
    /// [`GatherError::UnsupportedReduce`](crate::GatherError::UnsupportedReduce) if a GPU lacks the reduction.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Gather, Reduce};
    ///
    /// let executor = Executor::cpu(); // or Executor::gpu_or_cpu_blocking()
    /// let mut counts = executor.zeros::<u32>(&[3])?;
    /// let ones = executor.upload(&[1, 1, 1], &[3])?;
    /// executor.scatter(Gather::new(), &ones, &[2, 0, 2], &mut counts).reduce(Reduce::Add).wait()?;
    /// assert_eq!(counts.download_blocking()?, [1, 0, 2]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn scatter<'a, T: Element, I: Index>(
        &'a self,
        plan: impl ToPlan<'a>,
        updates: &'a Tensor<T>,
        indices: impl Into<Indices<'a, I>>,
        target: &'a mut Tensor<T>,
    ) -> Request<'a, T, (), Reduce> {
        let (rules, indices) = (plan.rules(), indices.into());
        let plan = planned(plan, (Operand::Target, target.shape()), &indices);
        let (types, updates) = (ElementTypes::of::<T, I>(), ParamsOperand::Elements(updates));
        Request::scatter(Unchecked {
            is_scatter: true,
            output: Some(target),
            rules,
            ..Unchecked::new(self.owner(), plan, types, updates, indices.operand())
        })
    }
}

impl<T: Element> Tensor<T> {
    /// Elements of an app's buffer, from its start, as a tensor of this shape. The buffer has the usages `STORAGE`,
    /// `COPY_SRC` and `COPY_DST`. Nothing is copied: the tensor and the app share the buffer.
    ///
    /// The buffer must be of the device of `executor`. No check can see whose buffer it is: wgpu may take a buffer of another
    /// `wgpu::Instance` for one of its own.
    ///
    /// # Errors
    ///
    /// - On an executor of the CPU, the reason why it has no GPU.
    /// - [`GatherError::ZeroSizedElement`](crate::GatherError::ZeroSizedElement) for elements of no bytes.
    /// - [`GatherError::MissingUsage`](crate::GatherError::MissingUsage) for a buffer without one of the usages.
    /// - [`GatherError::TooManyBytes`](crate::GatherError::TooManyBytes) for elements of more than `i64::MAX` bytes;
    ///   [`PlanError::TooManyElements`](crate::PlanError::TooManyElements) if no number counts them.
    /// - [`GatherError::RangeTooShort`](crate::GatherError::RangeTooShort) for a buffer of fewer bytes than the elements,
    ///   rounded up to a multiple of 4.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Tensor, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    /// let descriptor = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
    /// let buffer = device.create_buffer(&descriptor);
    /// let executor = Executor::from_parts(device, queue);
    /// assert_eq!(Tensor::<f32>::from_buffer(&executor, buffer.clone(), &[8, 2])?.shape(), [8, 2]);
    /// assert!(Tensor::<f32>::from_buffer(&executor, buffer, &[17]).is_err());
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn from_buffer(
        executor: &Executor,
        buffer: wgpu::Buffer,
        shape: &[usize],
    ) -> Result<Self, GpuError> {
        Self::over(executor.on_gpu()?, buffer, shape)
    }
}

/// `Executor(..)` around the text of [`Display`](fmt::Display): one line, also by `{:#?}`.
impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executor({self})")
    }
}

/// The adapter, its back end and its driver; or the CPU, and why there is no GPU.
impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match &self.owner {
            Ok(owner) => owner,
            Err(None) => return f.write_str("the CPU"),
            Err(Some(error)) => return write!(f, "the CPU ({error})"),
        };
        let info = owner.device.adapter_info();
        write!(f, "{} ({}", info.name, info.backend)?;
        if !info.driver_info.is_empty() {
            write!(f, ", {}", info.driver_info)?;
        }
        f.write_str(")")
    }
}

/// A GPU that is no software adapter.
async fn open_hardware() -> Result<Executor, GpuError> {
    // wgpu takes a software adapter last.
    let adapter = fastest_adapter().await?;
    let info = adapter.get_info();
    if info.device_type == wgpu::DeviceType::Cpu {
        let name = info.name;
        return Err(GpuError::NoAdapter(format!(
            "only the software adapter {name}, which is slower than the CPU path"
        )));
    }
    Executor::from_adapter(&adapter).await
}

/// The fastest adapter that wgpu finds.
async fn fastest_adapter() -> Result<wgpu::Adapter, GpuError> {
    // wgpu panics if no back end is built in and, on wasm, in a thread that is neither the main thread nor a dedicated
    // worker.
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Err(GpuError::NoAdapter("no back end of wgpu is enabled".into()));
    }
    if cfg!(target_arch = "wasm32") && !wgpu::util::is_browser_webgpu_supported().await {
        return Err(GpuError::NoAdapter("no WebGPU adapter here".into()));
    }
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // Objects have no names in the driver: Vulkan's loader crashes where one thread names an object while another makes
    // an instance (gfx-rs/wgpu#5270), and in debug builds wgpu names all objects by default.
    descriptor.flags = wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL;
    let instance = wgpu::Instance::new(descriptor);
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    };
    let adapter = instance.request_adapter(&options).await;
    adapter.map_err(|error| {
        let text = error.to_string();
        let reasons = text.strip_prefix("No suitable graphics adapter found; ");
        GpuError::NoAdapter(reasons.unwrap_or(&text).to_owned())
    })
}
