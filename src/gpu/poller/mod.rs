//! Polls of a device, and the mappings that wait for them.

#[cfg(not(target_arch = "wasm32"))]
mod thread;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
#[cfg(target_arch = "wasm32")]
use std::sync::Weak;
use std::sync::{Mutex, PoisonError};

use futures_intrusive::channel::shared::OneshotSender;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use self::thread::Poller;
use crate::error::GpuError;

/// The result of a mapping.
pub(crate) type Mapped = Result<(), GpuError>;
/// The sender of a mapping that waits. The callback of wgpu owns it.
pub(crate) type Sender = Mutex<Option<OneshotSender<Mapped>>>;

pub(crate) fn send(sender: &Sender, result: Mapped) {
    let mut sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
    let taken = sender.take();
    // A waker may run a gather at once, whose callbacks lock too.
    drop(sender);
    if let Some(sender) = taken {
        // The receiver may be dropped; then the result is not needed.
        let _ = sender.send(result);
    }
}

/// A browser polls by itself.
#[cfg(target_arch = "wasm32")]
#[derive(Debug, Default)]
pub(crate) struct Poller {}

#[cfg(target_arch = "wasm32")]
impl Poller {
    pub(crate) fn watch(&self, _: &wgpu::Device, _: &Weak<Sender>) -> bool {
        true
    }
}

/// A failed poll.
pub(crate) enum Failure {
    Lost(GpuError),
    /// The panic of an app's own callback.
    Panic(Box<dyn std::any::Any + Send>),
}

impl Failure {
    /// The error; an app's panic goes on.
    pub(crate) fn resume(self) -> GpuError {
        match self {
            Self::Lost(error) => error,
            Self::Panic(panic) => resume_unwind(panic),
        }
    }
}

/// Polls the device. If the driver has lost the device, wgpu panics, without holding a lock; the function returns an
/// error instead.
pub(crate) fn poll_device(device: &wgpu::Device, poll: wgpu::PollType) -> Result<(), Failure> {
    let lost = |text: String| Failure::Lost(GpuError::ReadBack(text));
    match catch_unwind(AssertUnwindSafe(|| device.poll(poll))) {
        Ok(Ok(_) | Err(wgpu::PollError::Timeout)) => Ok(()),
        Ok(Err(error)) => Err(lost(error.to_string())),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) if text.starts_with("Error in Device::poll") => Err(lost(*text)),
            Ok(text) => Err(Failure::Panic(text)),
            Err(panic) => Err(Failure::Panic(panic)),
        },
    }
}
