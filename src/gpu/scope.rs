//! Error scopes: what wgpu alone can find out, as an error of the call that caused it.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::error::GatherError;

/// Runs `make`, and gives the error that wgpu raised in it instead of what it made.
///
/// The scopes belong to this thread and end before this returns, so the device's own handlers see none of
/// it, and nothing of what others do is caught. In a browser an error is known only later, so there it
/// goes to the device's handler.
pub(crate) fn scoped<T>(device: &wgpu::Device, make: impl FnOnce() -> T) -> Result<T, GatherError> {
    if cfg!(target_arch = "wasm32") {
        return Ok(make());
    }
    let filters = [
        wgpu::ErrorFilter::Validation,
        wgpu::ErrorFilter::Internal,
        wgpu::ErrorFilter::OutOfMemory,
    ];
    let scopes = filters.map(|filter| device.push_error_scope(filter));
    let made = make();
    // Each scope is popped, the innermost first, also when an earlier one has caught something.
    let errors = scopes.into_iter().rev().map(|scope| ready(scope.pop()));
    match errors.fold(None, |first, error| first.or(error.flatten())) {
        None => Ok(made),
        Some(wgpu::Error::OutOfMemory { source }) => {
            Err(GatherError::OutOfMemory(source.to_string()))
        }
        Some(error) => Err(GatherError::Rejected(error.to_string())),
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

    /// A device that claims larger buffers than any memory holds.
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
