//! The owners that apps have: a GPU, or an executor that is a GPU or the CPU.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::indices::Indices;
use super::owner::Owner;
use super::request::{GatherRequest, gather, gather_bytes, gather_decoded};
use super::tensor::Tensor;
use crate::element::{ElementTypes, GatherElement};
use crate::encoding::{Encoded, Encoding};
use crate::error::GpuError;
use crate::gpu::gatherer::Gatherer;
use crate::index::GatherIndex;
use crate::plan::{GatherPlan, ToPlan};

/// The owner of a device and of the [`Tensor`]s on it: opened here, or made of an app's own device. Clones are the same
/// owner.
///
/// A tensor belongs to the `Gpu` that made it. Another `Gpu` refuses it, also one of the same device, with
/// [`GpuError::OtherOwner`].
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/gpu.rs")]
/// ```
#[derive(Clone)]
pub struct Gpu {
    owner: Arc<Owner>,
}

impl Gpu {
    /// Opens the fastest adapter that wgpu finds, with all of the adapter's limits. Reads no environment variable.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoAdapter`] on a machine without an adapter, where the CPU path still runs; [`GpuError::NoDevice`]
    /// if the adapter gives no device.
    pub async fn new() -> Result<Self, GpuError> {
        Self::from_adapter(&fastest_adapter().await?).await
    }

    /// As [`new`](Self::new), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking() -> Result<Self, GpuError> {
        pollster::block_on(Self::new())
    }

    /// Opens an adapter of the caller's choice, with all of its limits.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoDevice`] if the adapter gives no device.
    ///
    /// ```no_run
    /// use wgpu_gather::{Gpu, GpuError, wgpu};
    ///
    /// # async fn open() -> Result<(), GpuError> {
    /// let instance = wgpu::Instance::default();
    /// let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    /// let named = |adapter: &&wgpu::Adapter| adapter.get_info().name.contains("NVIDIA");
    /// if let Some(adapter) = adapters.iter().find(named) {
    ///     println!("gathering on {}", Gpu::from_adapter(adapter).await?);
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

    /// Takes an app's own device and queue. Their handlers stay as they are.
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
            owner: Arc::new(Owner::new(device, queue)),
        }
    }

    pub(super) fn owner(&self) -> &Arc<Owner> {
        &self.owner
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.owner.device
    }

    /// The queue that gathers are submitted to.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.owner.queue
    }

    /// The gatherer of the device, which records into the caller's encoders.
    #[must_use]
    pub fn gatherer(&self) -> &Gatherer {
        &self.owner.gatherer
    }

    /// Copies elements to the GPU, as a tensor of this shape: those of a `Vec` or of a slice, which `&[1, 2]` is too.
    ///
    /// # Errors
    ///
    /// - [`GatherError::Shape`](crate::GatherError::Shape) for a shape of more or fewer elements.
    /// - [`GatherError::ZeroSizedElement`](crate::GatherError::ZeroSizedElement) for elements of no bytes.
    /// - [`GpuError::BufferTooLarge`] for more bytes than one buffer of the device may have.
    /// - [`GatherError::OutOfMemory`](crate::GatherError::OutOfMemory) if the device has no memory for them.
    ///
    /// ```
    /// use wgpu_gather::{Gpu, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let gpu = Gpu::from_parts(device, queue);
    /// let table = gpu.upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1], &[3, 2])?;
    /// assert_eq!(table.shape(), [3, 2]);
    /// assert!(gpu.upload(vec![0.0_f32], &[3, 2]).is_err());
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn upload<'e, T: GatherElement>(
        &self,
        elements: impl Into<Cow<'e, [T]>>,
        shape: &[usize],
    ) -> Result<Tensor<T>, GpuError> {
        Tensor::upload(Some(&self.owner), elements.into(), shape)
    }

    /// A tensor of this shape whose elements have all bits zero, for instance as the output of
    /// [`into_tensor`](crate::Request::into_tensor).
    ///
    /// # Errors
    ///
    /// The errors of [`upload`](Self::upload), and [`GatherError::TooManyBytes`](crate::GatherError::TooManyBytes) for a
    /// shape of more than `i64::MAX` bytes.
    pub fn zeros<T: GatherElement>(&self, shape: &[usize]) -> Result<Tensor<T>, GpuError> {
        Tensor::zeros(Some(&self.owner), shape)
    }

    /// Gathers from `params` by `indices`: see [`Indices`]. The output comes to the host, or stays on the GPU. The
    /// request is awaited or waited for: see [`Request`](crate::Request).
    ///
    /// An operation in place of the plan is planned for the shapes of params and indices. A tensor starts with its buffer: of
    /// a field that is not the first of interleaved records, a [`Gatherer`](crate::Gatherer) takes the range.
    ///
    /// The `Gpu` keeps two buffers for the output of the next gather to the host: those of the largest output so far, of
    /// at most 256 MiB each.
    ///
    /// # Errors
    ///
    /// Of the request, before anything is submitted:
    ///
    /// - [`GpuError::Plan`] for an operation that cannot be planned for the shapes of params and indices.
    /// - [`GpuError::PlanShape`] for a plan of other shapes than params and indices have; [`GpuError::MissingShape`] for
    ///   indices of `GatherNd` in a slice without a shape.
    /// - [`GpuError::OtherOwner`] for a tensor of another owner.
    /// - [`RunError::Length`](crate::RunError::Length) for an operand of the wrong length.
    /// - [`GpuError::BufferTooLarge`] for an operand larger than one buffer of the device.
    /// - [`GatherError::FillBytes`](crate::GatherError::FillBytes) and
    ///   [`FillTooLong`](crate::GatherError::FillTooLong) for a fill of the wrong length, or that is too long.
    ///
    /// And after it:
    ///
    /// - [`RunError::BadIndex`](crate::RunError::BadIndex) for an index out of range, if the policy is
    ///   [`BadIndices::Error`](crate::BadIndices::Error).
    /// - [`GpuError::InvalidElement`] if an app wrote bytes into the buffer of params that are no `T`.
    /// - Errors of a device that is lost, and of a device or a host without memory.
    pub fn gather<'a, T: GatherElement, I: GatherIndex>(
        &'a self,
        plan: impl ToPlan<'a>,
        params: &'a Tensor<T>,
        indices: impl Into<Indices<'a, I>>,
    ) -> GatherRequest<'a, T> {
        gather(Some(&self.owner), plan, params, &indices.into())
    }

    /// As [`gather`](Self::gather), but decodes `params`, a tensor of the bytes of encoded rows. Its shape is that of the
    /// plan's params with the bytes of a row as the last dim: [`row_bytes`](Encoding::row_bytes) of the values. Scales and zero
    /// points that lie apart are tensors of bytes of any shape, given as [`Encoded`]. The output is `f32`.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather), with [`RunError::ByteLength`](crate::RunError::ByteLength) for params of the
    /// wrong length, and [`RunError::Block`](crate::RunError::Block) for a plan that cuts blocks.
    ///
    /// ```
    /// use wgpu_gather::{Encoding, Executor, Gather, GpuError};
    ///
    /// let executor = Executor::Cpu(GpuError::NoAdapter("none is asked for".into()));
    /// // Two rows of 32 values: the scale 0.5 as a half float, and 32 signed bytes.
    /// let table = [[0x00, 0x38].as_slice(), &[2; 32], &[0x00, 0x38], &[0xfe; 32]].concat();
    /// let table = executor.upload(table, &[2, 34])?;
    /// let rows = executor.gather_decoded(Gather::new(), Encoding::Q8_0, &table, &[1, 0]).wait()?;
    /// assert_eq!((rows.len(), rows[0], rows[32]), (64, -1.0, 1.0));
    /// # Ok::<(), GpuError>(())
    /// ```
    pub fn gather_decoded<'a, I: GatherIndex>(
        &'a self,
        plan: impl ToPlan<'a>,
        encoding: Encoding,
        params: impl Into<Encoded<&'a Tensor<u8>>>,
        indices: impl Into<Indices<'a, I>>,
    ) -> GatherRequest<'a, f32> {
        gather_decoded(
            Some(&self.owner),
            plan,
            encoding,
            params.into(),
            &indices.into(),
        )
    }

    /// As [`gather`](Self::gather), but on tensors of bytes, for types that are known only at run time: elements of
    /// `types.element_bytes()` bytes, and little-endian indices of `types.index_kind()`. The output is bytes too. The plan
    /// counts elements, so only the numbers of bytes are compared. It takes a plan and tensors only. With an encoding params
    /// is decoded, unless its scales lie in a tensor of their own.
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
        indices: &'a Tensor<u8>,
    ) -> GatherRequest<'a, u8> {
        gather_bytes(Some(&self.owner), plan, types, params, indices)
    }
}

impl<T: GatherElement> Tensor<T> {
    /// Elements of an app's buffer, from its start, as a tensor of this shape. The buffer has the usages `STORAGE`,
    /// `COPY_SRC` and `COPY_DST`. Nothing is copied: the tensor and the app share the buffer.
    ///
    /// The buffer must be of the device of `gpu`. No check can see whose buffer it is: wgpu may take a buffer of another
    /// `wgpu::Instance` for one of its own.
    ///
    /// # Errors
    ///
    /// - [`GatherError::ZeroSizedElement`](crate::GatherError::ZeroSizedElement) for elements of no bytes.
    /// - [`GatherError::MissingUsage`](crate::GatherError::MissingUsage) for a buffer without one of the usages.
    /// - [`GatherError::TooManyBytes`](crate::GatherError::TooManyBytes) for elements of more than `i64::MAX` bytes.
    /// - [`GatherError::RangeTooShort`](crate::GatherError::RangeTooShort) for a buffer of fewer bytes than the elements,
    ///   rounded up to a multiple of 4.
    ///
    /// ```
    /// use wgpu_gather::{Gpu, Tensor, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    /// let descriptor = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
    /// let buffer = device.create_buffer(&descriptor);
    /// let gpu = Gpu::from_parts(device, queue);
    /// assert_eq!(Tensor::<f32>::from_buffer(&gpu, buffer.clone(), &[8, 2])?.shape(), [8, 2]);
    /// assert!(Tensor::<f32>::from_buffer(&gpu, buffer, &[17]).is_err());
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn from_buffer(gpu: &Gpu, buffer: wgpu::Buffer, shape: &[usize]) -> Result<Self, GpuError> {
        Self::over(&gpu.owner, buffer, shape)
    }
}

/// `Gpu(..)` around the text of [`Display`](fmt::Display): one line, also by `{:#?}`.
impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu({self})")
    }
}

/// The adapter, its back end and its driver.
impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.device().adapter_info();
        write!(f, "{} ({}", info.name, info.backend)?;
        if !info.driver_info.is_empty() {
            write!(f, ", {}", info.driver_info)?;
        }
        f.write_str(")")
    }
}

/// The fastest adapter that wgpu finds.
pub(super) async fn fastest_adapter() -> Result<wgpu::Adapter, GpuError> {
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
