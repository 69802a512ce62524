//! The choice of an adapter.

use crate::error::GpuError;

/// The adapter, or the adapters among which [`Gpu::open`](crate::Gpu::open) takes the fastest.
///
/// By default every adapter that wgpu finds may be taken, also one that emulates a GPU on the CPU.
///
/// ```
/// use wgpu_gather::{GpuOptions, wgpu};
///
/// let options = GpuOptions { backends: wgpu::Backends::VULKAN, software: false, ..Default::default() };
/// assert_eq!(options.adapter_name, None);
/// ```
#[derive(Debug, Clone)]
pub struct GpuOptions {
    /// An adapter of the caller's. The other options then count for nothing.
    pub adapter: Option<wgpu::Adapter>,
    /// The back ends of wgpu that are asked for adapters: all, unless set.
    pub backends: wgpu::Backends,
    /// wgpu's flags for validation and debugging.
    pub flags: wgpu::InstanceFlags,
    /// wgpu's options for single back ends.
    pub backend_options: wgpu::BackendOptions,
    /// A part of the adapter's name, in upper or lower case.
    pub adapter_name: Option<String>,
    /// The power that the adapter may take: high, unless set.
    pub power_preference: wgpu::PowerPreference,
    /// True if a software adapter may be taken: one that emulates a GPU on the CPU, as lavapipe, SwiftShader and WARP
    /// do. Software adapters are slower than [`GatherPlan::run`](crate::GatherPlan::run), and good for tests.
    pub software: bool,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            adapter: None,
            backends: wgpu::Backends::all(),
            flags: wgpu::InstanceFlags::default(),
            backend_options: wgpu::BackendOptions::default(),
            adapter_name: None,
            power_preference: wgpu::PowerPreference::HighPerformance,
            software: true,
        }
    }
}

impl GpuOptions {
    /// The options that the environment variables `WGPU_BACKEND`, `WGPU_ADAPTER_NAME`, `WGPU_POWER_PREF` and wgpu's
    /// variables for debugging give, as wgpu reads them, and the defaults where a variable is not set. For tests and
    /// tools: a library should leave the choice to its app.
    ///
    /// ```
    /// use wgpu_gather::GpuOptions;
    ///
    /// if std::env::var_os("WGPU_ADAPTER_NAME").is_none() {
    ///     assert_eq!(GpuOptions::from_env().adapter_name, None);
    /// }
    /// ```
    #[must_use]
    pub fn from_env() -> Self {
        let defaults = Self::default();
        Self {
            backends: wgpu::Backends::from_env().unwrap_or(defaults.backends),
            flags: wgpu::InstanceFlags::from_env_or_default(),
            backend_options: wgpu::BackendOptions::from_env_or_default(),
            adapter_name: std::env::var("WGPU_ADAPTER_NAME").ok(),
            power_preference: wgpu::PowerPreference::from_env()
                .unwrap_or(defaults.power_preference),
            ..defaults
        }
    }

    /// The adapter that these options choose.
    pub(super) async fn adapter(&self) -> Result<wgpu::Adapter, GpuError> {
        if let Some(adapter) = &self.adapter {
            return Ok(adapter.clone());
        }
        check_back_ends().await?;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: self.backends,
            flags: self.flags,
            backend_options: self.backend_options.clone(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapter = match &self.adapter_name {
            Some(name) => self.named(&instance, name).await?,
            None => {
                let options = wgpu::RequestAdapterOptions {
                    power_preference: self.power_preference,
                    ..Default::default()
                };
                instance
                    .request_adapter(&options)
                    .await
                    .map_err(no_adapter)?
            }
        };
        // wgpu asks for a software adapter last.
        if self.may_take(&adapter) {
            return Ok(adapter);
        }
        let name = adapter.get_info().name;
        Err(GpuError::NoAdapter(format!(
            "only the software adapter {name}, which is slower than the CPU path"
        )))
    }

    fn may_take(&self, adapter: &wgpu::Adapter) -> bool {
        self.software || adapter.get_info().device_type != wgpu::DeviceType::Cpu
    }

    /// The first adapter whose name contains `name`. wgpu's own choice by name panics if there is no adapter of the
    /// name.
    async fn named(
        &self,
        instance: &wgpu::Instance,
        name: &str,
    ) -> Result<wgpu::Adapter, GpuError> {
        let adapters = instance.enumerate_adapters(self.backends).await;
        let names: Vec<_> = (adapters.iter())
            .map(|adapter| adapter.get_info().name)
            .collect();
        let wanted = name.to_lowercase();
        let mut of_the_name = (adapters.into_iter().zip(&names))
            .filter(|(_, name)| name.to_lowercase().contains(&wanted))
            .map(|(adapter, _)| adapter)
            .peekable();
        let first = of_the_name.peek().cloned();
        let found = of_the_name.find(|adapter| self.may_take(adapter));
        found.or(first).ok_or_else(|| {
            let names = names.join(", ");
            GpuError::NoAdapter(format!("none has {name:?} in its name, found {names}"))
        })
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

fn no_adapter(error: wgpu::RequestAdapterError) -> GpuError {
    let text = error.to_string();
    let reasons = text.strip_prefix("No suitable graphics adapter found; ");
    GpuError::NoAdapter(reasons.unwrap_or(&text).to_owned())
}
