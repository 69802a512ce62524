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
    let mut errors = scopes
        .into_iter()
        .rev()
        .map(|scope| ready(scope.pop()).flatten());
    let error = errors.by_ref().fold(None, |first, error| first.or(error));
    match error {
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
