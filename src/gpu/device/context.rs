//! A device and its queue: on the fastest adapter, on an adapter of the caller's choice, or an app's own.

use std::fmt;
use std::sync::{Arc, Mutex};

use super::gather::HostBuffers;
use super::options::GpuOptions;
use crate::error::GpuError;
use crate::gpu::gatherer::Gatherer;

/// The owner of a device and of the [`Tensor`](crate::Tensor)s on it: opened here, or made of an app's own device.
/// Clones are the same owner.
///
/// A tensor belongs to the `Gpu` that made it. Another `Gpu` refuses it, also one of the same device, with
/// [`GpuError::OtherOwner`].
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/gpu.rs")]
/// ```
#[derive(Debug, Clone)]
pub struct Gpu {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) gatherer: Gatherer,
    /// The buffers of the last gather to the host, for the next one.
    pub(super) host_buffers: Mutex<Option<HostBuffers>>,
}

impl Gpu {
    /// Opens the fastest adapter that wgpu finds, with all of the adapter's limits. Reads no environment variable.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoAdapter`] on a machine without an adapter, where the CPU path still runs; [`GpuError::NoDevice`]
    /// if the adapter gives no device.
    pub async fn new() -> Result<Self, GpuError> {
        Self::open(&GpuOptions::default()).await
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

    /// Opens the fastest adapter that the options admit, with all of the adapter's limits.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new); [`GpuError::NoAdapter`] names the adapters that the options do not admit.
    ///
    /// ```no_run
    /// use wgpu_gather::{Gpu, GpuOptions};
    ///
    /// # async fn open() -> Result<(), wgpu_gather::GpuError> {
    /// // WGPU_BACKEND=gl opens a GL adapter, WGPU_ADAPTER_NAME=nvidia one whose name contains "nvidia".
    /// let gpu = Gpu::open(&GpuOptions::from_env()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(options: &GpuOptions) -> Result<Self, GpuError> {
        let adapter = options.adapter().await?;
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
        let gatherer = Gatherer::new(&device);
        Self {
            inner: Arc::new(Inner {
                device,
                queue,
                gatherer,
                host_buffers: Mutex::new(None),
            }),
        }
    }

    /// True if both are the same owner.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// The queue that gathers are submitted to.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    /// The gatherer of the device, which records into the caller's encoders.
    #[must_use]
    pub fn gatherer(&self) -> &Gatherer {
        &self.inner.gatherer
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
