//! Error scopes: an error that only wgpu can find becomes an error of the call that caused it.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::error::{GatherError, GpuError};

/// Runs `make`. Returns what it made, or the error that wgpu raised in it.
///
/// The scopes belong to this thread and end before the function returns. So the device's own handlers do not see the
/// error, and errors of other code are not caught. A browser reports an error only later: to the [`scoped_start`]
/// around the call, or else to the device's handler.
pub(crate) fn scoped<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> Result<T, GatherError> {
    if cfg!(target_arch = "wasm32") {
        return Ok(make());
    }
    match in_scopes(device, make) {
        (made, None) => Ok(made),
        (_, Some(error)) => Err(gather_error(device, error)),
    }
}

/// The result of `make`, and the error that wgpu raised in it.
fn in_scopes<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> (T, Option<wgpu::Error>) {
    let scopes = FILTERS.map(|filter| device.push_error_scope(filter));
    let made = make();
    // Every scope is popped, the innermost first, even after a scope that has caught an error.
    let errors = scopes.into_iter().rev().map(|scope| ready(scope.pop()));
    (
        made,
        errors.fold(None, |first, error| first.or(error.flatten())),
    )
}

/// True if the device is lost. In a browser the loss shows only later.
pub(super) fn is_lost(device: &wgpu::Device) -> bool {
    if cfg!(target_arch = "wasm32") {
        return false;
    }
    let (is_mapped, error) = in_scopes(device, || maps_buffers(device));
    !is_mapped && error.is_none()
}

/// False on a lost device: wgpu makes buffers there without an error, but maps none. Called in a scope. In a browser
/// it is always true.
pub(crate) fn maps_buffers(device: &wgpu::Device) -> bool {
    if cfg!(target_arch = "wasm32") {
        return true;
    }
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("wgpu-gather/probe"),
        size: wgpu::COPY_BUFFER_ALIGNMENT,
        usage: wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: true,
    });
    buffer.get_mapped_range(..).is_ok()
}

/// Runs `start`, the start of a future, whose [`scoped`] calls return wgpu's errors. In a browser the future waits here
/// for the errors of all these calls.
#[cfg(not(target_arch = "wasm32"))]
pub(super) async fn scoped_start<T>(
    _: &wgpu::Device,
    start: impl FnOnce() -> Result<T, GpuError>,
) -> Result<T, GpuError> {
    start()
}

/// Runs `start`, and waits for the errors that wgpu raised in it.
#[cfg(target_arch = "wasm32")]
pub(super) async fn scoped_start<T>(
    device: &wgpu::Device,
    start: impl FnOnce() -> Result<T, GpuError>,
) -> Result<T, GpuError> {
    let scopes = FILTERS.map(|filter| device.push_error_scope(filter));
    let started = start();
    let errors: Vec<_> = scopes.into_iter().rev().map(|scope| scope.pop()).collect();
    let mut first = None;
    for error in errors {
        first = first.or(error.await);
    }
    match first {
        None => started,
        Some(error) => Err(gather_error(device, error).into()),
    }
}

const FILTERS: [wgpu::ErrorFilter; 3] = [
    wgpu::ErrorFilter::Validation,
    wgpu::ErrorFilter::Internal,
    wgpu::ErrorFilter::OutOfMemory,
];

fn gather_error(device: &wgpu::Device, error: wgpu::Error) -> GatherError {
    match error {
        wgpu::Error::OutOfMemory { source } => GatherError::OutOfMemory(source.to_string()),
        // The error would name an object that is not valid, because it was made on a lost device.
        _ if is_lost(device) => GatherError::DeviceLost,
        error => GatherError::Rejected(error.to_string()),
    }
}

fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose buffers may be larger than any memory.
    fn device() -> wgpu::Device {
        let limits = wgpu::Limits {
            max_buffer_size: 1 << 52,
            ..Default::default()
        };
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::NOOP;
        descriptor.flags = wgpu::InstanceFlags::empty();
        descriptor.backend_options.noop.enable = true;
        descriptor.backend_options.noop.limits = Some(limits.clone());
        let instance = wgpu::Instance::new(descriptor);
        let adapter = ready(instance.request_adapter(&wgpu::RequestAdapterOptions::default()));
        let adapter = adapter.and_then(Result::ok).expect("noop is everywhere");
        let device = ready(adapter.request_device(&wgpu::DeviceDescriptor {
            required_limits: limits,
            ..Default::default()
        }));
        device.and_then(Result::ok).expect("noop has a device").0
    }

    #[test]
    fn an_error_comes_back_from_the_call_that_caused_it() {
        let device = device();
        let make = |size, usage| {
            scoped(&device, || {
                device.create_buffer(&wgpu::BufferDescriptor {
                    label: None,
                    size,
                    usage,
                    mapped_at_creation: false,
                })
            })
        };
        let storage = wgpu::BufferUsages::STORAGE;
        assert!(make(4, storage).is_ok());
        let made = make(1 << 51, storage);
        assert!(matches!(made, Err(GatherError::OutOfMemory(_))), "{made:?}");
        let made = make(4, storage | wgpu::BufferUsages::MAP_READ);
        assert!(matches!(made, Err(GatherError::Rejected(_))), "{made:?}");
    }
}
