//! A device and its queue: on the fastest adapter, on an adapter of the caller's choice, or an app's own.

use std::fmt;

use super::owner::Owner;
use crate::error::GpuError;
use crate::gpu::gatherer::Gatherer;

/// A device and its queue, opened here or an app's own, with a [`Gatherer`].
///
/// A table belongs to the `Gpu` that made it, and no other `Gpu` takes it, not even one of the same device.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/gpu.rs")]
/// ```
#[derive(Debug)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) gatherer: Gatherer,
    pub(super) owner: Owner,
}

impl Gpu {
    /// Opens the fastest adapter that wgpu finds, with all of the adapter's limits.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoAdapter`] on a machine without an adapter, where the CPU path still runs; [`GpuError::NoDevice`]
    /// if the adapter gives no device.
    pub async fn new() -> Result<Self, GpuError> {
        check_back_ends().await?;
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = wgpu::Instance::default().request_adapter(&options).await;
        Self::with_adapter(&adapter.map_err(no_adapter)?).await
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

    /// Opens the adapter that the environment variables `WGPU_BACKEND`, `WGPU_ADAPTER_NAME` and `WGPU_POWER_PREF`
    /// select, as wgpu reads them. For tests and tools; a library should leave the choice to its app.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new); [`GpuError::NoAdapter`] also if no adapter's name contains
    /// `WGPU_ADAPTER_NAME`.
    pub async fn from_env() -> Result<Self, GpuError> {
        check_back_ends().await?;
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
        let adapter = if let Ok(name) = std::env::var("WGPU_ADAPTER_NAME") {
            adapter_named(&instance, &name).await?
        } else {
            let options = wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::from_env().unwrap_or_default(),
                ..Default::default()
            };
            let adapter = instance.request_adapter(&options).await;
            adapter.map_err(no_adapter)?
        };
        Self::with_adapter(&adapter).await
    }

    /// Opens a device on the caller's adapter, with all of the adapter's limits.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoDevice`] if the adapter gives none.
    pub async fn with_adapter(adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-gather/device"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let (device, queue) =
            adapter
                .request_device(&descriptor)
                .await
                .map_err(|error| GpuError::NoDevice {
                    adapter: adapter.get_info().name,
                    reason: error.to_string(),
                })?;
        log::debug!("device on {:?}", adapter.get_info());
        Ok(Self::from_parts(device, queue))
    }

    /// Takes an app's own device and queue. Their handlers stay as they are.
    #[must_use]
    pub fn from_parts(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let gatherer = Gatherer::new(&device);
        Self {
            device,
            queue,
            gatherer,
            owner: Owner::new(),
        }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue that gathers are submitted to.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// The gatherer of the device, which records into the caller's encoders.
    #[must_use]
    pub fn gatherer(&self) -> &Gatherer {
        &self.gatherer
    }
}

/// The adapter, its back end and its driver.
impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.device.adapter_info();
        write!(f, "{} ({}", info.name, info.backend)?;
        if !info.driver_info.is_empty() {
            write!(f, ", {}", info.driver_info)?;
        }
        f.write_str(")")
    }
}

/// Checks that wgpu can look for adapters. wgpu panics if no back end is built in and, on wasm, in a thread that is
/// neither the main thread nor a dedicated worker.
async fn check_back_ends() -> Result<(), GpuError> {
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Err(GpuError::NoAdapter("no back end of wgpu is enabled".into()));
    }
    if cfg!(target_arch = "wasm32") && !wgpu::util::is_browser_webgpu_supported().await {
        return Err(GpuError::NoAdapter("no WebGPU adapter here".into()));
    }
    Ok(())
}

/// The first adapter whose name contains `name`, in upper or lower case. wgpu's own choice by name panics if there is
/// no adapter of the name.
async fn adapter_named(instance: &wgpu::Instance, name: &str) -> Result<wgpu::Adapter, GpuError> {
    let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
    let names: Vec<_> = (adapters.iter())
        .map(|adapter| adapter.get_info().name)
        .collect();
    let wanted = name.to_lowercase();
    let mut with_names = adapters.into_iter().zip(&names);
    let found = with_names.find(|(_, name)| name.to_lowercase().contains(&wanted));
    found.map(|(adapter, _)| adapter).ok_or_else(|| {
        let names = names.join(", ");
        GpuError::NoAdapter(format!(
            "WGPU_ADAPTER_NAME is {name}, which is in none of the names: {names}"
        ))
    })
}

fn no_adapter(error: wgpu::RequestAdapterError) -> GpuError {
    let text = error.to_string();
    let reasons = text.strip_prefix("No suitable graphics adapter found; ");
    GpuError::NoAdapter(reasons.unwrap_or(&text).to_owned())
}
