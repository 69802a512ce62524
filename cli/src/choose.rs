//! The adapters that wgpu's environment variables leave, and the one that a name or the environment chooses. The test kit
//! includes this file too.

use wgpu_gather::{Executor, GpuError, wgpu};

/// Opens the adapter that wgpu's environment variables choose: the first whose name contains `name` or
/// `WGPU_ADAPTER_NAME`, in upper or lower case, else the fastest. wgpu's own choice by name panics if no adapter has it.
pub async fn open(name: Option<&str>) -> Result<Executor, GpuError> {
    let name = name.map(str::to_owned);
    let adapter = match name.or_else(|| variable("WGPU_ADAPTER_NAME")) {
        Some(name) => adapters(Some(&name)).await?.swap_remove(0),
        None => fastest().await?,
    };
    Executor::from_adapter(&adapter).await
}

/// The adapters whose name contains `name`, in upper or lower case, or all adapters without a `name`. An error if no name
/// matches.
pub async fn adapters(name: Option<&str>) -> Result<Vec<wgpu::Adapter>, GpuError> {
    let mut adapters = instance()?.enumerate_adapters(wgpu::Backends::all()).await;
    let Some(name) = name else {
        return Ok(adapters);
    };
    let names: Vec<String> = (adapters.iter())
        .map(|adapter| adapter.get_info().name)
        .collect();
    let wanted = name.to_lowercase();
    adapters.retain(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted));
    if adapters.is_empty() {
        let found = match names.is_empty() {
            true => "none".to_owned(),
            false => names.join(", "),
        };
        return Err(GpuError::NoAdapter(format!(
            "none has {name:?} in its name, found {found}"
        )));
    }
    Ok(adapters)
}

async fn fastest() -> Result<wgpu::Adapter, GpuError> {
    let power = wgpu::PowerPreference::from_env();
    let options = wgpu::RequestAdapterOptions {
        power_preference: power.unwrap_or(wgpu::PowerPreference::HighPerformance),
        ..Default::default()
    };
    let adapter = instance()?.request_adapter(&options).await;
    adapter.map_err(|error| {
        let text = error.to_string();
        let reasons = text.strip_prefix("No suitable graphics adapter found; ");
        GpuError::NoAdapter(reasons.unwrap_or(&text).to_owned())
    })
}

/// The text of an environment variable, with replacements for what is no UTF-8.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned())
}

/// wgpu panics if no back end is built in, and passes over a name in `WGPU_BACKEND` that it does not know.
fn instance() -> Result<wgpu::Instance, GpuError> {
    let backends = variable("WGPU_BACKEND").unwrap_or_default();
    let mut names = backends
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    if let Some(name) = names.find(|name| wgpu::Backends::from_comma_list(name).is_empty()) {
        return Err(GpuError::NoAdapter(format!(
            "WGPU_BACKEND must be some of vulkan, metal, dx12 and gl, found {name:?}"
        )));
    }
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Err(GpuError::NoAdapter("no back end of wgpu is enabled".into()));
    }
    Ok(wgpu::Instance::new(descriptor()))
}

/// An instance of the back ends that the environment leaves. Objects have no names in the driver, and validation layers
/// are not loaded, unless the environment asks for them: Vulkan's loader crashes where one thread names an object while
/// another makes an instance (gfx-rs/wgpu#5270), and in debug builds wgpu names all objects by default.
pub fn descriptor() -> wgpu::InstanceDescriptor {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.flags = wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL.with_env();
    descriptor
}
