//! A device for callers who have none: the fastest one, one of their choice, or an app's own.

use std::fmt;

use crate::error::GpuError;
use crate::gpu::gatherer::Gatherer;

/// A GPU of this machine, or an app's own, with a [`Gatherer`] on it.
///
/// ```no_run
#[doc = include_str!("../../../tests/doc_examples/gpu.rs")]
/// ```
#[derive(Debug)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) gatherer: Gatherer,
}

impl Gpu {
    /// The fastest adapter that wgpu finds, with all of the adapter's own limits.
    ///
    /// # Errors
    ///
    /// [`GpuError::NoAdapter`] on a machine without one: the CPU path runs there.
    pub async fn new() -> Result<Self, GpuError> {
        check_back_ends().await?;
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = wgpu::Instance::default().request_adapter(&options).await;
        Self::with_adapter(&adapter.map_err(no_adapter)?).await
    }

    /// [`new`](Self::new), waiting for it on this thread.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking() -> Result<Self, GpuError> {
        pollster::block_on(Self::new())
    }

    /// The adapter that the environment asks for, through `WGPU_BACKEND`, `WGPU_ADAPTER_NAME` and
    /// `WGPU_POWER_PREF` as wgpu reads them. For tests and tools; a library should leave the choice to
    /// its app.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new); no adapter has the name that is asked for.
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

    /// A device on an adapter of the caller's choice, with all of the adapter's own limits.
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

    /// An app's own device and queue. No handler of theirs is replaced.
    #[must_use]
    pub fn from_parts(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let gatherer = Gatherer::new(&device);
        Self {
            device,
            queue,
            gatherer,
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

    /// The gatherer on the device, to record into encoders of one's own.
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

/// wgpu panics where no back end was built in and, compiled to wasm, outside a main thread and dedicated workers.
async fn check_back_ends() -> Result<(), GpuError> {
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Err(GpuError::NoAdapter("no back end of wgpu is enabled".into()));
    }
    if cfg!(target_arch = "wasm32") && !wgpu::util::is_browser_webgpu_supported().await {
        return Err(GpuError::NoAdapter("no WebGPU adapter here".into()));
    }
    Ok(())
}

/// The first adapter with this in its name, upper or lower case. wgpu's own choice panics where there is none.
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
